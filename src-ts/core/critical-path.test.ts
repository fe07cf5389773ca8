import { describe, expect, test } from 'vitest';
import { criticalPathOf, KINDS, secondsLeft, sumPath } from './critical-path';
import { NOTHING } from './schema';
import { Selection } from './selection';
import { Tasks } from './tasks';
import { recordingOf } from './test-recording';

/** Client, then `read` on worker a, then `sum` on worker b, which waits for its data. */
function tasksOf(): Tasks {
  return new Tasks(
    recordingOf({
      graph: [
        { task: 1, key: 'read-1', prefix: 'read' },
        { task: 2, key: 'sum-2', prefix: 'sum' }
      ],
      attempts: [
        { run: 10, task: 1, worker: 'a', thread: '1', status: 'ok', start: 2, stop: 5, done: 5 },
        { run: 20, task: 2, worker: 'b', thread: '1', status: 'ok', start: 7, stop: 9, done: 9 }
      ],
      critical: [
        { start: 0, stop: 1, kind: 'client', because: 'submission', task: NOTHING, run: NOTHING },
        {
          start: 1,
          stop: 2,
          kind: 'scheduler',
          because: 'input',
          task: 1,
          run: 10,
          worker: 'a',
          thread: '1'
        },
        { start: 2, stop: 5, kind: 'compute', because: 'input', task: 1, run: 10, worker: 'a', thread: '1' },
        { start: 5, stop: 7, kind: 'transfer', because: 'end', task: 2, run: 20, worker: 'b', thread: '1' },
        { start: 7, stop: 9, kind: 'compute', because: 'end', task: 2, run: 20, worker: 'b', thread: '1' }
      ]
    })
  );
}

const none = new Selection().filter();

test('each of several clusters has its path, shown is the first until another is chosen', () => {
  const tile = { kind: 'compute', because: 'end', task: 1, run: 10, thread: '1' };
  const tasks = new Tasks(
    recordingOf({
      critical: [
        { ...tile, start: 2, stop: 5, worker: 'b', cluster: 'two' },
        { ...tile, start: 5, stop: 9, worker: 'b', cluster: 'two' },
        { ...tile, start: 1, stop: 4, worker: 'a', cluster: 'one' }
      ]
    })
  );
  const path = criticalPathOf(tasks);
  expect(path.clusters).toEqual(['two', 'one']);
  expect([path.cluster, path.begin, path.seconds]).toEqual(['two', 2, 7]);
  path.choose('one');
  expect(criticalPathOf(tasks)).toBe(path);
  expect([path.cluster, path.begin, path.seconds]).toEqual(['one', 1, 3]);
  expect(path.threads).toEqual([{ worker: 'a', thread: '1' }]);
});

describe('CriticalPath', () => {
  test('tiles of one attempt are a step', () => {
    const path = criticalPathOf(tasksOf());
    expect([path.count, path.steps, path.begin, path.seconds]).toEqual([5, 3, 0, 9]);
    expect([...path.first]).toEqual([0, 1, 3, 5]);
    expect([0, 1, 2, 3, 4].map(tile => path.stepOf(tile))).toEqual([0, 1, 1, 2, 2]);
    expect(Array.from(path.place, place => path.threads[place].worker)).toEqual(['', 'a', 'b']);
  });

  test('tasks of whose attempts nobody tells are steps of their own', () => {
    const tile = { kind: 'compute', because: 'end', run: NOTHING, worker: 'a', thread: '1' };
    const critical = [
      { ...tile, task: 1, start: 0, stop: 1 },
      { ...tile, task: 2, start: 1, stop: 2 }
    ];
    expect(criticalPathOf(new Tasks(recordingOf({ critical }))).steps).toBe(2);
  });

  test('a moment finds its tile', () => {
    const path = criticalPathOf(tasksOf());
    expect([-1, 0, 0.5, 1, 4.9, 8.9, 9].map(time => path.firstAfter(time))).toEqual([0, 0, 0, 1, 2, 4, 5]);
  });

  test('sums by name and kind have the length of the run', () => {
    const tasks = tasksOf();
    const path = criticalPathOf(tasks);
    const sums = sumPath(path, secondsLeft(path, tasks, none));
    expect(sums.map(({ name, seconds, steps }) => [tasks.names[name], seconds, steps])).toEqual([
      ['read', 4, 1],
      ['sum', 4, 1],
      ['', 1, 1]
    ]);
    expect(sums.reduce((sum, { seconds }) => sum + seconds, 0)).toBe(path.seconds);
    expect(sums[1].kinds[KINDS.indexOf('transfer')]).toBe(2);
  });

  test('a filter clips time and leaves out other names, workers and attempts', () => {
    const tasks = tasksOf();
    const path = criticalPathOf(tasks);
    const left = (change: Partial<typeof none>): number[] => [
      ...secondsLeft(path, tasks, { ...none, ...change })
    ];
    expect(left({ time: { start: 4, stop: 8 } })).toEqual([0, 0, 1, 2, 1]);
    expect(left({ names: new Set(['sum']) })).toEqual([0, 0, 0, 2, 2]);
    expect(left({ workers: new Set(['a']) })).toEqual([0, 1, 3, 0, 0]);
    expect(left({ runs: new Set([20]) })).toEqual([0, 0, 0, 2, 2]);
  });

  test('rows that stand out of order are brought into it', () => {
    const tasks = tasksOf();
    const shuffled = new Tasks(
      recordingOf({
        critical: [
          { start: 5, stop: 9, kind: 'compute', because: 'end', task: 1, run: 1 },
          { start: 0, stop: 5, kind: 'client', because: 'input', task: 1, run: 1 }
        ]
      })
    );
    expect([...criticalPathOf(shuffled).start]).toEqual([0, 5]);
    expect(criticalPathOf(tasks)).toBe(criticalPathOf(tasks));
  });

  test('without rows there is no path', () => {
    const path = criticalPathOf(new Tasks(recordingOf({})));
    expect([path.count, path.steps, path.seconds, path.firstAfter(0)]).toEqual([0, 0, 0, 0]);
  });
});
