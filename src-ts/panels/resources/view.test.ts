import { beforeEach, expect, test, vi } from 'vitest';
import { batchOf, recordingOf } from '../../core/test-recording';
import { Surface } from '../../draw/surface';
import { SvgPen } from '../../draw/svg-pen';
import type { Mark, PanelView, Stage } from '../panel';
import { resources } from '../resources';
import { createStage } from '../stage';

const NAMES = ['a', 'b', 'c'];

let stage: Stage;
let view: PanelView;

beforeEach(() => {
  const samples = (process: string, at: number) =>
    [0, 1, 2].map(time => ({ process, time, cpu: 10, executing: at + 1, ready: 2, waiting: 0 }));
  stage = createStage(recordingOf({ resources: NAMES.flatMap(samples) }));
  const surface = new Surface();
  surface.width = 900;
  view = resources.create({ ...stage, surface, say: () => {} });
  surface.height = view.height(900);
  view.layout();
});

/** The mark of the measure that a card has first, as far down as it is found. */
function markOf(label: string): Mark | undefined {
  for (let y = 0; y < view.height(900); y++) {
    const mark = view.pick?.(600, y);
    if (mark?.card().groups[0][0].label === label) return mark;
  }
  return undefined;
}

function showTotal(): void {
  const menu = view.controls?.[2] as HTMLDetailsElement;
  menu.open = true;
  menu.dispatchEvent(new Event('toggle'));
  const label = [...menu.querySelectorAll('label')].find(each => each.textContent === 'Total CPU');
  const input = label?.querySelector('input') as HTMLInputElement;
  input.checked = true;
  input.dispatchEvent(new Event('change'));
  view.layout();
}

/** How far up the axis of a measure reaches. */
function mostOf(id: string): number | undefined {
  view.draw(new SvgPen(900, 600));
  const { rowsDrawn } = view as unknown as {
    rowsDrawn: { measure: { id: string }; scale: { most: number } }[];
  };
  return rowsDrawn.find(({ measure }) => measure.id === id)?.scale.most;
}

test('layers are of all workers: their card has the sums, and a click chooses none of them', () => {
  const tasks = markOf('executing');
  const { title, groups } = tasks?.card() ?? {};
  expect(title).toBe('3 workers');
  expect(groups?.[0].map(({ value }) => value)).toEqual(['6', '6', '0']);
  expect(tasks?.words()).toMatch(/^3 workers: executing 6, ready 6, waiting 0, at 1\.\d{3}\u2009s$/);
  view.choose?.(tasks, { additive: false });
  expect(stage.selection.clauses).toEqual([]);
});

test('layers are of the workers that are chosen, as is their axis', () => {
  const told = (): (string | undefined)[] => {
    view.layout();
    const { title, groups } = markOf('executing')?.card() ?? {};
    return [title, groups?.[0].map(({ value }) => value).join(' ')];
  };
  expect(told()).toEqual(['3 workers', '6 6 0']);
  const all = Number(mostOf('tasks'));
  stage.selection.choose('x', 'worker', ['b', 'c'], false);
  expect(told()).toEqual(['2 workers', '5 4 0']);
  stage.selection.choose('x', 'worker', ['b'], false);
  expect(told()).toEqual(['b', '2 2 0']);
  expect(mostOf('tasks')).toBeLessThan(all / 2);
  view.choose?.(markOf('executing'), { additive: false });
  expect(stage.selection.own('resources', 'worker')).toEqual(['b']);
});

