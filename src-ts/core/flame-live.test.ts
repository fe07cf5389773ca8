import { expect, it } from 'vitest';
import { callees, weigh } from './flame';
import { SampleIndex } from './flame-samples';
import { FlameWeights } from './flame-weights';
import { NOTHING } from './schema';
import { type Filter, Selection } from './selection';
import { Tasks } from './tasks';
import { batchOf, recordingOf } from './test-recording';

const ALL: Filter = new Selection().filter();

it('samples that come bit by bit weigh what they weigh at once', () => {
  const recording = recordingOf({});
  const tasks = new Tasks(recording);
  const index = new SampleIndex(recording, tasks);
  const weights = new FlameWeights();
  const selection = new Selection();
  selection.set({ source: 'x', column: 'name', value: ['inc'] });
  const ofInc = selection.filter();
  const named = new FlameWeights();
  for (let step = 0; step < 40; step++) {
    // The stack comes after the first sample that has it, the task's row after both.
    recording.take(
      batchOf('samples', [
        { process: 'w', thread: 't', time: step + 1, duration: 1, stack: step, run: step },
        { process: 'scheduler', thread: 't', time: step + 1, duration: 0.5, stack: 0, run: NOTHING }
      ])
    );
    index.update();
    weights.update(index, 'all', ALL, 'all');
    recording.take(
      batchOf('stacks', [
        {
          stack: step,
          parent: step === 0 ? NOTHING : step >> 1,
          function: `f${step % 5}`,
          file: 'm.py',
          line: step,
          first_line: 1
        }
      ])
    );
    const attempt = {
      run: step,
      task: step,
      worker: 'w',
      thread: 't',
      status: 'ok',
      start: step,
      stop: step + 1
    };
    recording.take(batchOf('attempts', [attempt]));
    recording.take(batchOf('graph', [{ task: step, key: `k-${step}`, prefix: step % 2 ? 'inc' : 'sum' }]));
    index.update();
    weights.update(index, 'all', ALL, 'all');
    named.update(index, 'tasks', ofInc, 'named');
    const fresh = new SampleIndex(recording, new Tasks(recording));
    expect(weights.values).toEqual(weigh(fresh.tree, fresh.samples, fresh.accept('all', ALL)));
    expect(named.values).toEqual(weigh(fresh.tree, fresh.samples, fresh.accept('tasks', ofInc)));
  }
  expect(callees(index.tree, weights.values).total[0]).toBeCloseTo(60);
  expect([index.has('scheduler'), index.has('client')]).toEqual([true, false]);
});

it('forgets all when the recording is replaced', () => {
  const sample = { process: 'w', time: 1, duration: 1, stack: 0, run: NOTHING };
  const stack = { stack: 0, parent: NOTHING, function: 'f', file: 'm.py' };
  const recording = recordingOf({ samples: [sample, sample], stacks: [stack] });
  const index = new SampleIndex(recording, new Tasks(recording));
  const weights = new FlameWeights();
  weights.update(index, 'all', ALL, 'all');
  expect([...weights.values]).toEqual([2]);
  recording.replace(recordingOf({ samples: [sample], stacks: [stack] }));
  index.update();
  expect(weights.update(index, 'all', ALL, 'all')).toBe(true);
  expect([...weights.values]).toEqual([1]);
});
