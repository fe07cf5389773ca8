import { expect, test } from 'vitest';
import { bytes, count, duration } from '../core/format';
import { Table } from './table';
import { type Column, number, rowsOf, some, text } from './things';

interface Worker {
  readonly name: string;
  readonly failed: number;
  readonly host: string;
}

const columns: readonly Column<Worker>[] = [
  text('Name', ({ name }) => name),
  number('Failed', ({ failed }) => failed, some),
  text('Host', ({ host }) => host)
];
const [a, b] = ['a', 'b'].map((name, at) => ({ name, failed: 0, host: `host-${at}` }));

test('a column that says nothing takes no room', () => {
  const rows = rowsOf([a, b], columns);
  expect(rows.columns.map(({ title }) => title)).toEqual(['Name', 'Host']);
  expect([rows.row(1), rows.value?.(1, 1)]).toEqual([['b', 'host-1'], 'host-1']);
  expect(rowsOf([], columns).columns).toHaveLength(3);
});

test('numbers behind words of their own size tell their unit', () => {
  const unitOf = (words: (value: number) => string): string | undefined => number('', () => 1, words).unit;
  expect([duration, bytes, count].map(unitOf)).toEqual(['s', 'B', undefined]);
  expect(number('', () => 1, String, 'B/s').unit).toBe('B/s');
});

test('a table stays sorted by what a person chose when a column comes before it or goes', () => {
  const options = (...workers: Worker[]) => ({ caption: 'Workers', rows: rowsOf(workers, columns) });
  const table = new Table(options(b, a));
  const names = (): (string | null)[] =>
    [...table.element.querySelectorAll('tbody th')].map(cell => cell.textContent);
  table.element.querySelectorAll<HTMLButtonElement>('thead button')[1].click();
  expect(names()).toEqual(['a', 'b']);
  for (const failed of [3, 0]) {
    table.renew(options(b, { ...a, failed }));
    expect(table.element.querySelector('[aria-sort]')?.textContent).toBe('Host');
    expect(names()).toEqual(['a', 'b']);
  }
});
