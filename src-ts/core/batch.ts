import { BatchError } from './batch-error';
import { Unpacker } from './msgpack';
import { exactly, join, join32, joinTimes, pickFew, summed } from './planes';
import { numberedTexts, plainTexts, type Texts } from './texts';

export { BatchError } from './batch-error';

/**
 * Reads batches: some rows of one table, by column. The format is described in
 * `dask_insight/batch/`, which writes them.
 */

export type NumberArray = Float64Array | Float32Array | Uint32Array | Uint8Array;

/** Numbers; times are seconds since the Unix epoch, NaN where missing. */
export interface NumberValues {
  readonly kind: 'f64' | 'f32' | 'u32' | 'u8' | 'time';
  readonly values: NumberArray;
}

/** Repeated text: `names[codes[row]]`. */
export interface SymbolValues {
  readonly kind: 'sym';
  readonly codes: Uint8Array | Uint16Array | Uint32Array;
  readonly names: readonly string[];
}

/** Unique text. */
export interface TextValues extends Texts {
  readonly kind: 'str';
}

export type Values = NumberValues | SymbolValues | TextValues;

/** Seconds of a time column that came of the same rows with an earlier batch; undefined where none did. */
export type Earlier = (column: string) => Float64Array | undefined;

/** A column as it stands in a batch; it is read when somebody asks for it, for many are never looked at. */
export interface PackedColumn {
  readonly kind: Values['kind'];
  /** Bytes it takes as it is. */
  readonly size: number;
  /** Numbers are put into `room` where that is given and fits. Throws `BatchError` if the bytes make no sense. */
  read(earlier?: Earlier, room?: Room): Values;
}

/** A place for so many numbers. */
export type Room = (length: number) => NumberArray;

export interface Batch {
  readonly table: string;
  readonly rows: number;
  /**
   * Where given, the columns belong to rows that are already there, from this
   * one on: a page gets columns that it can wait for after the others. Their times
   * may refer to those that are there.
   */
  readonly from?: number;
  /** Columns of a kind that this version does not know are left out. */
  readonly columns: ReadonlyMap<string, PackedColumn>;
}

/** Reads one batch. Throws `BatchError` if the bytes are not one. */
export function decode(bytes: Uint8Array): Batch {
  return guarded(() => {
    const packed = new Unpacker(bytes);
    const batch = read(packed.next());
    if (!packed.ended) throw new BatchError('not a batch: something stands behind it');
    return batch;
  });
}

/**
 * Reads batches that stand one after another, one at each step, so that a caller can pause.
 *
 * Columns refer to the bytes until they are read. With `copy` each has bytes of its own, so that
 * one column that nobody asks for does not keep a whole message in memory.
 */
