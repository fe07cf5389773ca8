import { expect, test } from 'vitest';
import { type Row, recordingOf } from '../../core/test-recording';
import { Surface } from '../../draw/surface';
import { memory } from '../memory';
import type { PanelContext } from '../panel';
import { createStage } from '../stage';
import { MEASURES, MemoryFigures } from './figures';

const GIB = 2 ** 30;

const ATTEMPT: Row = {
  run: 0,
  task: 0,
  worker: 'w0',
  thread: 't',
  status: 'ok',
  start: 1000,
  stop: 1002,
  done: 1002
};

const worker = (name: string, host: string, pid: number): Row => ({
  worker: name,
  host,
  pid,
  threads: 1,
  memory_limit: 8 * GIB
});

/** Of 4 GiB of its process a worker's results are 1, and another one is not old yet. */
const sample = (name: string): Row => ({
  worker: name,
  time: 1001,
  process: 4 * GIB,
  managed: GIB,
  unmanaged_old: 2 * GIB,
  unmanaged_recent: GIB,
  spilled: GIB
});

function contextOf(workers: readonly Row[]): PanelContext {
  const names = workers.map(row => String(row.worker));
  const about = [
    { name: 'started', value: '1000' },
    { name: 'stopped', value: '1002' }
  ];
  const tables = { about, workers, attempts: [ATTEMPT], memory: names.map(sample) };
  const surface = new Surface();
  surface.width = 800;
  return { ...createStage(recordingOf(tables)), surface, say: () => {} };
}

function cardOf(workers: readonly Row[]): (string | undefined)[][] {
  const context = contextOf(workers);
  const view = memory.create(context);
  context.surface.height = view.height(800);
  view.layout();
  const plot = view.plot?.() ?? { x: 0, y: 0, width: 1, height: 1 };
  const x = plot.x + context.viewport.scale(plot.width).x(1001.5);
  const groups = view.pick?.(x, plot.y + 1)?.card().groups ?? [];
  return groups.slice(0, 2).map(rows => rows.map(({ value }) => value?.replace(/\s/, ' ')));
}

/** What is drawn of the second second, from the bottom; GiB. */
function drawnOf(workers: readonly Row[]): number[] {
  const figures = new MemoryFigures(contextOf(workers));
  figures.read();
  return MEASURES.map(({ column }) => figures.sum(column, 1000, 1002, 2)[1] / GIB);
}

test('memory of a process that workers share counts once, and their limit as well', () => {
  const shared = [worker('w0', 'here', 7), worker('w1', 'here', 7)];
  // Spilled, recent, old, managed; process, optimistic, limit: the results of one are no results of the other.
  expect(cardOf(shared)).toEqual([
    ['2 GiB', '1 GiB', '1 GiB', '2 GiB'],
    ['4 GiB', '3 GiB', '8 GiB']
  ]);
  expect(drawnOf(shared)).toEqual([2, 1, 1, 2]);
});

test.each([
  ['processes', worker('w1', 'here', 8)],
  ['hosts', worker('w1', 'there', 7)],
  ['containers', { ...worker('w1', 'here', 7), namespace: 2 }],
  ['unknown processes', worker('w1', 'here', 0)]
])('that of workers of two %s is added up', (_, other) => {
  const apart = [worker('w0', 'here', other.pid === 0 ? 0 : 7), other];
  expect(cardOf(apart)).toEqual([
    ['2 GiB', '2 GiB', '4 GiB', '2 GiB'],
    ['8 GiB', '6 GiB', '16 GiB']
  ]);
  expect(drawnOf(apart)).toEqual([2, 4, 2, 2]);
});

test('limits are those of processes that were there at once', () => {
  const limitOf = (workers: readonly Row[]): number => {
    const figures = new MemoryFigures(contextOf(workers));
    figures.read();
    return figures.limitOf(figures.included) / GIB;
  };
  const first = { ...worker('w0', 'here', 7), joined: 1000, left: 1001 };
  expect(limitOf([first, { ...worker('w1', 'here', 8), joined: 1001 }])).toBe(8);
  expect(limitOf([first, { ...worker('w1', 'here', 8), joined: 1000.5 }])).toBe(16);
  const unlimited = { ...worker('w1', 'here', 8), memory_limit: Number.NaN };
  expect(limitOf([first, unlimited])).toBeNaN();
});

test.each([
  ['near', 9, 9],
  ['far', 64, 4],
  ['of one alone known', Number.NaN, 8]
])(
  'each worker is shown against the largest limit where that is not far from what was seen: %s',
  (_, limit, most) => {
    const figures = new MemoryFigures(
      contextOf([worker('w0', 'here', 7), { ...worker('w1', 'here', 8), memory_limit: limit * GIB }])
    );
    figures.read();
    expect(figures.mostOfOne() / GIB).toBe(most);
  }
);
