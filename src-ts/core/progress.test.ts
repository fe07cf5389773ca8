import { describe, expect, it } from 'vitest';
import { leftOf, progressOf, together } from './progress';
import { Selection } from './selection';
import { Tasks } from './tasks';
import { recordingOf } from './test-recording';
import { threadsNow } from './threads-now';

const NOTHING = 0xffffffff;

const attempt = (run: number, task: number, start: number, stop: number, status = 'ok') => ({
  run,
  task,
  worker: 'a',
  thread: '1',
  start,
  stop,
  done: stop,
  status
});

const recording = recordingOf({
  submissions: [
    { submission: 0, time: 0 },
    { submission: 1, time: 5 }
  ],
  graph: [
    { task: 4, prefix: 'sum', submission: 1, order: 0 },
    { task: 1, prefix: 'load', submission: 0, order: 0 },
    { task: 2, prefix: 'load', submission: 0, order: 1 },
    { task: 3, prefix: 'load', submission: 0, order: 2 },
    { task: 5, prefix: 'sum', submission: 1, order: 1 },
    { task: 6, prefix: 'sum', submission: 1, order: 2 },
    // Data that the client brought: it never runs.
    { task: 7, prefix: 'data', submission: NOTHING, order: NOTHING }
  ],
  attempts: [
    // A worker was lost with the first attempt; the second one has the result.
    attempt(1, 1, 0, 1, 'killed'),
    attempt(2, 1, 2, 4),
    attempt(3, 2, 1, 3, 'retried'),
    attempt(4, 4, 5, 6, 'erred'),
    attempt(5, 5, Number.NaN, Number.NaN, 'cancelled')
  ],
  running: [
    { run: 6, task: 2, worker: 'a', thread: '1', start: 5 },
    // It has ended: what it became stands in `attempts`.
    { run: 2, task: 1, worker: 'a', thread: '1', start: 2 }
  ]
});
const tasks = new Tasks(recording);

describe('progress of tasks', () => {
  it('takes the furthest of several attempts, first what runs first, and leaves out data that a client brought', () => {
    const [load, sum, ...others] = progressOf(tasks, new Selection().filter());
    expect(others).toEqual([]);
    expect(load).toEqual({
      name: 'load',
      total: 3,
      done: 1,
      running: 1,
      failed: 0,
      givenUp: 0,
      waiting: 1,
      mean: 2
    });
    expect(sum).toMatchObject({ total: 3, done: 0, failed: 1, givenUp: 1, waiting: 1 });
    expect(together([load, sum])).toMatchObject({ total: 6, done: 1, failed: 1 });
  });

  it('tells how it stood at the end of the chosen time', () => {
    const selection = new Selection();
    selection.set({ source: 'x', column: 'time', value: { start: 0, stop: 3.5 } });
    const found = progressOf(tasks, selection.filter());
    // The second submission had not come; one task of the first had failed, and ran again.
    expect(found).toMatchObject([{ name: 'load', total: 3, done: 0, running: 1, waiting: 2 }]);
  });

  it('is narrowed by names, and not by workers', () => {
    const selection = new Selection();
    selection.set({ source: 'x', column: 'name', value: ['sum'] });
    selection.set({ source: 'x', column: 'worker', value: ['b'] });
    expect(progressOf(tasks, selection.filter()).map(({ name, total }) => [name, total])).toEqual([
      ['sum', 3]
    ]);
  });

  it('adds up what is left by the mean of each name, and leaves out names without one', () => {
    // Of `load`, one waits and one is halfway: 1.5 times 2 s. Of `sum` nobody knows.
    expect(leftOf(progressOf(tasks, new Selection().filter()))).toBe(3);
  });
});

it.each([
  ['its worker was lost as the last that Dask tried', [{ run: 2, task: 1 }], { failed: 1, waiting: 0 }],
  ['it will be made again', [], { failed: 0, waiting: 1 }]
])(
  'a task whose attempts were all killed has failed where an error is told of it: %s',
  (_, errors, stands) => {
    const lost = recordingOf({
      graph: [{ task: 1, prefix: 'load', submission: 0, order: 0 }],
      attempts: [attempt(1, 1, 0, 1, 'killed'), attempt(2, 1, 2, 3, 'killed')],
      errors
    });
    expect(progressOf(new Tasks(lost), new Selection().filter())).toMatchObject([stands]);
  }
);

it('without the ranks of tasks, which reports leave out, names come as they began', () => {
  const report = recordingOf({
    graph: [
      { task: 1, prefix: 'sum', submission: 0 },
      { task: 2, prefix: 'load', submission: 0 },
      { task: 3, prefix: 'data', submission: NOTHING }
    ],
    attempts: [attempt(1, 1, 3, 4), attempt(2, 2, 1, 2)]
  });
  const found = progressOf(new Tasks(report), new Selection().filter());
  expect(found.map(({ name }) => name)).toEqual(['load', 'sum']);
});

it('of a cluster dump, the states of the scheduler count, whatever its logs still tell', () => {
  const dump = recordingOf({
    graph: [
      { task: 1, prefix: 'a', order: 0, state: 'memory' },
      { task: 2, prefix: 'a', order: 1, state: 'processing' },
      { task: 3, prefix: 'a', order: 2, state: 'erred' },
      { task: 4, prefix: 'a', order: 3, state: 'queued' }
    ],
    attempts: [attempt(1, 2, 3, 4, 'killed')]
  });
  const [found] = progressOf(new Tasks(dump), new Selection().filter());
  expect(found).toMatchObject({ total: 4, done: 1, running: 1, failed: 1, waiting: 1 });
  expect(found.mean).toBe(Number.NaN);
});

it('threads are those of the workers that are still there, and of local schedulers', () => {
  const known = recordingOf({
    workers: [
      { worker: 'a', threads: 2, left: Number.NaN },
      { worker: 'b', threads: 4, left: Number.NaN },
      { worker: 'b', threads: 4, left: 9 },
      { worker: 'a', threads: 3, left: Number.NaN }
    ],
    attempts: [attempt(1, 1, 0, 1), { ...attempt(2, 2, 0, 1), worker: 'threads', thread: '7' }]
  });
  expect(threadsNow(new Tasks(known))).toBe(4);
});

it('counts no time for which a task had given its thread back', () => {
  const [outer] = progressOf(
    new Tasks(
      recordingOf({
        graph: [{ task: 1, prefix: 'outer', submission: 0, order: 0 }],
        attempts: [attempt(1, 1, 0, 10)],
        phases: [{ run: 1, action: 'seceded', start: 0.05, stop: 9.95 }]
      })
    ),
    new Selection().filter()
  );
  expect(outer.mean).toBeCloseTo(0.1);
});

it('names keep the order in which Dask runs them, of whichever source', () => {
  const names = (submission: number): string[] => {
    const several = recordingOf({
      graph: [
        { task: 1, prefix: 'last', submission, order: 2 },
        { task: 2, prefix: 'middle', submission, order: 1 },
        { task: 3, prefix: 'first', submission, order: 0 }
      ],
      attempts: [attempt(1, 1, 0, 1), attempt(2, 2, 0, 1), attempt(3, 3, 0, 1)]
    });
    return progressOf(new Tasks(several), new Selection().filter()).map(({ name }) => name);
  };
  const order = ['first', 'middle', 'last'];
  expect([names(0), names(40 * 65_536), names(NOTHING)]).toEqual([order, order, order]);
});