export function* decodeAll(
  bytes: Uint8Array,
  { copy = false }: { readonly copy?: boolean } = {}
): Generator<Batch, void, void> {
  const packed = new Unpacker(bytes);
  while (!packed.ended) yield guarded(() => read(packed.next(), copy));
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof BatchError) throw error;
    throw new BatchError(`not a batch: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function read(packed: unknown, copy = false): Batch {
  const map = record(packed, 'batch');
  const table = map.table;
  const rows = map.rows;
  const listed = map.columns;
  if (typeof table !== 'string' || !isCount(rows) || !Array.isArray(listed)) {
    throw new BatchError('not a batch: table, rows or columns missing');
  }
  const packedTimes = new Map<string, Packed>();
  const referred = new Set<string>();
  const symbols = new Map<string, Packed>();
  const columns = new Map<string, PackedColumn>();
  const micros = new Map<string, Float64Array>();
  const isLate = isCount(map.from);
  let size = 0;
  for (const item of listed) {
    const given = record(item, 'column');
    const name = String(given.name);
    const kind = kindOf(name, given, rows, isLate ? undefined : packedTimes);
    size += (given.data as Uint8Array).length;
    if (kind === undefined) continue;
    const column = copy ? { ...given, data: (given.data as Uint8Array).slice() } : given;
    if (kind === 'sym') symbols.set(name, column);
    if (kind === 'time') {
      packedTimes.set(name, column);
      if (column.since !== undefined) referred.add(String(column.since));
    }
    const data = column.data as Uint8Array;
    const read = (earlier?: Earlier, room: Room = length => roomOf(kind, length)): Values => {
      // What is read on the way to another column is kept for the whole batch, but not in memory for long.
      const known = copy ? new Map<string, Float64Array>() : micros;
      const place = { column, data, rows, packedTimes, referred, symbols, micros: known, earlier, room };
      return guarded(() => readColumn(name, kind, place));
    };
    columns.set(name, { kind, size: data.length, read });
  }
  // Who asks for a column that is not there gets room for as many rows.
  if (rows > size) throw new BatchError(`${rows} rows in ${size} bytes`);
  return { table, rows, columns, ...(isLate && { from: map.from as number }) };
}

const WIDTHS: Readonly<Record<string, number>> = { u8: 1, f32: 4, f64: 8 };

/** A new array for so many numbers of a kind. */
export function roomOf(kind: Values['kind'], length: number): NumberArray {
  if (kind === 'u8') return new Uint8Array(length);
  if (kind === 'u32') return new Uint32Array(length);
  return kind === 'f32' ? new Float32Array(length) : new Float64Array(length);
}

/**
 * The kind of a column, undefined if it is unknown; what can be checked at no cost is checked here.
 * Without `packedTimes`, what a time refers to may have come with another batch.
 */
function kindOf(
  name: string,
  column: Packed,
  rows: number,
  packedTimes: ReadonlyMap<string, Packed> | undefined
): Values['kind'] | undefined {
  const { data, kind } = column;
  if (!(data instanceof Uint8Array)) throw new BatchError(`column ${name} has no data`);
  switch (kind) {
    case 'u8':
    case 'f32':
    case 'f64':
      exactly(name, data, rows, column.few === undefined ? WIDTHS[kind] : 1);
      return kind;
    case 'u32':
      exactly(name, data, rows, planesOf(column));
      return kind;
    case 'time':
      exactly(name, data, rows, column.wide ? 8 : planesOf(column));
      if (column.since !== undefined && packedTimes?.has(String(column.since)) === false) {
        throw toNothing(name, column);
      }
      return kind;
    case 'sym':
      exactly(name, data, rows, widthOf(column));
      if (!Array.isArray(column.symbols)) throw new BatchError(`column ${name} has no symbols`);
      return kind;
    case 'str':
      if (column.forms !== undefined) exactly(name, data, rows, widthOf(column));
      else if (data.length < 4 * rows) throw new BatchError(`column ${name}: lengths are cut off`);
      return kind;
    default:
      return undefined;
  }
}

type Packed = Readonly<Record<string, unknown>>;

/** Bytes of a code. */
function widthOf({ width }: Packed): 1 | 2 | 4 {
  return width === 1 || width === 2 ? width : 4;
}

/** How many of the four bytes of its numbers a column has. */
function planesOf({ planes = 4 }: Packed): number {
  if (planes === 1 || planes === 2 || planes === 3 || planes === 4) return planes;
  throw new BatchError(`a number of ${String(planes)} planes`);
}

function toNothing(name: string, { since }: Packed): BatchError {
  return new BatchError(`column ${name} refers to ${String(since)}, which does not stand before it`);
}

function record(value: unknown, what: string): Packed {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BatchError(`not a batch: ${what} is not a map`);
  }
  return value as Packed;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32;
}

interface Place {
  readonly column: Packed;
  readonly data: Uint8Array;
  readonly rows: number;
  /** The batch's time columns, which refer to each other, and those of them that have been read, in microseconds. */
  readonly packedTimes: ReadonlyMap<string, Packed>;
  readonly referred: ReadonlySet<string>;
  /** Its columns of repeated text, which texts may refer to. */
  readonly symbols: ReadonlyMap<string, Packed>;
  readonly micros: Map<string, Float64Array>;
  readonly earlier: Earlier | undefined;
  readonly room: Room;
}

function readColumn(name: string, kind: Values['kind'], place: Place): Values {
  const { column, data, rows, room } = place;
  switch (kind) {
    case 'u8':
    case 'f32':
    case 'f64': {
      const values = room(rows);
      if (column.few === undefined) join(name, data, rows, values);
      else pickFew(name, column.few, data, values as Float64Array);
      return { kind, values };
    }
    case 'u32':
      return { kind, values: summed(join32(name, data, planesOf(column), room(rows) as Uint32Array)) };
    case 'time':
      return { kind, values: readSeconds(name, place) };
    case 'sym':
      return readSymbols(name, column, data, rows);
    case 'str':
      return readTexts(name, place);
  }
}

/** A time column in microseconds since the epoch, kept for others that refer to it. */
function microsOf(name: string, place: Place): Float64Array {
  let known = place.micros.get(name);
  if (!known) {
    known = new Float64Array(place.rows);
    readTimes(name, place, known, 1);
    place.micros.set(name, known);
  }
  return known;
}

/** Reads a time column in units of so many microseconds. */
function readTimes(name: string, place: Place, times: Float64Array, scale: number): void {
  const column = place.packedTimes.get(name) as Packed;
  const form = {
    data: column.data as Uint8Array,
    planes: column.wide ? 8 : planesOf(column),
    base: Number(column.base),
    unit: Number(column.unit ?? 1),
    reference: column.since === undefined ? undefined : referenceOf(name, column, place)
  };
  joinTimes(name, form, times, scale);
}

/** The times that a column counts from, microseconds. */
function referenceOf(name: string, column: Packed, place: Place): Float64Array {
  const since = String(column.since);
  if (place.packedTimes.has(since)) return microsOf(since, place);
  const earlier = place.earlier?.(since);
  if (!earlier || earlier.length < place.rows) throw toNothing(name, column);
  return earlier.map(time => Math.round(time * 1e6));
}

function readSeconds(name: string, place: Place): Float64Array {
  const values = place.room(place.rows) as Float64Array;
  if (!place.referred.has(name)) {
    readTimes(name, place, values, 1e6);
    return values;
  }
  const micros = microsOf(name, place);
  for (let row = 0; row < values.length; row++) values[row] = micros[row] / 1e6;
  return values;
}

function readSymbols(name: string, column: Packed, data: Uint8Array, rows: number): SymbolValues {
  const symbols = column.symbols as unknown[];
  const codes = codesOf(name, column, data, rows);
  for (let row = 0; row < rows; row++) {
    if (codes[row] >= symbols.length) throw new BatchError(`column ${name}: a code without a symbol`);
  }
  return { kind: 'sym', codes, names: symbols.map(String) };
}

function codesOf(
  name: string,
  column: Packed,
  data: Uint8Array,
  rows: number
): Uint8Array | Uint16Array | Uint32Array {
  const width = widthOf(column);
  if (width === 1) return exactly(name, data, rows, 1);
  if (width === 4) return join32(name, data, 4, new Uint32Array(rows));
  const codes = new Uint16Array(rows);
  join(name, data, rows, codes);
  return codes;
}

function readTexts(name: string, { column, data, rows, symbols }: Place): TextValues {
  if (Array.isArray(column.forms)) return { kind: 'str', ...readForms(name, column, data, rows, symbols) };
  const lengths = join32(name, data.subarray(0, 4 * rows), 4, new Uint32Array(rows));
  const offsets = new Uint32Array(rows + 1);
  let total = 0;
  for (let row = 0; row < rows; row++) {
    total += lengths[row];
    offsets[row + 1] = total;
  }
  if (total !== data.length - 4 * rows) throw new BatchError(`column ${name}: texts do not fill their bytes`);
  // Text that is most of its buffer may keep it; a copy of the rest lets the buffer go.
  const texts = 2 * total > data.buffer.byteLength ? data.subarray(4 * rows) : data.slice(4 * rows);
  return { kind: 'str', ...plainTexts(offsets, texts) };
}

function readForms(
  name: string,
  column: Packed,
  data: Uint8Array,
  rows: number,
  symbols: ReadonlyMap<string, Packed>
): Texts {
  const list = (value: unknown): readonly unknown[] => {
    if (!Array.isArray(value)) throw new BatchError(`column ${name}: not a list`);
    return value;
  };
  const forms = list(column.forms).map(form => list(form).map(String));
  const numbers = list(column.numbers).map(each => {
    const number = record(each, 'number');
    if (!(number.data instanceof Uint8Array)) throw new BatchError(`column ${name}: numbers without data`);
    return { planes: planesOf(number), data: number.data, alike: number.alike === true };
  });
  const codes = codesOf(name, column, data, rows);
  if (column.within === undefined) return numberedTexts(name, { forms, codes, group: undefined, numbers });
  const followed = symbols.get(String(column.since));
  if (!followed) throw toNothing(name, column);
  const within = list(column.within).map(each => list(each).map(Number));
  const group = { codes: codesOf(name, followed, followed.data as Uint8Array, rows), within };
  return numberedTexts(name, { forms, codes, group, numbers });
}
