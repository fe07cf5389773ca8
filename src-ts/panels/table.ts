import { plural } from '../core/format';
import { keepFocus } from '../draw/focus';
import { copyButton } from './copy-button';
import { button, element, swatch } from './element';
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
  /** A row that matters less than the others steps back. */
  isFaint?(row: number): boolean;
}

/** Rows shown before a person asks for more, and at each asking. */
const PAGE = 50;
const NEXT = [450, 2000] as const;

/** Longest text that a cell holds; the copy has all of it. */
const LONGEST = 500;

/** How texts are put in order; made when it is first needed, since it loads tables of its own. */
let texts: Intl.Collator | undefined;

/** Letters of a name that are shown in a table so wide, CSS pixels. */
const lettersIn = (width: number): number => (width < 440 ? 26 : width < 800 ? 36 : 52);

/** A table that can be sorted and copied whole, however long it is. */
export class Table {
  readonly element: HTMLElement;
  private order: number[] = [];
  private sorted: number;
  /** Title of the column that rows are sorted by, also while it is not there. */
  private by: string | undefined;
  private descending: boolean;
  private shown = PAGE;
  private letters = lettersIn(window.innerWidth);
  private cells: readonly HTMLElement[] = [];
  /** While a row is pressed: what is to be shown once it is let go. */
  private held: TableOptions | undefined;
  private readonly head = element('tr');
  private readonly body = element('tbody');
  private readonly caption = element('caption');
  private readonly scroll = element('div', { class: 'di-table-scroll', tabindex: 0, role: 'group' });
  private readonly more: HTMLButtonElement;

  constructor(private options: TableOptions) {
    this.sorted = options.sort ?? -1;
    const column = options.rows.columns[this.sorted];
    this.by = column?.title;
    this.descending = column?.numeric ?? false;
    this.more = button('Show more', () => {
      const first = this.shown;
      this.shown += NEXT[first === PAGE ? 0 : 1];
      this.fill();
      if (!this.more.hidden) return;
      const row = this.body.children[first];
      (row.querySelector('button') ?? this.scroll).focus();
    });
    this.body.addEventListener('pointerdown', ({ button }) => button === 0 && this.hold());
    const made = element(
      'table',
      { class: 'di-table' },
      this.caption,
      element('thead', {}, this.head),
      this.body
    );
    const copy = copyButton('Copy table', () => asText(this.options.rows, this.order));
    this.scroll.append(made);
    this.element = element('div', { class: 'di-table-box' }, copy, this.scroll, this.more);
    this.renew(options);
    new ResizeObserver(([{ contentRect }]) => this.fit(contentRect.width)).observe(this.element);
  }

  /** Shows other rows; order, length, scroll and focus stay as the person has set them. */
  renew(options: TableOptions): void {
    if (this.held) {
      this.held = options;
      return;
    }
    this.options = options;
    this.caption.textContent = options.caption;
    this.scroll.setAttribute('aria-label', options.caption);
    const titles = options.rows.columns.map(({ title }) => title);
    this.order = Array.from({ length: options.rows.length }, (_, row) => row);
    keepFocus(this.scroll, () => {
      if (titles.join() !== this.cells.map(cell => cell.textContent).join()) {
        this.sorted = titles.indexOf(this.by ?? '');
        this.title();
      }
      this.arrange();
    });
  }

  /** What is pressed and let go is a click only where it stays. */
  private hold(): void {
    this.held ??= this.options;
    const over = new AbortController();
    const release = ({ type, buttons }: PointerEvent): void => {
      // Without a button it was let go where nobody told of it, as outside the window.
      if (type === 'pointermove' && buttons > 0) return;
      over.abort();
      // The click comes right after.
      setTimeout(() => {
        const { held } = this;
        this.held = undefined;
        if (held && held !== this.options) this.renew(held);
      });
    };
    for (const end of ['pointerup', 'pointercancel', 'pointermove', 'contextmenu'] as const) {
      document.addEventListener(end, release, { capture: true, signal: over.signal });
    }
  }

  /** Names take the room that there is. */
  private fit(width: number): void {
    const letters = lettersIn(width);
    // Without a width it is out of sight.
    if (width === 0 || letters === this.letters) return;
    this.letters = letters;
    this.renew({ ...(this.held ?? this.options) });
  }

