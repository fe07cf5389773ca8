import { decodeMulti, decode as unpack } from '@msgpack/msgpack';

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

/** Unique text, UTF-8: row r is `data.subarray(offsets[r], offsets[r + 1])`. */
export interface TextValues {
  readonly kind: 'str';
  readonly offsets: Uint32Array;
  readonly data: Uint8Array;
}

export type Values = NumberValues | SymbolValues | TextValues;

/** A column as it stands in a batch; it is read when somebody asks for it, for many are never looked at. */
export interface PackedColumn {
  readonly kind: Values['kind'];
  /** Bytes it takes as it is. */
  readonly size: number;
  /** Throws `BatchError` if the bytes make no sense. */
  read(): Values;
}

export interface Batch {
  readonly table: string;
  readonly rows: number;
  /**
   * Where given, the columns belong to rows that are already there, from this
   * one on: a page gets columns that it can wait for after the others.
   */
  readonly from?: number;
  /** Columns of a kind that this version does not know are left out. */
  readonly columns: ReadonlyMap<string, PackedColumn>;
}

/** These bytes are not a batch; the message says why. */
export class BatchError extends Error {
  override readonly name = 'BatchError';
}

/** Stands for a missing moment: all bits set. */
const MISSING = -1;

/** Reads one batch. Throws `BatchError` if the bytes are not one. */
export function decode(bytes: Uint8Array): Batch {
  return guarded(() => read(unpack(bytes)));
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
  const packed = decodeMulti(bytes);
  for (;;) {
    const next = guarded(() => packed.next());
    if (next.done) return;
    yield guarded(() => read(next.value, copy));
  }
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
  const columns = new Map<string, PackedColumn>();
  const micros = new Map<string, Float64Array>();
  for (const item of listed) {
    const given = record(item, 'column');
    const name = String(given.name);
    const kind = kindOf(name, given, rows, packedTimes);
    if (kind === undefined) continue;
    const column = copy ? { ...given, data: (given.data as Uint8Array).slice() } : given;
    if (kind === 'time') packedTimes.set(name, column);
    const data = column.data as Uint8Array;
    const read = (): Values => {
      // What is read on the way to another column is kept for the whole batch, but not in memory for long.
      const known = copy ? new Map<string, Float64Array>() : micros;
      return guarded(() => readColumn(name, kind, { column, data, rows, packedTimes, micros: known }));
    };
    columns.set(name, { kind, size: data.length, read });
  }
  return isCount(map.from) ? { table, rows, from: map.from, columns } : { table, rows, columns };
}

const WIDTHS: Readonly<Record<string, number>> = { u8: 1, f32: 4, f64: 8, u32: 4 };

/** The kind of a column, undefined if it is unknown; what can be checked at no cost is checked here. */
function kindOf(
  name: string,
  column: Packed,
  rows: number,
  packedTimes: ReadonlyMap<string, Packed>
): Values['kind'] | undefined {
  const { data, kind } = column;
  if (!(data instanceof Uint8Array)) throw new BatchError(`column ${name} has no data`);
  switch (kind) {
    case 'u8':
    case 'f32':
    case 'f64':
    case 'u32':
      exactly(name, data, rows, WIDTHS[kind]);
      return kind;
    case 'time':
      exactly(name, data, rows, column.wide ? 8 : 4);
      if (column.since !== undefined && !packedTimes.has(String(column.since))) {
        throw new BatchError(
          `column ${name} refers to ${String(column.since)}, which does not stand before it`
        );
      }
      return kind;
    case 'sym':
      exactly(name, data, rows, column.width === 1 || column.width === 2 ? column.width : 4);
      if (!Array.isArray(column.symbols)) throw new BatchError(`column ${name} has no symbols`);
      return kind;
    case 'str':
      if (data.length < 4 * rows) throw new BatchError(`column ${name}: lengths are cut off`);
      return kind;
    default:
      return undefined;
  }
}

type Packed = Readonly<Record<string, unknown>>;

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
  readonly micros: Map<string, Float64Array>;
}

function readColumn(name: string, kind: Values['kind'], place: Place): Values {
  const { column, data, rows } = place;
  switch (kind) {
    case 'u8':
      return { kind, values: data.slice() };
    case 'f32':
      return { kind, values: new Float32Array(joined(name, data, rows, 4).buffer) };
    case 'f64':
      return { kind, values: new Float64Array(joined(name, data, rows, 8).buffer) };
    case 'u32':
      return { kind, values: summed(planes32(name, data, rows)) };
    case 'time':
      return { kind, values: seconds(microsOf(name, place)) };
    case 'sym':
      return readSymbols(name, column, data, rows);
    case 'str':
      return readTexts(name, data, rows);
  }
}

