import { expect, test } from 'vitest';
import type { FlameTree } from '../../core/flame-tree';
import type { Recording } from '../../core/recording';
import { NOTHING } from '../../core/schema';
import { recordingOf } from '../../core/test-recording';
import { Surface } from '../../draw/surface';
import { createStage } from '../stage';
import { FlameData } from './data';

const sampled = (started: number, name: string): Recording =>
  recordingOf({
    about: [{ name: 'started', value: String(started) }],
    stacks: [{ stack: 0, parent: NOTHING, function: name, file: 'm.py', line: 1, first_line: 1 }],
    samples: [{ process: 'w', thread: 't', time: 1, duration: 1, stack: 0, run: NOTHING }]
  });

/** A call of each function by the one before. */
const stacked = (...names: string[]): Recording =>
  recordingOf({
    about: [{ name: 'started', value: '5' }],
    stacks: names.map((name, stack) => ({
      stack,
      parent: stack ? stack - 1 : NOTHING,
      function: name,
      file: 'm.py',
      line: 1,
      first_line: 1
    })),
    samples: [{ process: 'w', time: 1, duration: 1, stack: names.length - 1, run: NOTHING }]
  });

test('a function keeps its path when the history that came before it is dropped', () => {
  const stage = createStage(stacked('old', 'main', 'load'));
  const data = new FlameData({ ...stage, surface: new Surface(), say: () => {} });
  data.choose('all');
  const load = (): string => {
    data.read();
    const tree = data.tree as FlameTree;
    return String(tree.frame[tree.size - 1]);
  };
  const before = load();
  stage.recording.replace(stacked('main', 'load'));
  expect([load(), data.frames?.names[Number(before)]]).toEqual([before, 'load']);
});

test.each([
  ['the same session, what was in sight stays', 5, 'grown'],
  ['another session, all is shown', 6, 'anew']
])('of the recording that took the place of another the names are found; of %s', (_, started, change) => {
  const stage = createStage(sampled(5, 'old'));
  const data = new FlameData({ ...stage, surface: new Surface(), say: () => {} });
  data.choose('all');
  expect(data.read()).toBe('anew');
  stage.recording.replace(sampled(started, 'new'));
  expect(data.read()).toBe(change);
  data.find('new');
  expect(data.found?.share).toBe(1);
});

test('tasks are shown once there are samples of them, unless others were chosen', () => {
  const of = (process: string, run: number): Recording =>
    recordingOf({
      about: [{ name: 'started', value: '5' }],
      attempts: [{ run: 1, task: 0, worker: 'w', status: 'ok', start: 0, stop: 1 }],
      graph: [{ task: 0, key: 'a', prefix: 'a', group: 'a' }],
      stacks: [{ stack: 0, parent: NOTHING, function: 'f', file: 'm.py', line: 1, first_line: 1 }],
      samples: [
        { process: 'scheduler', thread: 't', time: 1, duration: 1, stack: 0, run: NOTHING },
        { process, thread: 't', time: 1, duration: 1, stack: 0, run }
      ]
    });
  const shown = (chosen?: 'scheduler'): string => {
    const stage = createStage(of('scheduler', NOTHING));
    const data = new FlameData({ ...stage, surface: new Surface(), say: () => {} });
    data.read();
    expect(data.threads).toBe('scheduler');
    if (chosen) data.choose(chosen);
    stage.recording.replace(of('w', 1));
    data.read();
    return data.threads;
  };
  expect([shown(), shown('scheduler')]).toEqual(['tasks', 'scheduler']);
});
