import { beforeEach, expect, test } from 'vitest';
import { batchOf, type Row, recordingOf } from '../../core/test-recording';
import { Surface } from '../../draw/surface';
import { SvgPen } from '../../draw/svg-pen';
import { memory } from '../memory';
import type { PanelView, Stage } from '../panel';
import { createStage } from '../stage';

const MIB = 2 ** 20;
const GRAPH: readonly Row[] = [
  { task: 0, key: 'load-0', prefix: 'load' },
  { task: 1, key: 'load-1', prefix: 'load' },
  { task: 2, key: 'sum-2', prefix: 'sum' }
];
const RESULTS: readonly Row[] = [0, 1, 2].map(task => ({
  run: task,
  task,
  worker: task === 1 ? 'w2' : 'w1',
  thread: 't',
  status: 'ok',
  start: 1000 + 2 * task,
  stop: 1001 + 2 * task,
  done: 1001 + 2 * task,
  nbytes: (task === 2 ? 1 : 4) * MIB
}));
const FAILURE: Row = { run: 3, task: 3, worker: 'w1', thread: 't', status: 'erred', start: 1009, stop: 1010 };
const RELEASES: readonly Row[] = [
  { task: 0, time: 1006 },
  { task: 1, time: 1006 }
];
const MEMORY: readonly Row[] = [{ worker: 'w1', time: 1001, process: 1, managed: 1 }];

let stage: Stage;
let view: PanelView;
let look: HTMLSelectElement;

type Tables = { about?: readonly Row[]; releases?: readonly Row[]; memory?: readonly Row[] };

function shown({ about: more = [], ...tables }: Tables): void {
  const about = [...more, { name: 'started', value: '1000' }, { name: 'stopped', value: '1010' }];
  stage = createStage(recordingOf({ about, graph: GRAPH, attempts: [...RESULTS, FAILURE], ...tables }));
  const surface = new Surface();
  surface.width = 800;
  view = memory.create({ ...stage, surface, say: () => {} });
  surface.height = view.height(800);
  look = view.controls?.[1] as HTMLSelectElement;
}

function byName(): void {
  look.value = 'names';
  look.dispatchEvent(new Event('change'));
  view.layout();
}

const plain = (text: string): string => text.replaceAll('\u202f', ' ').replaceAll('\u2009', ' ');

function cardAt(time: number, height = 0.99): string[] {
  const plot = view.plot?.() ?? { x: 0, y: 0, width: 1, height: 1 };
  const x = plot.x + stage.viewport.scale(plot.width).x(time);
  const mark = view.pick?.(x, plot.y + height * plot.height);
  const card = mark?.card();
  const lines = card?.groups[0].map(({ label, value }) => `${label} ${value}`) ?? [];
  return [card?.title ?? '', ...lines].map(plain);
}

beforeEach(() => {
  shown({ releases: RELEASES, memory: MEMORY });
  byName();
});

test('at each moment it says what results there were, of which name', () => {
  expect(cardAt(1002)).toEqual(['4 MiB of results', 'load 4 MiB, 1 result']);
  expect(cardAt(1005.5)).toEqual(['9 MiB of results', 'load 8 MiB, 2 results', 'sum 1 MiB, 1 result']);
  expect(cardAt(1008)).toEqual(['1 MiB of results', 'sum 1 MiB, 1 result']);
  expect(view.below?.textContent).toContain('counts once');
  expect(view.below?.textContent).not.toContain('taken to be');
});

test('names that come before there are measures give way to these, and so does what is said of them', () => {
  shown({ releases: RELEASES });
  view.layout();
  expect(view.below?.textContent).toContain('No memory measures were recorded');
  stage.recording.take(batchOf('memory', MEMORY));
  view.layout();
  expect(view.below?.textContent).toBe('');
});

test('a click chooses the name under the pointer, another takes it back', () => {
  const plot = view.plot?.() ?? { x: 0, y: 0, width: 1, height: 1 };
  const x = plot.x + stage.viewport.scale(plot.width).x(1005.5);
  const mark = view.pick?.(x, plot.y + 0.95 * plot.height);
  view.choose?.(mark, { additive: false });
  expect(stage.selection.clauses).toEqual([{ source: 'memory', column: 'name', value: ['load'] }]);
  view.choose?.(mark, { additive: false });
  expect(stage.selection.clauses).toEqual([]);
});

test('it shows those of the workers and names that are chosen elsewhere', () => {
  stage.selection.set({ source: 'workers', column: 'worker', value: ['w2'] });
  view.layout();
  expect(cardAt(1005.5)).toEqual(['4 MiB of results', 'load 4 MiB, 1 result']);
  stage.selection.clear();
  stage.selection.set({ source: 'task-stream', column: 'name', value: ['sum'] });
  view.layout();
  expect(cardAt(1005.5)).toEqual(['1 MiB of results', 'sum 1 MiB, 1 result']);
});

test('the table has what was held most first', () => {
  const rows = view.rows?.();
  expect(rows?.length).toBe(2);
  expect(rows?.row(0).map(plain)).toEqual(['load', '8 MiB', '2', '4 MiB']);
  expect(rows?.value?.(1, 1)).toBe(MIB);
});

