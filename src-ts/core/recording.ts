import { append } from './append';
import { type Batch, BatchError, type NumberArray, type PackedColumn, type Values } from './batch';
import { interned, NumberColumn, SymbolColumn, TextColumn } from './columns';
import { editionOf, WORKED_OUT } from './editions';
import { type ColumnOf, EXTENT, type Kind, type RowOf, TABLES, type TableName } from './schema';
import type { TimeRange } from './selection';

/** Calls back no more once it has been called. */
export type Stop = () => void;

type Column = NumberColumn | SymbolColumn | TextColumn;

function emptyColumn(kind: Kind): Column {
  if (kind === 'sym') return new SymbolColumn();
  if (kind === 'str') return new TextColumn();
  return new NumberColumn(kind);
}

/** A column of repeated text: `names[codes[row]]`. Codes are the table's own. */
export interface Symbols {
  readonly codes: Uint32Array;
  readonly names: readonly string[];
  /** The code of a text, or -1. */
  find(name: string): number;
}

/** Pieces of a column that wait for a reader: of more than these, where they have few rows, all are read. */
const MOST_WAITING = 64;
const FEW_ROWS = 1000 * MOST_WAITING;

/**
 * One table. What is handed out is a view: valid until the next append, and
 * never to be written to. A column that was not recorded reads as missing
 * (NaN, 0, '').
 */
export class Table<T extends TableName = TableName> {
  rows = 0;
  /** Grows when further columns come of rows that were there before. */
  late = 0;
  /** Of a table that is worked out: which edition of it this is. */
  edition = 0;
  private readonly columns = new Map<string, Column>();
  /** Columns of batches that nobody has asked for yet, and the row at which they begin. */
  private readonly waiting = new Map<string, { readonly from: number; readonly packed: PackedColumn }[]>();

  /** Rows of each column that were recorded, not padded. */
  private readonly filled = new Map<string, number>();
  /** Columns that are being read, so that those of a damaged batch do not wait for each other. */
  private readonly reading = new Set<string>();

  /** `damaged` hears in words of each column of a batch that cannot be read. */
  constructor(
    readonly name: T,
    private readonly damaged?: (words: string) => void
  ) {}

  /** False where no batch had this column, so that a panel can say so. */
  has(column: ColumnOf<T>): boolean {
    return this.columns.has(column as string);
  }

  numbers(column: ColumnOf<T, 'f64' | 'f32' | 'u32' | 'u8'>): NumberArray {
    return (this.column(column as string) as NumberColumn).view();
  }

  /** Seconds since the Unix epoch, NaN where missing. */
  times(column: ColumnOf<T, 'time'>): Float64Array {
    return (this.column(column as string) as NumberColumn).view() as Float64Array;
  }

  symbols(column: ColumnOf<T, 'sym'>): Symbols {
    const found = this.column(column as string) as SymbolColumn;
    return { codes: found.view(), names: found.names, find: name => found.find(name) };
  }

  /** The text of one row, of a column of repeated or of unique text. */
  text(column: ColumnOf<T, 'str' | 'sym'>, row: number): string {
    const found = this.column(column as string);
    return found instanceof NumberColumn ? '' : found.text(row);
  }

  /** All rows, each by column; for tables of few rows. */
  all(): RowOf<T>[] {
    const cells = Object.keys(kindsOf(this.name)).map(name => {
      const column = this.column(name);
      if (!(column instanceof NumberColumn)) return (row: number) => [name, column.text(row)];
      const values = column.view();
      return (row: number) => [name, values[row]];
    });
    return Array.from({ length: this.rows }, (_, row) => Object.fromEntries(cells.map(cell => cell(row))));
  }

  /** The last row of each value that a column has, in the order in which the values first came; for tables of few rows. */
  newest<C extends ColumnOf<T>>(column: C): Map<RowOf<T>[C], RowOf<T>> {
    return new Map(this.all().map(row => [row[column], row]));
  }

  append(batch: Batch): void {
    const kinds = kindsOf(this.name);
    const from = batch.from ?? this.rows;
    if (from < this.rows) this.late++;
    this.rows = Math.max(this.rows, from + batch.rows);
    for (const [name, packed] of batch.columns) {
      const kind = kinds[name];
      // What is known to repeat was once kept as if it did not.
      if (!kind || (kind !== packed.kind && (kind !== 'sym' || packed.kind !== 'str'))) continue;
      append(this.waiting, name, { from, packed });
      if (!this.columns.has(name)) this.columns.set(name, emptyColumn(kind));
      // Small pieces take far more memory than what they hold.
      const before = this.waiting.get(name)?.at(-MOST_WAITING - 1);
      if (before && from - before.from < FEW_ROWS) this.column(name);
    }
  }

