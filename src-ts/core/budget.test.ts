import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type BudgetRows, budgetRows, budgetTime, chosenRows, threadSeconds } from './budget';
import { budgetGroups, GROUPINGS, type Grouping, groupingsOf } from './budget-groups';
import { layersOf, namesOfLayer, threadsOverTime } from './budget-layers';
import { Recording } from './recording';
import { NOTHING } from './schema';
import { Selection } from './selection';
import { takeAll } from './test-bytes';
import { recordingOf } from './test-recording';

const folder = new URL('../../tests/golden/', import.meta.url);
const bytesOf = (name: string): Uint8Array => new Uint8Array(readFileSync(new URL(name, folder)));

type Parts = Readonly<Record<string, number>>;

/** What `Recording.time_budget` says of the golden recording. */
const said: {
  readonly started: number;
  readonly parts: Parts;
  readonly range: { readonly start: number; readonly stop: number; readonly parts: Parts };
  readonly by: Readonly<Record<string, Readonly<Record<string, Parts>>>>;
} = JSON.parse(readFileSync(new URL('budget.json', folder), 'utf-8'));

const golden = new Recording();
takeAll(golden, bytesOf('run.batches'));
takeAll(golden, bytesOf('budget.batches'));
const rows = budgetRows(golden) as BudgetRows;
const all = chosenRows(golden, rows, new Selection().filter());

const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0);

function byPart(found: BudgetRows, seconds: Float64Array): Record<string, number> {
  const parts: Record<string, number> = {};
  for (const { part, seconds: more } of layersOf(found, seconds).list)
    parts[part] = (parts[part] ?? 0) + more;
  return parts;
}

/** Python and the page agree to a millionth of the whole. */
function expectParts(got: Parts, wanted: Parts, whole: number): void {
  for (const part of new Set([...Object.keys(got), ...Object.keys(wanted)])) {
    expect(Math.abs((got[part] ?? 0) - (wanted[part] ?? 0)), part).toBeLessThan(1e-6 * whole);
  }
}

describe('the time budget of the golden recording', () => {
  const whole = sum(Object.values(said.parts));

  it('is what Python says', () => {
    expectParts(byPart(rows, threadSeconds(rows, all)), said.parts, whole);
  });

  it('has the same whole and the same work in a stretch of time', () => {
    const time = { start: said.started + said.range.start, stop: said.started + said.range.stop };
    const got = byPart(rows, threadSeconds(rows, all, time));
    const wanted = said.range.parts;
    expect(Math.abs(sum(Object.values(got)) - sum(Object.values(wanted)))).toBeLessThan(1e-6 * whole);
    for (const part of ['cpu', 'off-cpu', 'failed', 'deserialize', 'serialize', 'disk']) {
      expect(Math.abs((got[part] ?? 0) - (wanted[part] ?? 0)), part).toBeLessThan(1e-6 * whole);
    }
  });

  it.each(['function', 'worker', 'line'] as Grouping[])('is what Python says by %s', by => {
    const seconds = threadSeconds(rows, all);
    const layers = layersOf(rows, seconds);
    const groups = budgetGroups(golden, rows, seconds, layers, by);
    expect(new Set(groups.map(({ key }) => key))).toEqual(new Set(Object.keys(said.by[by])));
    for (const { key, byLayer } of groups) {
      const parts: Record<string, number> = {};
      layers.list.forEach(({ part }, at) => {
        parts[part] = (parts[part] ?? 0) + byLayer[at];
      });
      expectParts(parts, said.by[by][key], whole);
    }
  });

  it('has spans by their names', () => {
    const seconds = threadSeconds(rows, all);
    const groups = budgetGroups(golden, rows, seconds, layersOf(rows, seconds), 'span');
    expect(groups.map(({ key }) => key)).toContain('load / arrays');
    for (const { ids, seconds: got } of groups) {
      const wanted = sum(ids.flatMap(id => Object.values(said.by.span[id])));
      expect(Math.abs(got - wanted)).toBeLessThan(1e-6 * whole);
    }
    expect(sum(groups.map(group => group.seconds))).toBeCloseTo(whole, 6);
  });

  it('is the same drawn over time', () => {
    const { start, stop } = budgetTime(rows);
    const layers = layersOf(rows, threadSeconds(rows, all));
    const bins = threadsOverTime(rows, all, layers, start, stop, 97);
    layers.list.forEach(({ seconds }, at) => {
      expect((sum(bins[at]) * (stop - start)) / 97).toBeCloseTo(seconds, 5);
    });
  });
});

