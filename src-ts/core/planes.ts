import { BatchError } from './batch-error';

/**
 * Numbers as they stand in the bytes of a batch: as planes (all first bytes, then all second
 * bytes, …) and as differences; `dask_insight/batch/` says which.
 */

type Floats = Float32Array | Float64Array;

/** Stands for a missing moment: all bits set. */
const MISSING = -1;

/** The bytes of a column, if they are as many as its rows need. */
export function exactly(name: string, data: Uint8Array, rows: number, width: number): Uint8Array {
  if (data.length !== rows * width) {
    throw new BatchError(
      `column ${name}: ${data.length} bytes where ${rows} rows of ${width} were announced`
    );
  }
  return data;
}

/** Puts planes together, as numbers of the width that `into` has. */
export function join(name: string, data: Uint8Array, rows: number, into: ArrayBufferView): void {
  const width = into.byteLength / Math.max(1, rows);
  exactly(name, data, rows, width);
  const out = new Uint8Array(into.buffer, into.byteOffset, into.byteLength);
  for (let plane = 0; plane < width; plane++) {
    const from = plane * rows;
    for (let row = 0, to = plane; row < rows; row++, to += width) out[to] = data[from + row];
  }
}

/** The same for numbers of four bytes, of which the low `planes` are there and the others are zero. */
export function join32(name: string, data: Uint8Array, planes: number, into: Uint32Array): Uint32Array {
  const rows = into.length;
  exactly(name, data, rows, planes);
  into.set(data.subarray(0, rows));
  if (planes === 1) return into;
  for (let row = 0, b = rows, c = 2 * rows, d = 3 * rows; row < rows; row++) {
    let code = into[row] | (data[b++] << 8);
    if (planes > 2) code |= data[c++] << 16;
    if (planes > 3) code |= data[d++] << 24;
    into[row] = code;
  }
  return into;
}

/** Floats of which there are few different ones, `few`, by the code of each row. */
export function pickFew(name: string, few: unknown, codes: Uint8Array, into: Floats): void {
  if (!(few instanceof Uint8Array)) throw new BatchError(`column ${name}: codes without numbers`);
  const bytes = few.slice().buffer;
  const width = into.BYTES_PER_ELEMENT;
  if (few.length % width > 0) throw new BatchError(`column ${name}: half a number`);
  const values = width === 4 ? new Float32Array(bytes) : new Float64Array(bytes);
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row];
    if (code >= values.length) throw new BatchError(`column ${name}: a code without a number`);
    into[row] = values[code];
  }
}

/** Zigzag differences to values, in place. */
export function summed(codes: Uint32Array): Uint32Array {
  let total = 0;
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row];
    total = (total + ((code >>> 1) ^ -(code & 1))) | 0;
    codes[row] = total;
  }
  return codes;
}

/** How a column of times is to be read. */
export interface TimeForm {
  readonly data: Uint8Array;
  /** The low planes of four that are there; 8 for differences as doubles. */
  readonly planes: number;
  /** Microseconds since the epoch, and in a difference. */
  readonly base: number;
  readonly unit: number;
  /** What the times count from, microseconds; without it each counts from the one before. */
  readonly reference: Float64Array | undefined;
}

/** Reads times in units of so many microseconds. */
export function joinTimes(
  name: string,
  { data, planes, base, unit, reference }: TimeForm,
  times: Float64Array,
  scale: number
): void {
  const rows = times.length;
  const isWide = planes === 8;
  if (isWide) join(name, data, rows, times);
  else exactly(name, data, rows, planes);
  let last = base;
  for (let row = 0, b = rows, c = 2 * rows, d = 3 * rows; row < rows; row++) {
    let step = times[row];
    if (!isWide) {
      let code = data[row];
      if (planes > 1) code |= data[b++] << 8;
      if (planes > 2) code |= data[c++] << 16;
      if (planes > 3) code |= data[d++] << 24;
      step = code === MISSING ? Number.NaN : (code >>> 1) ^ -(code & 1);
    }
    step *= unit;
    if (reference) {
      const since = reference[row];
      times[row] = (step + (Number.isNaN(since) ? base : since)) / scale;
    } else {
      const next = last + step;
      if (!Number.isNaN(step)) last = next;
      times[row] = next / scale;
    }
  }
}