  /** Rows of another edition come in place of those that are there. */
  renew(edition: number): void {
    this.edition = edition;
    this.rows = 0;
    this.late++;
    this.columns.clear();
    this.waiting.clear();
    this.filled.clear();
  }

  private column(name: string): Column {
    const kind = kindsOf(this.name)[name];
    if (!kind) throw new Error(`table ${this.name} has no column ${name}`);
    const column = this.columns.get(name) ?? emptyColumn(kind);
    const waiting = this.waiting.get(name);
    if (waiting) column.reserve(this.rows);
    for (const { from, packed } of waiting ?? []) {
      // What was read as missing for lack of this makes way for it.
      column.cut(this.filled.get(name) ?? 0);
      column.pad(from);
      const values = this.read(name, packed, from, column);
      if (values) add(column, values);
      this.filled.set(name, column.length);
    }
    this.waiting.delete(name);
    column.pad(this.rows);
    return column;
  }

  /** Reads a column; what is damaged is missing, and named. */
  private read(name: string, packed: PackedColumn, from: number, column: Column): Values | undefined {
    const room = column instanceof NumberColumn ? (length: number) => column.room(length) : undefined;
    this.reading.add(name);
    try {
      if (from < column.length) throw new BatchError(`rows from ${from} came twice`);
      return packed.read(other => this.earlier(other, from), room);
    } catch (error) {
      if (!(error instanceof BatchError)) throw error;
      this.damaged?.(`${this.name}.${name}: ${error.message}`);
      return undefined;
    } finally {
      this.reading.delete(name);
    }
  }

  /** A time column from a row on, for one that came later and refers to it. */
  private earlier(name: string, from: number): Float64Array | undefined {
    if (kindsOf(this.name)[name] !== 'time' || !this.columns.has(name) || this.reading.has(name)) return;
    return (this.column(name) as NumberColumn).view().subarray(from) as Float64Array;
  }
}

/** Adds values of a kind that the column takes: `Table.append` lets in no others. */
function add(column: Column, values: Values): void {
  if (column instanceof SymbolColumn && values.kind === 'str') column.append(interned(values));
  else column.append(('values' in values ? values.values : values) as never);
}

function kindsOf(table: TableName): Readonly<Record<string, Kind | undefined>> {
  return TABLES[table];
}

/** Rows `from` up to `to` of one table have just arrived, or further columns of them. */
export interface Arrival {
  readonly table: TableName;
  readonly from: number;
  readonly to: number;
  /** The rows were there; these are further columns of them. */
  readonly late?: boolean;
}

/** A recording in the page: batches go in, columns come out. */
export class Recording {
  private tables = new Map<TableName, Table>();
  private readonly callbacks = new Set<(arrival: Arrival) => void>();
  private readonly replaceCallbacks = new Set<(other: Recording) => void>();
  private facts = new Map<string, unknown>();
  private replaced = 0;
  private cutShort = false;
  private first = Number.POSITIVE_INFINITY;
  private last = Number.NEGATIVE_INFINITY;
  /** The first row of each table whose times have not been looked at. */
  private readonly unseen = new Map<TableName, number>();

  /** `damaged` hears in words of each column that cannot be read, when somebody asks for it. */
  constructor(private readonly damaged?: (words: string) => void) {}

  take(batch: Batch): void {
    if (!Object.hasOwn(TABLES, batch.table)) return;
    const name = batch.table as TableName;
    const table = this.table(name);
    if (WORKED_OUT.includes(name)) {
      const edition = editionOf(batch) ?? table.edition;
      if (batch.rows > 0 && edition < table.edition) return;
      // Without rows it says that there are none any more.
      if (batch.rows === 0 || edition > table.edition) table.renew(Math.max(edition, table.edition));
    }
    const from = batch.from ?? table.rows;
    // Rows whose first columns never came are none: who says so far too many would have room made for them.
    if (from > table.rows) return;
    const late = from < table.rows;
    table.append(batch);
    if (name === 'about') this.readFacts(from);
    if (EXTENT[name]) this.unseen.set(name, Math.min(from, this.unseen.get(name) ?? from));
    const arrival = { table: name, from, to: from + batch.rows, late };
    for (const callback of [...this.callbacks]) callback(arrival);
  }

  /** Parts of what was announced are damaged and will not come: what is there is all. */
  get isCut(): boolean {
    return this.cutShort;
  }

  /** Nothing more comes, though more was announced; those who wait hear of it as of rows of `about`. */
  cut(): void {
    this.cutShort = true;
    const { rows } = this.table('about');
    for (const callback of [...this.callbacks]) callback({ table: 'about', from: rows, to: rows });
  }

