import { afterEach, expect, test, vi } from 'vitest';
import type { TableRows } from './panel';
import { asText, Table } from './table';

afterEach(() => document.body.replaceChildren());

const ROWS: TableRows = {
  columns: [{ title: 'Level' }, { title: 'Took', numeric: true }, { title: 'Joined', numeric: true }],
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

const happens = (what: string, where: Element | null, init: PointerEventInit = {}): unknown =>
  where?.dispatchEvent(new PointerEvent(what, { bubbles: true, ...init }));

test.each([
  ['let go', 'pointerup'],
  ['taken for a drag', 'pointercancel'],
  ['let go where nobody tells of it', 'pointermove'],
  ['asked for its menu', 'contextmenu']
])('a row that is pressed stays until it is %s', (_, end) => {
  vi.useFakeTimers();
  const chosen = vi.fn();
  const table = new Table({ caption: 'Levels', rows: ROWS, choose: chosen });
  document.body.append(table.element);
  const chooser = table.element.querySelector<HTMLElement>('tbody button');
  happens('pointerdown', chooser, { buttons: 1 });
  happens('pointermove', chooser, { buttons: 1 });
  vi.runAllTimers();
  for (const caption of ['now', 'later']) table.renew({ caption, rows: { ...ROWS, length: 1 } });
  expect([shown(table).length, chooser?.isConnected]).toEqual([2, true]);
  happens(end, chooser);
  chooser?.click();
  expect(chosen).toHaveBeenCalledExactlyOnceWith(0);
  vi.runAllTimers();
  expect([shown(table).length, table.element.querySelector('caption')?.textContent]).toEqual([1, 'later']);
  vi.useRealTimers();
});

test('a row is pressed by the first button alone', () => {
  const table = new Table({ caption: 'Levels', rows: ROWS });
  document.body.append(table.element);
  happens('pointerdown', table.element.querySelector('tbody tr'), { button: 2, buttons: 2 });
  table.renew({ caption: 'now', rows: { ...ROWS, length: 1 } });
  expect(shown(table)).toHaveLength(1);
});

test('one row more is told as one', () => {
  const { element } = new Table({ caption: 'People', rows: people(51, 'Name') });
  expect(element.querySelector(':scope > .di-button')?.textContent).toBe('Show more: 1 row left');
});

test('who listens hears the caption that stands there now', () => {
  const table = new Table({ caption: '3 of 9 events', rows: ROWS });
  table.renew({ caption: 'All events', rows: ROWS });
  expect(table.element.querySelector('[role=group]')?.getAttribute('aria-label')).toBe('All events');
});

const people = (rows: number, ...titles: string[]): TableRows => ({
  columns: titles.map(title => ({ title, numeric: title === 'Age' })),
  length: rows,
  row: row => titles.map(title => `${title} ${row}`),
  value: (row, column) => (titles[column] === 'Age' ? row : `${titles[column]} ${row}`)
});

function shown(table: Table): (string | null)[] {
  return [...table.element.querySelectorAll('tbody tr')].map(row => row.firstChild?.textContent ?? null);
}

test('rows are sorted as before once the column is there again, and its button has the focus', () => {
  const table = new Table({ caption: 'People', rows: people(2, 'Name', 'Age') });
  document.body.append(table.element);
  const sorters = (): HTMLElement[] => [...table.element.querySelectorAll<HTMLElement>('thead button')];
  sorters()[1].click();
  expect(shown(table)).toEqual(['Name 1', 'Name 0']);
  table.renew({ caption: 'People', rows: people(2, 'Name') });
  expect(shown(table)).toEqual(['Name 0', 'Name 1']);
  sorters()[0].focus();
  table.renew({ caption: 'People', rows: people(2, 'Name', 'Age') });
  expect(shown(table)).toEqual(['Name 1', 'Name 0']);
  expect(document.activeElement).toBe(sorters()[0]);
});

test('texts are sorted as people put them, with what is made once', () => {
  const compared = vi.spyOn(String.prototype, 'localeCompare');
  const table = new Table({ caption: 'People', rows: people(12, 'Name') });
  const sorter = table.element.querySelector<HTMLElement>('thead button');
  sorter?.click();
  expect(shown(table).slice(1, 3)).toEqual(['Name 1', 'Name 2']);
  sorter?.click();
  expect(shown(table)[0]).toBe('Name 11');
  expect(compared).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});

test.each([true, false])(
  'who has asked for the last rows goes on with them, choosers or not: %s',
  chooses => {
    const rows = people(60, 'Name');
    const table = new Table({ caption: 'People', rows, choose: chooses ? () => {} : undefined });
    document.body.append(table.element);
    const more = table.element.querySelector<HTMLElement>(':scope > .di-button');
    more?.focus();
    more?.click();
    expect(more?.hidden).toBe(true);
    const row = table.element.querySelectorAll('tbody tr')[50].querySelector('button');
    expect(document.activeElement).toBe(chooses ? row : table.element.querySelector('[role=group]'));
  }
);

test('rows that do something are pressed only where they can be chosen', () => {
  const pressed = (isChosen?: () => boolean): (string | null)[] => {
    const { element } = new Table({ caption: 'People', rows: people(1, 'Name'), choose: () => {}, isChosen });
    return [...element.querySelectorAll('tbody button')].map(each => each.getAttribute('aria-pressed'));
  };
  expect([pressed(), pressed(() => false), pressed(() => true)]).toEqual([[null], ['false'], ['true']]);
});

test('a name that is cut is whole in its title', () => {
  const { innerWidth } = window;
  window.innerWidth = 400;
  const name = 'x'.repeat(28);
  const { element } = new Table({
    caption: 'Names',
    rows: { columns: [{ title: 'Name' }], length: 1, row: () => [name] }
  });
  expect(element.querySelector('.di-cut')).not.toBeNull();
  expect(element.querySelector('bdi')?.title).toBe(name);
  window.innerWidth = innerWidth;
});

test('what is copied is taken for words by spreadsheets, and has its unit in the head', () => {
  const cells = ['=1+1', '+1', '-1', '@A1', '"a" b', 'a "b"', '\t=1', ' - 1'];
  const rows: TableRows = {
    columns: [{ title: 'Name' }, { title: 'Took', numeric: true, unit: 's' }],
    length: cells.length,
    row: row => [cells[row], '–1 s'],
    value: () => -1
  };
  expect(asText(rows, [...cells.keys()]).split('\n')).toEqual([
    'Name\tTook, s',
    "'=1+1\t-1",
    "'+1\t-1",
    "'-1\t-1",
    "'@A1\t-1",
    '"""a"" b"\t-1',
    'a "b"\t-1',
    "' =1\t-1",
    "' - 1\t-1"
  ]);
});

test('a table that gets another width keeps the focus, and a row that is pressed stays until it is let go', () => {
  vi.useFakeTimers();
  let fits = (_width: number): void => {};
  vi.stubGlobal(
    'ResizeObserver',
    class {
      constructor(told: (entries: unknown[]) => void) {
        fits = width => told([{ contentRect: { width } }]);
      }
      observe(): void {}
    }
  );
  const table = new Table({ caption: 'Levels', rows: ROWS, choose: () => {} });
  document.body.append(table.element);
  const chooser = (): HTMLElement | null => table.element.querySelector('tbody button');
  const first = chooser();
  first?.focus();
  fits(300);
  const second = chooser();
  expect(second).not.toBe(first);
  expect(document.activeElement).toBe(second);
  happens('pointerdown', second, { buttons: 1 });
  fits(900);
  expect(chooser()).toBe(second);
  happens('pointerup', second);
  vi.runAllTimers();
  expect(chooser()).not.toBe(second);
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
