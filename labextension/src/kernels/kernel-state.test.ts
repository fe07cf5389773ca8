import { expect, test } from 'vitest';
import { readState, totalOf } from './kernel-state';

const cluster = (address: string, memoryLimit: number | null) => ({
  client: `Client-${address}`,
  address,
  workers: 2,
  threads: 4,
  memory: 100,
  memory_limit: memoryLimit,
  tasks: { total: 10, done: 7, erred: 1 }
});

test('reads what a kernel says, and sums it up', () => {
  const state = readState({
    type: 'state',
    busy: { id: 'cell-1', execution: 5 },
    clusters: [cluster('tcp://a', 1000), cluster('tcp://b', 500)],
    local: {
      workers: 1,
      threads: 2,
      memory: null,
      memory_limit: null,
      tasks: { total: 3, done: 3, erred: 0 }
    },
    history: { limit: 200_000, attempts: 20, dropped: { attempts: 4 } },
    notes: ['one']
  });
  expect(state.busy).toBe(5);
  expect(state.dropped.get('attempts')).toBe(4);
  expect(totalOf(state)).toMatchObject({
    workers: 4,
    threads: 8,
    memory: 200,
    memoryLimit: 1500,
    tasks: { total: 23, done: 17, erred: 2 }
  });
});

test('a cluster without a memory limit leaves the whole without one', () => {
  const state = readState({ clusters: [cluster('tcp://a', 1000), cluster('tcp://b', null)] });
  expect(totalOf(state).memoryLimit).toBeUndefined();
});

test.each([undefined, null, 'text', { clusters: 3, notes: 'x', busy: [], history: null }])(
  'nonsense counts as nothing: %j',
  said => {
    expect(readState(said)).toEqual({
      busy: undefined,
      clusters: [],
      local: undefined,
      limit: undefined,
      dropped: new Map(),
      notes: [],
      resting: false
    });
  }
);

test('numbers that are none count as 0', () => {
  const [read] = readState({ clusters: [{ workers: 'many', memory: Number.NaN, tasks: -1 }] }).clusters;
  expect(read).toMatchObject({ workers: 0, memory: 0, tasks: { total: 0, done: 0, erred: 0 } });
});
