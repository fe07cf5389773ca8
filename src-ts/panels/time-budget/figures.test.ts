import { expect, test } from 'vitest';
import { recordingOf } from '../../core/test-recording';
import { Surface } from '../../draw/surface';
import { createStage } from '../stage';
import { BudgetFigures } from './figures';

test('over time there are never more threads than there were, though bins of functions and of the rest differ', () => {
  const piece = { worker: 'a', thread: '', name: 'inc' };
  const recording = recordingOf({
    workers: [{ worker: 'a', threads: 2, joined: 0 }],
    graph: [{ task: 1, key: 'inc-1', prefix: 'inc' }],
    attempts: [{ run: 1, task: 1, worker: 'a', thread: '1', status: 'ok', start: 3, stop: 4, done: 4 }],
    budget: [
      { ...piece, part: 'compute', start: 0, stop: 4, threads: 0.25 },
      { ...piece, part: 'scheduler', start: 0, stop: 2, threads: 2 },
      { ...piece, part: 'overhead', start: 2, stop: 4, threads: 0.5 },
      { ...piece, part: 'scheduler', start: 2, stop: 4, threads: 1 }
    ]
  });
  const figures = new BudgetFigures({ ...createStage(recording), surface: new Surface(), say: () => {} });
  figures.read();
  const over = figures.overTime(0, 4, 4);
  const threads = Object.fromEntries(
    figures.told?.layers.list.map(({ part }, at) => [part, [...over[at]]]) ?? []
  );
  expect(threads.compute).toEqual([0, 0, 0, 1]);
  expect(threads.scheduler).toEqual([2, 2, 1, expect.closeTo(2 / 3)]);
  expect(threads.overhead).toEqual([0, 0, 0.5, expect.closeTo(1 / 3)]);
});

test('beside other workers, processes of a local scheduler are told apart', () => {
  const times = { start: 3, stop: 4, done: 4 };
  const waited = { thread: '', name: '', start: 0, stop: 3, threads: 1 };
  const parts = { 'process 12': 'processes', 'tcp://10.0.0.1:40001': 'data' };
  const workers = Object.keys(parts);
  const recording = recordingOf({
    attempts: workers.map((worker, run) => ({ run, task: run, worker, thread: '1', status: 'ok', ...times })),
    budget: Object.entries(parts).map(([worker, part]) => ({ worker, part, ...waited }))
  });
  const figures = new BudgetFigures({ ...createStage(recording), surface: new Surface(), say: () => {} });
  figures.read();
  expect(
    figures.parts.filter(({ seconds }) => seconds > 0).map(({ words, seconds }) => [words, seconds])
  ).toEqual([
    ['waiting for data from other workers', 3],
    ['starting processes and moving data between them', 3]
  ]);
});