function exactly(name: string, data: Uint8Array, rows: number, width: number): Uint8Array {
  if (data.length !== rows * width) {
    throw new BatchError(
      `column ${name}: ${data.length} bytes where ${rows} rows of ${width} were announced`
    );
  }
  return data;
}

/** Undoes byte planes: all first bytes, then all second bytes, … */
function joined(name: string, data: Uint8Array, rows: number, width: number): Uint8Array<ArrayBuffer> {
  exactly(name, data, rows, width);
  const out = new Uint8Array(data.length);
  for (let plane = 0; plane < width; plane++) {
    const from = plane * rows;
    for (let row = 0, to = plane; row < rows; row++, to += width) out[to] = data[from + row];
  }
  return out;
}

function planes32(name: string, data: Uint8Array, rows: number): Uint32Array {
  exactly(name, data, rows, 4);
  const out = new Uint32Array(rows);
  const second = rows;
  const third = 2 * rows;
  const fourth = 3 * rows;
  for (let row = 0; row < rows; row++) {
    out[row] = data[row] | (data[second + row] << 8) | (data[third + row] << 16) | (data[fourth + row] << 24);
  }
  return out;
}

/** Zigzag differences to values, in place. */
function summed(codes: Uint32Array): Uint32Array {
  let total = 0;
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row];
    total = (total + ((code >>> 1) ^ -(code & 1))) | 0;
    codes[row] = total;
  }
  return codes;
}

/** A time column in microseconds since the epoch. */
function microsOf(name: string, place: Place): Float64Array {
  const known = place.micros.get(name);
  if (known) return known;
  const { rows, packedTimes } = place;
  const column = packedTimes.get(name) as Packed;
  const data = column.data as Uint8Array;
  const base = Number(column.base);
  const exact = column.wide
    ? new Float64Array(joined(name, data, rows, 8).buffer)
    : zigzagSteps(name, data, rows);
  const unit = Number(column.unit ?? 1);
  if (unit !== 1) for (let row = 0; row < rows; row++) exact[row] *= unit;
  if (column.since === undefined) {
    let last = base;
    for (let row = 0; row < rows; row++) {
      const step = exact[row];
      if (Number.isNaN(step)) continue;
      last += step;
      exact[row] = last;
    }
  } else {
    const other = microsOf(String(column.since), place);
    for (let row = 0; row < rows; row++) {
      const reference = other[row];
      exact[row] += Number.isNaN(reference) ? base : reference;
    }
  }
  place.micros.set(name, exact);
  return exact;
}

function zigzagSteps(name: string, data: Uint8Array, rows: number): Float64Array<ArrayBuffer> {
  exactly(name, data, rows, 4);
  const steps = new Float64Array(rows);
  for (let row = 0, b = rows, c = 2 * rows, d = 3 * rows; row < rows; row++, b++, c++, d++) {
    const code = data[row] | (data[b] << 8) | (data[c] << 16) | (data[d] << 24);
    steps[row] = code === MISSING ? Number.NaN : (code >>> 1) ^ -(code & 1);
  }
  return steps;
}

function seconds(micros: Float64Array): Float64Array {
  const values = new Float64Array(micros.length);
  for (let row = 0; row < values.length; row++) values[row] = micros[row] / 1e6;
  return values;
}

function readSymbols(name: string, column: Packed, data: Uint8Array, rows: number): SymbolValues {
  const symbols = column.symbols as unknown[];
  const width = column.width;
  const codes =
    width === 1
      ? exactly(name, data, rows, 1).slice()
      : width === 2
        ? new Uint16Array(joined(name, data, rows, 2).buffer)
        : planes32(name, data, rows);
  for (let row = 0; row < rows; row++) {
    if (codes[row] >= symbols.length) throw new BatchError(`column ${name}: a code without a symbol`);
  }
  return { kind: 'sym', codes, names: symbols.map(String) };
}

function readTexts(name: string, data: Uint8Array, rows: number): TextValues {
  const lengths = planes32(name, data.subarray(0, 4 * rows), rows);
  const offsets = new Uint32Array(rows + 1);
  let total = 0;
  for (let row = 0; row < rows; row++) {
    total += lengths[row];
    offsets[row + 1] = total;
  }
  if (total !== data.length - 4 * rows) throw new BatchError(`column ${name}: texts do not fill their bytes`);
  // Text that is most of its buffer may keep it; a copy of the rest lets the buffer go.
  const texts = 2 * total > data.buffer.byteLength ? data.subarray(4 * rows) : data.slice(4 * rows);
  return { kind: 'str', offsets, data: texts };
}