test('the CPU of all workers together is shown where a person asks for it, and of no single one', () => {
  const rows = (): string => {
    const pen = new SvgPen(900, 600);
    view.draw(pen);
    return pen.toString();
  };
  const areas = (): number | undefined => rows().match(/<path[^>]* fill="(?!none)/g)?.length;
  expect([markOf('total'), areas()]).toEqual([undefined, 3]);
  showTotal();
  expect(areas()).toBe(4);
  expect(markOf('total')?.card().groups[0][0].value.replace('\u2009', ' ')).toBe('30 %');
  expect(view.rows?.().columns.map(({ title }) => title)).not.toContain('total, mean');
  expect(JSON.stringify(markOf('CPU')?.card())).not.toContain('total');
  expect(rows()).toContain('Total CPU');
  const look = view.controls?.[1] as HTMLSelectElement;
  look.value = 'map';
  look.dispatchEvent(new Event('change'));
  view.layout();
  expect(rows()).not.toContain('Total CPU');
});

test('the CPU of workers that share a process counts once', () => {
  const pids = [7, 7, 8];
  const told = NAMES.map((worker, at) => ({ worker, host: 'h', namespace: 1, pid: pids[at] }));
  stage.recording.take(batchOf('workers', told));
  showTotal();
  const { title, groups } = markOf('total')?.card() ?? {};
  expect([title, groups?.[0][0].value.replace('\u2009', ' ')]).toEqual(['3 workers', '20 %']);
  expect(mostOf('total-cpu')).toBeCloseTo(20);
});

test('arrow keys go from moment to moment, and from one measure to the next', () => {
  const label = (mark: Mark | undefined): string | undefined => mark?.card().groups[0][0].label;
  const first = view.move?.(undefined, 'first');
  expect(label(first)).toBe('CPU');
  const below = view.move?.(first, 'down');
  expect(label(below)).toBe('executing');
  expect(label(view.move?.(below, 'up'))).toBe('CPU');
  const later = view.move?.(first, 'right');
  expect(later?.box.x).toBeGreaterThan(first?.box.x ?? 0);
  expect(later?.box.y).toBe(first?.box.y);
});

test('where nothing is known in the middle, the keys begin before it', () => {
  const samples = [0, 1, 2, 20, 21, 22].map(time => ({ process: 'a', time, cpu: 10 }));
  const made = createStage(recordingOf({ resources: samples }));
  const surface = new Surface();
  surface.width = 900;
  const apart = resources.create({ ...made, surface, say: () => {} });
  surface.height = apart.height(900);
  apart.layout();
  const first = apart.move?.(undefined, 'first');
  expect(first?.card().groups[0][0].label).toBe('CPU');
  expect(first?.box.x).toBeLessThan(450);
});

test('in a heat map each process has its name, and what is shown stands over it', () => {
  const look = view.controls?.[1] as HTMLSelectElement;
  look.value = 'map';
  look.dispatchEvent(new Event('change'));
  view.layout();
  const first = view.move?.(undefined, 'first');
  expect(first?.card().title).toBe('a');
  expect(view.move?.(first, 'down')?.card().title).toBe('b');
  const pen = new SvgPen(900, 400);
  view.draw(pen);
  const texts = [...pen.toString().matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);
  expect(texts[0]).toMatch(/^CPU, up to 10/);
  expect(texts.slice(1, 4)).toEqual(['a', 'b', 'c']);
});

test('a line is of one worker, which a click chooses', () => {
  const cpu = markOf('CPU');
  expect(NAMES).toContain(cpu?.card().title);
  view.choose?.(cpu, { additive: false });
  expect(stage.selection.own('resources', 'worker')).toEqual([cpu?.card().title]);
});

test('a heat map of many processes names those only for whose names there is room', () => {
  const samples = Array.from({ length: 1000 }, (_, process) => ({ process: `w${process}`, time: 0, cpu: 1 }));
  const made = createStage(recordingOf({ resources: samples }));
  const surface = new Surface();
  surface.width = 900;
  const lots = resources.create({ ...made, surface, say: () => {} });
  const look = lots.controls?.[1] as HTMLSelectElement;
  look.value = 'map';
  look.dispatchEvent(new Event('change'));
  surface.height = lots.height(900);
  lots.layout();
  const named = vi.spyOn(made.tasks, 'workerName');
  lots.draw(new SvgPen(900, 400));
  expect(named.mock.calls.length).toBeGreaterThan(0);
  expect(named.mock.calls.length).toBeLessThan(50);
});

/** Lengths of all arrays of numbers that a thing holds. */
function lengthsIn(thing: unknown): number[] {
  if (ArrayBuffer.isView(thing)) return [(thing as Float32Array).length];
  if (typeof thing !== 'object' || thing === null) return [];
  const inside = thing instanceof Map ? [...thing.values()] : Object.values(thing);
  return inside.flatMap(lengthsIn);
}

test('of many processes no more is kept than is drawn: all together, and those that are chosen', () => {
  const many = Array.from({ length: 1000 }, (_, process) => `tcp://10.0.0.1:${process}`);
  const samples = many.flatMap((process, at) =>
    [0, 10, 20].map(time => ({ process, time, cpu: at % 100, executing: 1, ready: at, net_read: 5 }))
  );
  const made = createStage(recordingOf({ resources: samples }));
  const surface = new Surface();
  surface.width = 900;
  const lots = resources.create({ ...made, surface, say: () => {} });
  surface.height = lots.height(900);
  made.selection.choose('x', 'worker', many.slice(3, 5), false);
  lots.layout();
  const pen = new SvgPen(900, 400);
  lots.draw(pen);
  const plain = pen.toString().length;
  const { cache } = lots as unknown as { cache: { kept: Map<string, { bins: number; value: object }> } };
  expect(cache.kept.size).toBeGreaterThan(3);
  const sizes = (): number[] =>
    [...cache.kept.values()].map(({ bins, value }) => Math.max(...lengthsIn(value)) / bins);
  expect(Math.max(...sizes())).toBeLessThanOrEqual(2 + 3);
  // Another one that is pointed at has its line as well, which is not kept.
  const kept = (): number => [...cache.kept.values()].flatMap(({ value }) => lengthsIn(value)).length;
  const before = kept();
  const mark = lots.pick?.(400, 20);
  expect(mark).toBeDefined();
  lots.drawOverlay?.(pen, mark);
  expect(pen.toString().length).toBeGreaterThan(plain);
  expect(kept()).toBe(before);
});

test('whose figures are shown is said', () => {
  expect(view.shows?.()).toBe('of the workers');
  const group = view.controls?.[0] as HTMLSelectElement;
  group.value = 'scheduler';
  group.dispatchEvent(new Event('change'));
  expect(view.shows?.()).toBe('of the scheduler');
});

test('a table that is copied has the unit of what it measures', () => {
  const network = [{ process: 'a', time: 1, net_read: 2e6, net_write: 1, lag: 0.1 }];
  stage.recording.take(batchOf('resources', network));
  view.layout();
  const units = Object.fromEntries(view.rows?.().columns.map(({ title, unit }) => [title, unit]) ?? []);
  expect(units).toMatchObject({
    'CPU, most': '%',
    'received, mean': 'bytes/second',
    'event loop lag, most': 'seconds',
    'ready, most': 'count'
  });
});
