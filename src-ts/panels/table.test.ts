import { afterEach, expect, test } from 'vitest';
import type { TableRows } from './panel';
import { asText, Table } from './table';

afterEach(() => document.body.replaceChildren());

const ROWS: TableRows = {
  columns: [
    { title: 'Level', numeric: false },
    { title: 'Took', numeric: true },
    { title: 'Joined', numeric: true }
  ],
  length: 2,
  row: row =>
    [
      ['warning', '1.23 s', 'at start'],
      ['error', '–', '3 s']
    ][row],
  value: (row, column) =>
    [
      [2, 1.2345, Number.NEGATIVE_INFINITY],
      [3, Number.NaN, 3]
    ][row][column]
};

test('what is copied has words as they are shown, numbers unrounded, and nothing for those that are none', () => {
  expect(asText(ROWS, [1, 0])).toBe('Level\tTook\tJoined\nerror\t\t3\nwarning\t1.2345\t');
});

test('what has the focus keeps it when rows are shown anew, in a shadow tree too', () => {
  const host = document.createElement('div');
  document.body.append(host);
  const tree = host.attachShadow({ mode: 'open' });
  const options = { caption: 'Levels', rows: ROWS, choose: () => {} };
  const table = new Table(options);
  tree.append(table.element);
  const chooser = (): HTMLElement | null => table.element.querySelector('tbody tr:last-child button');
  const before = chooser();
  before?.focus();
  table.renew(options);
  expect(chooser()).not.toBe(before);
  expect(tree.activeElement).toBe(chooser());
});

test('who listens hears the caption that stands there now', () => {
  const table = new Table({ caption: '3 of 9 events', rows: ROWS });
  table.renew({ caption: 'All events', rows: ROWS });
  expect(table.element.querySelector('[role=group]')?.getAttribute('aria-label')).toBe('All events');
});