  private title(): void {
    this.cells = this.options.rows.columns.map((column, index) => {
      const sorter = element('button', { type: 'button' }, column.title);
      sorter.addEventListener('click', () => {
        this.descending = this.sorted === index ? !this.descending : (column.numeric ?? false);
        this.sorted = index;
        this.by = column.title;
        this.arrange();
      });
      return element('th', { scope: 'col', class: column.numeric ? 'di-number' : undefined }, sorter);
    });
    this.head.replaceChildren(...this.cells);
  }

  private fill(): void {
    const { order, shown, more } = this;
    this.body.replaceChildren(...order.slice(0, shown).map(row => tableRow(this.options, row, this.letters)));
    more.hidden = shown >= order.length;
    more.textContent = `Show more: ${plural(order.length - shown, 'row')} left`;
  }

  /** Puts the rows in their order, and says in the head which that is. */
  private arrange(): void {
    const { sorted, descending } = this;
    this.cells.forEach((cell, index) => {
      if (index === sorted) cell.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
      else cell.removeAttribute('aria-sort');
    });
    if (sorted >= 0) this.order.sort(ordering(this.options.rows, sorted, descending));
    this.fill();
  }
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
      texts ??= new Intl.Collator('en', { numeric: true });
      return sign * texts.compare(String(left), String(right)) || a - b;
    }
    // What is missing comes last, whichever way the rest is sorted.
    if (Number.isNaN(left) || Number.isNaN(right))
      return Number(Number.isNaN(left)) - Number(Number.isNaN(right)) || a - b;
    return sign * (left - right) || a - b;
  };
}

function tableRow(options: TableOptions, row: number, most: number): HTMLTableRowElement {
  const texts = options.rows.row(row);
  const cells = options.rows.columns.map((column, index) => {
    const text = texts[index];
    const isFirst = index === 0;
    const cell = element(isFirst ? 'th' : 'td', {
      class: column.numeric ? 'di-number' : column.prose && !isFirst ? 'di-prose' : undefined,
      scope: isFirst ? 'row' : undefined
    });
    const content = element('bdi', {
      title: text.length > Math.min(30, most) ? text.slice(0, 1000) : undefined
    });
    content.append(...(column.prose || !isFirst ? [text.slice(0, LONGEST)] : inMiddle(text, most)));
    if (isFirst && options.swatch) cell.append(swatch(options.swatch(row)));
    if (isFirst && options.choose) {
      const pressed = options.isChosen && String(options.isChosen(row));
      const chooser = element('button', { type: 'button', 'aria-pressed': pressed }, content);
      chooser.addEventListener('click', () => options.choose?.(row));
      cell.append(chooser);
    } else {
      cell.append(content);
    }
    return cell;
  });
  return element('tr', { class: options.isFaint?.(row) ? 'di-faint' : undefined }, ...cells);
}

/** A long name with its middle out of sight: names often differ at their ends. Whole on paper and for a search. */
function inMiddle(text: string, most: number): (Node | string)[] {
  const letters = [...text];
  if (letters.length <= most) return [text];
  const end = letters.splice(-Math.floor(most / 2)).join('');
  const start = letters.splice(0, most - Math.floor(most / 2) - 1).join('');
  return [start, element('span', { class: 'di-cut' }, letters.join('').slice(0, LONGEST)), end];
}

/**
 * Tab-separated text, as spreadsheets and issues take it; numbers unrounded in the unit of their column, and nothing
 * where there is none.
 */
export function asText(rows: TableRows, order: readonly number[]): string {
  const lines = [
    rows.columns.map(({ title, unit }) => asWords(unit ? `${title}, ${unit}` : title)).join('\t')
  ];
  for (const row of order) {
    const cells = rows.row(row).map((text, index) => {
      const value = rows.columns[index].numeric ? (rows.value?.(row, index) ?? text) : text;
      if (typeof value === 'string') return asWords(value);
      return Number.isFinite(value) ? value : '';
    });
    lines.push(cells.join('\t'));
  }
  return lines.join('\n');
}

/** A cell that spreadsheets take for what it says: neither for a formula nor for the beginning of several lines. */
function asWords(text: string): string {
  return text
    .replace(/[\t\r\n]+/g, ' ')
    .replace(/^\s*[=+@-]/, "'$&")
    .replace(/^".*/, quoted => `"${quoted.replaceAll('"', '""')}"`);
}