describe('what is chosen', () => {
  const row = (start: number, stop: number, part: string, name: string, more: object = {}) => ({
    worker: 'a',
    start,
    stop,
    threads: 1,
    part,
    name,
    span: '',
    submission: NOTHING,
    ...more
  });
  const recording = recordingOf({
    submissions: [
      { submission: 1, execution: 3, file: 'run.py', line: 7 },
      { submission: 2, execution: 0, file: '', line: 0 }
    ],
    cells: [{ execution: 3, code: 'x.compute()', start: 0, stop: 9 }],
    spans: [
      { span: 's1', name: 'load', path: 'load', parent: '' },
      { span: 's2', name: 'load', path: 'load', parent: '' }
    ],
    budget: [
      row(0, 4, 'cpu', 'read', { span: 's1', submission: 1 }),
      row(4, 10, 'inputs', 'read', { worker: 'b', submission: 2 }),
      row(4, 5, 'inputs', 'tiny', { span: 's2' }),
      row(4, 6, 'custom: solve', 'sum', { threads: 0.5 }),
      row(6, 10, 'client', '')
    ]
  });
  const found = budgetRows(recording) as BudgetRows;
  const wholeOf = (selection: Selection): number => {
    const filter = selection.filter();
    return sum(threadSeconds(found, chosenRows(recording, found, filter), filter.time));
  };

  it('is nothing where nothing has been worked out', () => {
    expect(budgetRows(recordingOf({ attempts: [{ run: 1, task: 1 }] }))).toBeUndefined();
  });

  it('follows time, names, workers, spans and cells', () => {
    const selection = new Selection();
    expect(wholeOf(selection)).toBe(16);
    selection.set({ source: 'x', column: 'time', value: { start: 3, stop: 5 } });
    expect(wholeOf(selection)).toBe(3.5);
    selection.set({ source: 'x', column: 'name', value: ['read'] });
    expect(wholeOf(selection)).toBe(2);
    selection.set({ source: 'x', column: 'worker', value: ['b'] });
    expect(wholeOf(selection)).toBe(1);
    selection.clear();
    selection.set({ source: 'x', column: 'cell', value: [3] });
    expect(wholeOf(selection)).toBe(4);
    selection.clear();
    selection.set({ source: 'x', column: 'span', value: ['s1', 's2'] });
    expect(wholeOf(selection)).toBe(5);
  });

  it('names what was waited for longest, in the order of the parts', () => {
    const layers = layersOf(found, threadSeconds(found, new Float64Array(5).fill(1)));
    expect(layers.list.map(({ part, name, kind, seconds }) => [part, name, kind, seconds])).toEqual([
      ['cpu', '', 'computing', 4],
      ['custom: solve', '', 'computing', 1],
      ['inputs', 'read', 'idle', 6],
      ['inputs', 'tiny', 'idle', 1],
      ['inputs', '', 'idle', 0],
      ['client', '', 'idle', 4]
    ]);
    const all = threadSeconds(found, new Float64Array(5).fill(1));
    expect(namesOfLayer(found, all, layers, 2)).toEqual([['read', 6]]);
  });

  it('is summed by cell, line and span, what belongs to none last', () => {
    const seconds = threadSeconds(found, new Float64Array(5).fill(1));
    const layers = layersOf(found, seconds);
    const of = (by: Grouping) =>
      budgetGroups(recording, found, seconds, layers, by).map(group => [
        group.key,
        group.ids.length,
        group.seconds
      ]);
    expect(groupingsOf(recording, found)).toEqual(GROUPINGS.filter(by => by !== 'cluster'));
    expect(of('cell')).toEqual([
      ['3', 1, 4],
      ['', 1, 12]
    ]);
    expect(of('line').map(([key]) => key)).toEqual(['run.py:7', '']);
    expect(of('span')).toEqual([
      ['load', 2, 5],
      ['', 1, 11]
    ]);
  });

  it('is summed as fast by spans of one name, however many they are', () => {
    const spans = Array.from({ length: 100_000 }, (_, at) => ({ span: `s${at}`, name: 'step', start: at }));
    const row = { worker: 'a', start: 0, stop: 1, threads: 1, part: 'overhead', name: 'inc' };
    const loop = recordingOf({ spans, budget: spans.map(({ span }) => ({ ...row, span })) });
    const found = budgetRows(loop) as BudgetRows;
    const seconds = threadSeconds(found, new Float64Array(found.length).fill(1));
    const [group] = budgetGroups(loop, found, seconds, layersOf(found, seconds), 'span');
    expect([group.key, group.ids.length, group.seconds]).toEqual(['step', 100_000, 100_000]);
  });

  it('is summed by cluster where there are several', () => {
    const seconds = threadSeconds(found, new Float64Array(5).fill(1));
    const layers = layersOf(found, seconds);
    const names = found.worker.names.filter(Boolean);
    const several = recordingOf({
      workers: [...names, 'idle'].map((worker, at) => ({ worker, cluster: at === 0 ? 'one' : 'two' }))
    });
    expect(groupingsOf(several, found)).toContain('cluster');
    const groups = budgetGroups(several, found, seconds, layers, 'cluster');
    expect(groups.find(({ key }) => key === 'one')?.ids).toEqual([names[0]]);
    expect(groups.reduce((sum, group) => sum + group.seconds, 0)).toBe(16);
  });

  it('has workers of the same time in the order of their names', () => {
    const row = { start: 0, stop: 1, threads: 1, part: 'cpu', name: 'inc' };
    const workers = ['10', '2', '1'].map((name, at) => ({ worker: `tcp://a:${at}`, name }));
    const even = recordingOf({ workers, budget: workers.map(({ worker }) => ({ ...row, worker })) });
    const rows = budgetRows(even) as BudgetRows;
    const seconds = Float64Array.of(1 + 1e-12, 1, 1 - 1e-12);
    const groups = budgetGroups(even, rows, seconds, layersOf(rows, seconds), 'worker');
    expect(groups.map(({ key }) => key)).toEqual(['tcp://a:2', 'tcp://a:1', 'tcp://a:0']);
  });

  it('takes no room for parts of names that never meet', () => {
    const budget = Array.from({ length: 50_000 }, (_, at) => ({
      ...{ worker: 'a', start: 0, stop: 1, threads: 1 },
      part: `custom: ${at}`,
      name: `n${at}`
    }));
    const many = budgetRows(recordingOf({ budget })) as BudgetRows;
    const { list, whole } = layersOf(many, new Float64Array(many.length).fill(1));
    expect([list.length, whole]).toEqual([50_000, 50_000]);
  });

  it('has as many threads at a moment as there were', () => {
    const layers = layersOf(found, threadSeconds(found, new Float64Array(5).fill(1)));
    const bins = threadsOverTime(found, new Float64Array(5).fill(1), layers, -2, 12, 7);
    expect(bins.map(values => [...values])).toEqual([
      [0, 1, 1, 0, 0, 0, 0],
      [0, 0, 0, 0.5, 0, 0, 0],
      [0, 0, 0, 1, 1, 1, 0],
      [0, 0, 0, 0.5, 0, 0, 0],
      [0, 0, 0, 0, 0, 0, 0],
      [0, 0, 0, 0, 1, 1, 0]
    ]);
  });
});

