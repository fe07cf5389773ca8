import { describe, expect, it } from 'vitest';
import { flowsOf } from './flows';
import { type Filter, Selection } from './selection';
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

describe('of many transfers', () => {
  const NAMES = ['load', 'sum', 'write'];
  const WORKERS = ['a', 'b', 'c', 'd', ''];
  let state = 1;
  const random = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  const graph = Array.from({ length: 60 }, (_, task) => ({ task, prefix: NAMES[task % 3] }));
  const moved = Array.from({ length: 500 }, (_, at) => {
    const start = random(100);
    const [worker, peer] = [WORKERS[random(4)], WORKERS[random(5)]];
    // One in fifty took no time that is known.
    const stop = random(50) === 0 ? Number.NaN : start + random(9);
    return transfer(7000 + at, worker, peer, random(3) > 0 ? 'in' : 'out', start, stop, random(1000));
  });
  const carried = moved.flatMap(({ transfer }) =>
    Array.from({ length: random(4) }, () => ({ transfer, task: random(60), nbytes: random(3) * 100 }))
  );
  // What nobody tells of otherwise.
  carried.push({ transfer: 99_999, task: 1, nbytes: 5 });
  const many = new Tasks(recordingOf({ graph, transfers: moved, transferred: carried }));

  /** The same, transfer by transfer. */
  const summed = ({ names, workers, time }: Filter): Record<string, number[]> => {
    const told = new Set(
      moved.filter(each => each.direction === 'in').map(each => `${each.peer}>${each.worker}`)
    );
    const sums: Record<string, number[]> = {};
    const add = (label: string, ...values: number[]): void => {
      sums[label] = values.map((value, at) => (sums[label]?.[at] ?? 0) + value);
    };
    for (const { transfer, worker, peer, direction, start, stop, nbytes } of moved) {
      const [from, to] = direction === 'in' ? [peer, worker] : [worker, peer];
      if (direction === 'out' && told.has(`${from}>${to}`)) continue;
      if (time && !(stop >= time.start && start <= time.stop)) continue;
      if (workers && !workers.has(worker) && !workers.has(peer)) continue;
      const seconds = Number.isNaN(stop) ? 0 : stop - start;
      const results = carried.filter(each => each.transfer === transfer);
      const whole = results.reduce((sum, each) => sum + each.nbytes, 0);
      let chosen = names ? 0 : 1;
      for (const result of results) {
        const name = NAMES[result.task % 3];
        if (names && !names.has(name)) continue;
        const share = whole > 0 ? result.nbytes / whole : 0;
        if (names) chosen += share;
        add(name, 1, result.nbytes, share * seconds);
      }
      if (chosen > 0) add(`${from}>${to}`, 1, chosen * nbytes, chosen * seconds);
    }
    return sums;
  };

  it.each<[string, object]>([
    ['all', {}],
    ['a name', { names: new Set(['sum']) }],
    ['a worker', { workers: new Set(['c']) }],
    ['a time', { time: { start: 20, stop: 30 } }],
    ['each', { names: new Set(['sum', 'load']), workers: new Set(['a']), time: { start: 5, stop: 90 } }]
  ])('they are summed one by one: %s', (_, chosen) => {
    const filter = { ...new Selection().filter(), ...chosen };
    const { pairs, carried } = flowsOf(many, filter);
    const found = [
      ...pairs.map(each => [`${each.from}>${each.to}`, each.transfers, each.nbytes, each.seconds] as const),
      ...carried.map(each => [each.name, each.results, each.nbytes, each.seconds] as const)
    ];
    const wanted = summed(filter);
    expect(found.map(([label]) => label).sort()).toEqual(Object.keys(wanted).sort());
    for (const [label, ...values] of found)
      for (const [at, value] of values.entries()) expect(value).toBeCloseTo(wanted[label][at], 6);
  });
});