  /** The table, empty if nothing of it has arrived. */
  table<T extends TableName>(name: T): Table<T> {
    let table = this.tables.get(name);
    if (!table) {
      table = new Table<TableName>(name, this.damaged);
      this.tables.set(name, table);
    }
    return table as unknown as Table<T>;
  }

  /** Grows each time `replace` puts other rows in place of all that were there. */
  get generation(): number {
    return this.replaced;
  }

  /** Changes whenever rows of these tables arrive or are replaced: a key for what was made from them. */
  state(...tables: readonly TableName[]): string {
    return [this.past(...tables), ...tables.map(name => this.table(name).rows)].join();
  }

  /** Changes only where rows of these tables that were there have become others: what was made of them is void. */
  past(...tables: readonly TableName[]): string {
    return [this.replaced, ...tables.map(name => this.table(name).late)].join();
  }

  /**
   * Takes over all that another recording holds, in place of its own; the other is not to be used
   * afterwards. Those who follow hear of it through `onReplace`, not through `onAppend`.
   */
  replace(other: Recording): void {
    this.tables = other.tables;
    this.facts = other.facts;
    other.extend();
    this.first = other.first;
    this.last = other.last;
    this.unseen.clear();
    this.replaced++;
    for (const callback of [...this.replaceCallbacks]) callback(other);
  }

  /** A fact about the recording as a whole (table `about`), or undefined. */
  about(name: string): unknown {
    return this.facts.get(name);
  }

  /** Whether nothing more happens: it was stopped, or is of a report, which tells its signs ahead; if killed, too. */
  get hasEnded(): boolean {
    return this.facts.has('stopped') || this.facts.has('signs');
  }

  /** When the recording's time begins, seconds since the epoch; 0 while nothing is known. */
  get origin(): number {
    this.extend();
    const started = this.facts.get('started');
    const origin = Math.min(Number.isFinite(started) ? (started as number) : this.first, this.first);
    return Number.isFinite(origin) ? origin : 0;
  }

  /** From when to when it was cut out of a run, seconds since the epoch; infinite where it was not. */
  get part(): TimeRange {
    const told = (name: string, otherwise: number): number => {
      const moment = this.facts.get(name);
      return Number.isFinite(moment) ? (moment as number) : otherwise;
    };
    return { start: told('since', Number.NEGATIVE_INFINITY), stop: told('until', Number.POSITIVE_INFINITY) };
  }

  /** When its first row is from; `origin` may be long before. Never before `origin`, nor before `part`. */
  get begin(): number {
    const { origin } = this;
    return Math.max(origin, Number.isFinite(this.first) ? this.first : 0, this.part.start);
  }

  /**
   * When it ends, or has come to by now, seconds since the epoch; never before `origin`. What began in a part of a run
   * and ended after it does not count.
   */
  get end(): number {
    const { origin } = this;
    return Math.max(Math.min(this.last, this.part.stop), origin);
  }

  /** Tells of every batch that arrives from now on. */
  onAppend(callback: (arrival: Arrival) => void): Stop {
    this.callbacks.add(callback);
    return () => this.callbacks.delete(callback);
  }

  /** Tells when all rows have become those of another recording. */
  onReplace(callback: (other: Recording) => void): Stop {
    this.replaceCallbacks.add(callback);
    return () => this.replaceCallbacks.delete(callback);
  }

  private readFacts(from: number): void {
    const table = this.table('about');
    for (let row = from; row < table.rows; row++) {
      const text = table.text('value', row);
      try {
        this.facts.set(table.text('name', row), JSON.parse(text));
      } catch {
        this.facts.set(table.text('name', row), text);
      }
    }
  }

  /** Looks at the times of what has arrived; only when somebody asks, since columns are then read in one go. */
  private extend(): void {
    const told = this.toldExtent();
    if (told) [this.first, this.last] = told;
    else for (const [name, from] of this.unseen) this.lookAt(name, from);
    this.unseen.clear();
  }

  private lookAt(name: TableName, from: number): void {
    // All columns named in `EXTENT` are times, which the type of a table in general cannot say.
    const table = this.table(name) as unknown as Table<'resources'>;
    for (const column of (EXTENT[name] ?? []) as readonly 'time'[]) {
      if (!table.has(column)) continue;
      const times = table.times(column);
      for (let row = from; row < times.length; row++) {
        const time = times[row];
        if (time < this.first) this.first = time;
        if (time > this.last) this.last = time;
      }
    }
  }

  /** First and last moment of a recording that says so: a report does, whose rows then need not be looked at. */
  private toldExtent(): readonly [first: number, last: number] | undefined {
    const told = this.facts.get('extent');
    if (!Array.isArray(told) || told.length !== 2 || !told.every(Number.isFinite)) return undefined;
    const [first, last] = told as [number, number];
    return first <= last ? [first, last] : undefined;
  }
}
