import { expect, it } from 'vitest';
import { flowsOf } from './flows';
import { Selection } from './selection';
import { Tasks } from './tasks';
import { recordingOf } from './test-recording';

const transfer = (
  id: number,
  worker: string,
  peer: string,
  direction: string,
  start: number,
  stop: number,
  nbytes: number
) => ({ transfer: id, worker, peer, direction, start, stop, nbytes });

const tasks = new Tasks(
  recordingOf({
    graph: [
      { task: 1, prefix: 'load', span: 'one' },
      { task: 2, prefix: 'sum', span: 'two' }
    ],
    attempts: [
      { run: 1, task: 1, worker: 'a', thread: '1', start: 0, stop: 1, status: 'ok', typename: 'DataFrame' },
      { run: 2, task: 2, worker: 'a', thread: '1', start: 1, stop: 2, status: 'ok', typename: 'int' }
    ],
    transfers: [
      // Both sides tell of the same one.
      transfer(1, 'a', 'b', 'out', 2, 4, 400),
      transfer(2, 'b', 'a', 'in', 2, 4, 400),
      transfer(3, 'b', 'a', 'in', 6, 7, 100),
      // To a worker that is gone without having told, and to a client.
      transfer(4, 'a', 'c', 'out', 3, 4, 50),
      transfer(5, 'b', '', 'out', 8, 9, 1000)
    ],
    transferred: [
      { transfer: 1, task: 1, nbytes: 300 },
      { transfer: 1, task: 2, nbytes: 100 },
      { transfer: 2, task: 1, nbytes: 300 },
      { transfer: 2, task: 2, nbytes: 100 },
      { transfer: 3, task: 2, nbytes: 100 },
      { transfer: 5, task: 1, nbytes: 1000 }
    ]
  })
);

it('counts what two sides tell once, and what only the sender tells', () => {
  const { pairs } = flowsOf(tasks, new Selection().filter());
  expect(pairs).toEqual([
    { from: 'b', to: '', transfers: 1, nbytes: 1000, seconds: 1 },
    { from: 'a', to: 'b', transfers: 2, nbytes: 500, seconds: 3 },
    { from: 'a', to: 'c', transfers: 1, nbytes: 50, seconds: 1 }
  ]);
});

it('tells by task name what was carried, with its part of the time', () => {
  const { carried } = flowsOf(tasks, new Selection().filter());
  expect(carried).toEqual([
    { name: 'load', types: ['DataFrame'], results: 2, nbytes: 1300, seconds: 2.5 },
    { name: 'sum', types: ['int'], results: 2, nbytes: 200, seconds: 1.5 }
  ]);
});

it('follows names, spans, workers and time', () => {
  const selection = new Selection();
  selection.set({ source: 'x', column: 'name', value: ['sum'] });
  expect(flowsOf(tasks, selection.filter()).pairs).toEqual([
    // A quarter of the first, all of the second.
    { from: 'a', to: 'b', transfers: 2, nbytes: 200, seconds: 1.5 }
  ]);
  selection.clear();
  selection.set({ source: 'x', column: 'span', value: ['two'] });
  expect(flowsOf(tasks, selection.filter()).pairs).toMatchObject([{ from: 'a', to: 'b', nbytes: 200 }]);
  selection.clear();
  selection.set({ source: 'x', column: 'worker', value: ['c'] });
  expect(flowsOf(tasks, selection.filter()).pairs).toMatchObject([{ from: 'a', to: 'c' }]);
  selection.clear();
  selection.set({ source: 'x', column: 'time', value: { start: 5, stop: 7.5 } });
  expect(flowsOf(tasks, selection.filter()).pairs).toMatchObject([{ from: 'a', to: 'b', nbytes: 100 }]);
});
