import { expect, test } from 'vitest';
import { Tasks } from './tasks';
import { recordingOf } from './test-recording';
import { clustersOf, presence, untoldThreads, workersOf } from './workers-of';

const ran = (run: number, worker: string, thread: string) => ({
  ...{ run, task: run, worker, thread },
  ...{ start: 1, stop: 2, done: 2, status: 'ok' }
});

const recording = recordingOf({
  workers: [
    { worker: 'a', threads: 1, joined: 2, cluster: 'two' },
    { worker: 'b', threads: 4, cluster: 'one' },
    { worker: 'a', threads: 2, joined: 2, left: 8, cluster: 'two' },
    { worker: 'local', threads: 1 }
  ],
  attempts: [ran(1, 'a', '1'), ran(2, 'c', '1'), ran(3, 'c', '2'), ran(4, 'd', '1'), ran(5, 'd', '')]
});

test('of each worker the newest row counts, and what is not known of it is missing', () => {
  const workers = [...workersOf(recording).values()];
  expect(workers.map(({ worker, threads }) => [worker, threads])).toEqual([
    ['a', 2],
    ['b', 4],
    ['local', 1]
  ]);
  expect(workers.map(({ joined, left }) => [joined, left]).slice(0, 2)).toEqual([
    [2, 8],
    [Number.NaN, Number.NaN]
  ]);
  expect(clustersOf(recording)).toEqual(['two', 'one']);
});

test('a worker was there from when it joined until it left, as far as that is known', () => {
  const time = { start: 5, stop: 10 };
  const [a, b] = [...workersOf(recording).values()];
  expect([a, b, { joined: 11, left: 12 }].map(each => presence(each, time))).toEqual([3, 5, 0]);
});

test('threads that ran tasks count where nobody tells of their workers', () => {
  const tasks = new Tasks(recording);
  expect(untoldThreads(tasks)).toBe(3);
  expect(untoldThreads(tasks, new Set(['a', 'd']))).toBe(1);
});
