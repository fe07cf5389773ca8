import { describe, expect, it } from 'vitest';
import { Selection } from './selection';
import { sumTasks } from './task-sums';
import { Tasks } from './tasks';
import { recordingOf } from './test-recording';

const attempt = (run: number, worker: string, start: number, stop: number, status = 'ok', nbytes = 10) => ({
  run,
  task: run,
  worker,
  thread: '1',
  start,
  stop,
  done: stop,
  status,
  nbytes
});

const recording = recordingOf({
  graph: [
    { task: 1, key: 'inc-1', prefix: 'inc', span: 's1' },
    { task: 2, key: 'inc-2', prefix: 'inc', span: 's2' },
    { task: 3, key: 'inc-3', prefix: 'inc', span: 's1' },
    { task: 4, key: 'sum-4', prefix: 'sum', span: 's1' }
  ],
  attempts: [
    attempt(1, 'a', 0, 1),
    attempt(2, 'b', 0, 2),
    attempt(3, 'a', 2, 6),
    attempt(4, 'b', 4, 5, 'erred', 99)
  ]
});
const tasks = new Tasks(recording);

describe('sums of tasks', () => {
  it('by name', () => {
    const [inc, sum] = sumTasks(tasks, new Selection().filter(), 'name');
    expect(inc).toMatchObject({
      label: 'inc',
      count: 3,
      time: 7,
      begin: 0,
      end: 6,
      median: 2,
      longest: 4,
      nbytes: 30,
      failed: 0
    });
    expect(inc.mean).toBeCloseTo(7 / 3);
    expect(sum).toMatchObject({ label: 'sum', count: 1, time: 1, nbytes: 0, failed: 1 });
  });

  it('by worker', () => {
    const sums = sumTasks(tasks, new Selection().filter(), 'worker');
    expect(sums.map(({ label, count, time }) => [label, count, time])).toEqual([
      ['a', 2, 5],
      ['b', 2, 3]
    ]);
  });

  it('by span', () => {
    const sums = sumTasks(tasks, new Selection().filter(), 'span');
    expect(sums.map(({ label, count, time }) => [label, count, time])).toEqual([
      ['s1', 3, 6],
      ['s2', 1, 2]
    ]);
  });

  it('know no whole duration of what runs still', () => {
    const some = recordingOf({
      graph: [
        { task: 1, key: 'inc-1', prefix: 'inc' },
        { task: 3, key: 'sum-3', prefix: 'sum' }
      ],
      attempts: [{ ...attempt(1, 'a', 0, 10), task: 1 }],
      running: [
        { run: 2, task: 1, worker: 'a', thread: '2', start: 9 },
        { run: 3, task: 3, worker: 'a', thread: '3', start: 9 }
      ]
    });
    const [inc, sum] = sumTasks(new Tasks(some), new Selection().filter(), 'name');
    expect(inc).toMatchObject({ count: 2, time: 11, mean: 10, median: 10, p95: 10, longest: 10 });
    const none = Number.NaN;
    expect(sum).toMatchObject({ count: 1, time: 1, mean: none, median: none, p95: none, longest: none });
  });

  it('leave out what was lost before anybody knew when it started, as `bottlenecks` does', () => {
    const { start: _, stop: __, ...unseen } = attempt(1, 'a', 0, 0, 'killed');
    const some = recordingOf({
      graph: [{ task: 1, key: 'inc-1', prefix: 'inc' }],
      attempts: [
        { ...unseen, assigned: 1, done: 9 },
        { ...attempt(2, 'a', 2, 3), task: 1 },
        { ...attempt(3, 'a', 4, 5, 'killed'), task: 1 }
      ]
    });
    const [inc] = sumTasks(new Tasks(some), new Selection().filter(), 'name');
    expect(inc).toMatchObject({ count: 2, time: 2, longest: 1, failed: 1 });
  });

  it('leave out when tasks had given their thread back, as `bottlenecks` does', () => {
    const some = recordingOf({
      graph: [
        { task: 1, key: 'fit-1', prefix: 'fit' },
        { task: 2, key: 'fit-2', prefix: 'fit' }
      ],
      attempts: [attempt(1, 'a', 0, 10), attempt(2, 'a', 10, 12)],
      running: [{ run: 3, task: 2, worker: 'b', thread: '1', start: 8 }],
      // Told in parts that grow.
      phases: [
        { run: 1, action: 'seceded', start: 1, stop: 4 },
        { run: 1, action: 'seceded', start: 4, stop: 8 },
        { run: 1, action: 'transfer', start: 0, stop: 1 },
        { run: 3, action: 'seceded', start: 9, stop: 12 }
      ],
      executions: [
        { run: 1, worker: 'a', cpu: 4 },
        { run: 2, worker: 'a', cpu: 1 }
      ]
    });
    const selection = new Selection();
    const sums = (by: 'name' | 'worker') => sumTasks(new Tasks(some), selection.filter(), by);
    // The CPU time of the first is more than it held a thread for.
    expect(sums('name')).toMatchObject([
      { count: 3, time: 3 + 2 + 1, mean: 2.5, median: 2.5, longest: 3, cpu: 5 / 6 }
    ]);
    expect(sums('worker').map(({ label, time }) => [label, time])).toEqual([
      ['a', 5],
      ['b', 1]
    ]);
    selection.set({ source: 'x', column: 'time', value: { start: 3, stop: 9 } });
    expect(sums('name')).toMatchObject([{ count: 2, time: 1 + 1, longest: 3 }]);
  });

  it('count only the time inside a range, and durations whole', () => {
    const selection = new Selection();
    selection.set({ source: 'x', column: 'time', value: { start: 1.5, stop: 3 } });
    const [inc] = sumTasks(tasks, selection.filter(), 'name');
    expect(inc).toMatchObject({ count: 2, time: 1.5, longest: 4 });
  });

  it('tell of no more than the part that was cut out of a run, and durations whole', () => {
    const part = recordingOf({
      about: [
        { name: 'since', value: '10' },
        { name: 'until', value: '20' }
      ],
      graph: [{ task: 1, key: 'fit-1', prefix: 'fit' }],
      attempts: [
        attempt(1, 'a', 0, 100),
        // It was wanted in that time, and ran later.
        { ...attempt(2, 'a', 30, 40), task: 1, submitted: 15 }
      ],
      phases: [
        { run: 1, action: 'seceded', start: 5, stop: 9 },
        { run: 1, action: 'seceded', start: 12, stop: 15 },
        { run: 1, action: 'seceded', start: 50, stop: 53 }
      ]
    });
    const selection = new Selection();
    const sums = () => sumTasks(new Tasks(part), selection.filter(), 'name');
    expect(sums()).toMatchObject([{ count: 1, time: 7, mean: 90, longest: 90, begin: 10, end: 20 }]);
    selection.set({ source: 'x', column: 'time', value: { start: 0, stop: 14 } });
    expect(sums()).toMatchObject([{ count: 1, time: 2, mean: 90, begin: 10, end: 14 }]);
  });

  it('follow names, workers, spans and runs', () => {
    const selection = new Selection();
    selection.set({ source: 'x', column: 'worker', value: ['a'] });
    expect(sumTasks(tasks, selection.filter(), 'name').map(({ count }) => count)).toEqual([2]);
    selection.set({ source: 'x', column: 'span', value: ['s2'] });
    expect(sumTasks(tasks, selection.filter(), 'name')).toEqual([]);
    selection.clear();
    selection.set({ source: 'x', column: 'run', value: [2, 4] });
    expect(sumTasks(tasks, selection.filter(), 'name').map(({ label, count }) => [label, count])).toEqual([
      ['inc', 1],
      ['sum', 1]
    ]);
  });
});
