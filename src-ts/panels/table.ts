import { copyText } from '../draw/tooltip';
import { button, element } from './element';
import { icon } from './icons';
import type { TableRows } from './panel';

export interface TableOptions {
  readonly caption: string;
  readonly rows: TableRows;
  /** Column to sort by at first, largest first where it has numbers. Without it: as given. */
  readonly sort?: number;
  /** A colour to stand before the first cell of a row. */
  swatch?(row: number): string;
  /** A person chooses a row: its first cell is a button then. */
  choose?(row: number): void;
  isChosen?(row: number): boolean;
}

/** Rows shown before a person asks for more, and at each asking. */
const PAGE = 50;
const NEXT = [450, 2000] as const;

/** Longest text that a cell holds; the copy has all of it. */
const LONGEST = 500;

/** A table that can be sorted and copied whole, however long it is. */
export function table(options: TableOptions): HTMLElement {
  const { rows } = options;
  const order = Array.from({ length: rows.length }, (_, row) => row);
  const head = element('tr');
  const body = element('tbody');
  let sorted = options.sort ?? -1;
  let descending = rows.columns[sorted]?.numeric ?? false;
  let shown = PAGE;

  const more = button('Show more', () => {
    shown += NEXT[shown === PAGE ? 0 : 1];
    fill();
  });
  const fill = (): void => {
    body.replaceChildren(...order.slice(0, shown).map(row => tableRow(options, row)));
    more.hidden = shown >= order.length;
    more.textContent = `Show more of ${(order.length - shown).toLocaleString('en')} rows`;
  };
  const sort = (): void => {
    if (sorted >= 0) order.sort(ordering(rows, sorted, descending));
  };

  const cells = rows.columns.map((column, index) => {
    const sorter = element('button', { type: 'button' }, column.title);
    const cell = element('th', { scope: 'col', class: column.numeric ? 'di-number' : undefined }, sorter);
    sorter.addEventListener('click', () => {
      descending = sorted === index ? !descending : column.numeric;
      sorted = index;
      mark();
      sort();
      fill();
    });
    return cell;
  });
  const mark = (): void => {
    cells.forEach((cell, index) => {
      if (index === sorted) cell.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
      else cell.removeAttribute('aria-sort');
    });
  };

  head.append(...cells);
  mark();
  sort();
  fill();
  const caption = element('caption', {}, options.caption);
  const made = element('table', { class: 'di-table' }, caption, element('thead', {}, head), body);
  const copy = button(
    'Copy table',
    () => void copyText(asText(rows, order)).then(done => copy.classList.toggle('di-done', done)),
    icon('copy')
  );
  const scroll = element(
    'div',
    { class: 'di-table-scroll', tabindex: 0, role: 'region', 'aria-label': options.caption },
    made
  );
  return element('div', { class: 'di-table-box' }, copy, scroll, more);
}

function ordering(rows: TableRows, column: number, descending: boolean): (a: number, b: number) => number {
  const sign = descending ? -1 : 1;
  const keys = Array.from(
    { length: rows.length },
    (_, row) => rows.value?.(row, column) ?? rows.row(row)[column]
  );
  return (a, b) => {
    const [left, right] = [keys[a], keys[b]];
    if (typeof left === 'string' || typeof right === 'string') {
      return sign * String(left).localeCompare(String(right), 'en', { numeric: true }) || a - b;
    }
    // What is missing comes last, whichever way the rest is sorted.
    if (Number.isNaN(left) || Number.isNaN(right))
      return Number(Number.isNaN(left)) - Number(Number.isNaN(right)) || a - b;
    return sign * (left - right) || a - b;
  };
}

function tableRow(options: TableOptions, row: number): HTMLTableRowElement {
  const texts = options.rows.row(row);
  const cells = options.rows.columns.map((column, index) => {
    const text = texts[index];
    const cell = element(index === 0 ? 'th' : 'td', {
      class: column.numeric ? 'di-number' : undefined,
      scope: index === 0 ? 'row' : undefined
    });
    const content = element(
      'bdi',
      { title: text.length > 30 ? text.slice(0, 1000) : undefined },
      text.slice(0, LONGEST)
    );
    if (index > 0) {
      cell.append(content);
      return cell;
    }
    if (options.swatch) {
      const swatch = element('span', { class: 'di-swatch', 'aria-hidden': 'true' });
      swatch.style.backgroundColor = options.swatch(row);
      cell.append(swatch);
    }
    if (options.choose) {
      const pressed = String(options.isChosen?.(row) ?? false);
      const chooser = element('button', { type: 'button', 'aria-pressed': pressed }, content);
      chooser.addEventListener('click', () => options.choose?.(row));
      cell.append(chooser);
    } else {
      cell.append(content);
    }
    return cell;
  });
  return element('tr', {}, ...cells);
}

/** Tab-separated text, as spreadsheets and issues take it; numbers unrounded. */
export function asText(rows: TableRows, order: readonly number[]): string {
  const clean = (text: string | number): string => String(text).replace(/[\t\r\n]+/g, ' ');
  const lines = [rows.columns.map(column => clean(column.title)).join('\t')];
  for (const row of order) {
    const texts = rows.row(row);
    lines.push(rows.columns.map((_, index) => clean(rows.value?.(row, index) ?? texts[index])).join('\t'));
  }
  return lines.join('\n');
}
