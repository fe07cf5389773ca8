import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { budgetRows, budgetTime, chosenRows, threadSeconds } from './budget';
import { budgetAhead, comingBudget, timeOfBudget } from './budget-ahead';
import { type Layers, layersOf } from './budget-layers';
import { Recording } from './recording';
import { Selection } from './selection';
import { takeAll } from './test-bytes';
import { batchOf, recordingOf } from './test-recording';

const folder = new URL('../../tests/golden/', import.meta.url);
const told = readFileSync(new URL('budget-ahead.json', folder), 'utf-8');

const golden = new Recording();
golden.take(batchOf('about', [{ name: 'budget', value: told }]));

const shown = ({ list }: Pick<Layers, 'list'>) =>
  list.filter(({ seconds }) => seconds > 0).map(({ part, name, kind }) => [part, name, kind]);

describe('what a report tells ahead of the rows of its budget', () => {
  it('is shown as the rows are', () => {
    const ahead = comingBudget(golden);
    if (!ahead) throw new Error('nothing is told');
    const before = layersOf(ahead.sums, ahead.seconds);
    takeAll(golden, new Uint8Array(readFileSync(new URL('budget.batches', folder))));
    expect(comingBudget(golden)).toBeUndefined();
    const rows = budgetRows(golden);
    if (!rows) throw new Error('no rows');
    const all = chosenRows(golden, rows, new Selection().filter());
    const after = layersOf(rows, threadSeconds(rows, all));
    expect(shown(before)).toEqual(shown(after));
    expect(before.whole).toBeCloseTo(after.whole, 6);
    for (const { part, name, seconds } of after.list) {
      const same = before.list.find(each => each.part === part && each.name === name);
      expect(same?.seconds ?? 0, `${part} ${name}`).toBeCloseTo(seconds, 6);
    }
    expect(timeOfBudget(golden)).toEqual(budgetTime(rows));
  });

  it('is nothing where it makes no sense', () => {
    const of = (value: unknown) =>
      budgetAhead(recordingOf({ about: [{ name: 'budget', value: JSON.stringify(value) }] }));
    const sound = { rows: 1, start: 1, stop: 2, sums: [['cpu', '', 1]] };
    expect(of(sound)?.time).toEqual({ start: 1, stop: 2 });
    for (const broken of [
      7,
      null,
      { ...sound, rows: '1' },
      { ...sound, stop: 1 },
      { ...sound, sums: [['cpu', '']] },
      { ...sound, sums: [['cpu', '', null]] },
      { ...sound, sums: 'cpu' }
    ]) {
      expect(of(broken), JSON.stringify(broken)).toBeUndefined();
    }
    expect(timeOfBudget(recordingOf({ attempts: [{ run: 1, task: 1 }] }))).toBeUndefined();
  });
});