test('of a marked stretch the table has what was held in it', () => {
  const mark = (start: number, stop: number): unknown => {
    stage.selection.set({ source: 'time-budget', column: 'time', value: { start, stop } });
    const rows = view.rows?.();
    return Array.from({ length: rows?.length ?? 0 }, (_, at) => rows?.row(at).map(plain));
  };
  expect(mark(1001.5, 1002)).toEqual([['load', '4 MiB', '1', '4 MiB']]);
  expect(mark(1007, 1008)).toEqual([['sum', '1 MiB', '1', '1 MiB']]);
});

test('without measures of a scheduler it is what there is to see', () => {
  shown({ releases: RELEASES });
  view.layout();
  expect(view.empty()).toBeUndefined();
  expect(look.hidden).toBe(true);
  expect(view.below?.textContent).toContain('only a distributed scheduler');
  expect(cardAt(1002)[0]).toBe('4 MiB of results');
});

test('it goes on with a run that goes on, asked first whether there is anything', () => {
  shown({ releases: RELEASES });
  view.layout();
  const more = { ...RESULTS[2], run: 4, task: 4, done: 1007, stop: 1007, start: 1006, nbytes: 8 * MIB };
  const graph = { task: 4, key: 'sum-4', prefix: 'sum' };
  stage.recording.take(batchOf('graph', [graph]));
  stage.recording.take(batchOf('attempts', [more]));
  expect(view.empty()).toBeUndefined();
  view.layout();
  expect(cardAt(1008)).toEqual(['9 MiB of results', 'sum 9 MiB, 2 results']);
  stage.recording.take(batchOf('attempts', [{ ...more, run: 5, nbytes: 16 * MIB }]));
  expect(view.empty()).toBeUndefined();
  expect(cardAt(1008)).toEqual(['25 MiB of results', 'sum 25 MiB, 3 results']);
});

test('where what would tell was left out it says so, and shows nothing', () => {
  shown({ memory: MEMORY, about: [{ name: 'lacks', value: '{"releases": "Left out."}' }] });
  byName();
  expect(view.below?.textContent).toBe('Left out.');
  expect(view.signs?.()).toEqual([]);
});

test('where releases were not recorded it says what it goes by', () => {
  shown({ memory: MEMORY, about: [{ name: 'source', value: '{"tool": "another"}' }] });
  byName();
  expect(view.below?.textContent).toContain('not recorded');
  expect(cardAt(1008)[0]).toBe('9 MiB of results');
});

test('the most at once is exact, however short it was, and of what takes the place of another only one counts', () => {
  const brief = (task: number, done: number): Row => ({ ...RESULTS[task], done, nbytes: 4 * MIB });
  const about = [
    { name: 'started', value: '1000' },
    { name: 'stopped', value: '9000' }
  ];
  const releases = [
    { task: 0, time: 1002 },
    { task: 1, time: 1003 }
  ];
  const attempts = [brief(0, 1001), brief(1, 1002)];
  const surface = new Surface();
  surface.width = 800;
  stage = createStage(recordingOf({ about, graph: GRAPH, attempts, releases, memory: MEMORY }));
  view = memory.create({ ...stage, surface, say: () => {} });
  look = view.controls?.[1] as HTMLSelectElement;
  byName();
  const rows = view.rows?.();
  expect(rows?.row(0).map(plain)).toEqual(['load', '4 MiB', '2', '4 MiB']);
});

test('what is held still is so until now, and on as time goes on', () => {
  const [first] = RESULTS;
  const surface = new Surface();
  surface.width = 800;
  const measured = (time: number): Row[] => [{ ...MEMORY[0], time }];
  stage = createStage(recordingOf({ graph: GRAPH, attempts: [first], memory: measured(1003) }));
  stage.viewport.setExtent(1000, 1010);
  view = memory.create({ ...stage, surface, say: () => {} });
  surface.height = view.height(800);
  look = view.controls?.[1] as HTMLSelectElement;
  byName();
  /** Until when there is something above zero. */
  const drawn = (): number => {
    const pen = new SvgPen(800, surface.height);
    view.draw(pen);
    const areas = [...pen.toString().matchAll(/<path[^>]* d="([^"]+)"[^>]* fill="(?!none)/g)];
    const points = areas.flatMap(([, d]) =>
      [...d.matchAll(/[ML]([\d.]+)[ ,]([\d.]+)/g)].map(each => each.map(Number))
    );
    const plot = view.plot?.() ?? { x: 0, y: 0, width: 1, height: 1 };
    const above = points.filter(([, , y]) => y < plot.y + plot.height - 1).map(([, x]) => x);
    return stage.viewport.scale(plot.width).time(Math.max(...above) - plot.x);
  };
  expect(drawn()).toBeCloseTo(1003, 1);
  expect(cardAt(1005)).toEqual(['']);
  stage.recording.take(batchOf('memory', measured(1006)));
  view.layout();
  expect(cardAt(1005)[0]).toBe('4 MiB of results');
  expect(drawn()).toBeCloseTo(1006, 1);
});