describe('names of sums', () => {
  const row = (
    start: number,
    stop: number,
    threads: number,
    part: string,
    name: string,
    more: object = {}
  ) => ({
    ...{ worker: 'a', start, stop, threads, part, name, span: '', submission: 1 },
    ...more
  });
  // Of 8 thread-seconds without a name `few` has 2 and `many` 5; of those of the other line `many` has all.
  const recording = recordingOf({
    budget: [
      row(0, 0, 2, 'overhead', 'few'),
      row(0, 0, 5, 'overhead', 'many'),
      row(0, 0, 1, 'overhead', 'many', { submission: 2 }),
      row(0, 4, 1.5, 'overhead', ''),
      row(4, 8, 0.5, 'overhead', '', { worker: 'b' }),
      row(8, 10, 0.5, 'overhead', '', { submission: 2 }),
      row(0, 4, 1, 'overhead', 'often'),
      row(0, 4, 1, 'cpu', 'few'),
      row(4, 6, 1, 'client', '')
    ]
  });
  const found = budgetRows(recording) as BudgetRows;
  const secondsOf = (selection: Selection): Float64Array => {
    const filter = selection.filter();
    return threadSeconds(found, chosenRows(recording, found, filter), filter.time);
  };
  const byName = (selection: Selection): Record<string, number> => {
    const seconds = secondsOf(selection);
    const { names } = selection.filter();
    const groups = budgetGroups(recording, found, seconds, layersOf(found, seconds), 'function', names);
    return Object.fromEntries(groups.map(group => [group.key, group.seconds]));
  };

  it('take no time themselves', () => {
    expect(sum(secondsOf(new Selection()))).toBe(19);
  });

  it('are shared out', () => {
    expect(byName(new Selection())).toEqual({ few: 6, many: 6, often: 4, '': 3 });
    const seconds = secondsOf(new Selection());
    expect(namesOfLayer(found, seconds, layersOf(found, seconds), 1)).toEqual([
      ['many', 6],
      ['often', 4],
      ['few', 2],
      ['', 1]
    ]);
  });

  it('are chosen with what they have of the sums', () => {
    const selection = new Selection();
    selection.set({ source: 'x', column: 'name', value: ['few'] });
    expect(byName(selection)).toEqual({ few: 6 });
    selection.set({ source: 'x', column: 'worker', value: ['b'] });
    expect(byName(selection)).toEqual({ few: 0.5 });
    selection.clear();
    selection.set({ source: 'x', column: 'name', value: ['many', 'often'] });
    expect(byName(selection)).toEqual({ many: 6, often: 4 });
    const bins = threadsOverTime(
      found,
      chosenRows(recording, found, selection.filter()),
      layersOf(found, secondsOf(selection)),
      0,
      12,
      3
    );
    expect([...bins[1]]).toEqual([1 + 1.5 * (5 / 8), 0.5 * (5 / 8), 0.25]);
  });

  it('are those of the whole run in a part of it', () => {
    const selection = new Selection();
    selection.set({ source: 'x', column: 'time', value: { start: 4, stop: 8 } });
    expect(byName(selection)).toEqual({ many: 1.25, few: 0.5, '': 2.25 });
  });
});
