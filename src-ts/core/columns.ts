import type { NumberArray, NumberValues, SymbolValues, TextValues } from './batch';

/** Columns that grow as batches arrive. Views are valid until the next append. */

type NumberKind = NumberValues['kind'];

const MAKERS: Record<NumberKind, (length: number) => NumberArray> = {
  f64: length => new Float64Array(length),
  time: length => new Float64Array(length),
  f32: length => new Float32Array(length),
  u32: length => new Uint32Array(length),
  u8: length => new Uint8Array(length)
};

function grown<T extends NumberArray>(array: T, needed: number, make: (length: number) => T): T {
  if (needed <= array.length) return array;
  const larger = make(Math.max(needed, array.length * 2, 256));
  larger.set(array);
  return larger;
}

export class NumberColumn {
  private array: NumberArray;
  length = 0;
  private readonly make: (length: number) => NumberArray;
  private readonly missing: number;

  constructor(kind: NumberKind) {
    this.make = MAKERS[kind];
    this.missing = kind === 'u32' || kind === 'u8' ? 0 : Number.NaN;
    this.array = this.make(0);
  }

  /** Makes room for this many rows. */
  reserve(length: number): void {
    this.array = grown(this.array, length, this.make);
  }

  append(values: NumberArray): void {
    this.reserve(this.length + values.length);
    this.array.set(values, this.length);
    this.length += values.length;
  }

  /** Makes the column `length` long; rows that it did not have are missing. */
  pad(length: number): void {
    if (length <= this.length) return;
    this.array = grown(this.array, length, this.make);
    this.array.fill(this.missing, this.length, length);
    this.length = length;
  }

  /** Takes rows off the end. */
  cut(length: number): void {
    this.length = Math.min(this.length, length);
  }

  view(): NumberArray {
    return this.array.subarray(0, this.length);
  }
}

export class SymbolColumn {
  readonly names: string[] = [];
  private readonly known = new Map<string, number>();
  private array = new Uint32Array(0);
  length = 0;

  /** The code of a text, or -1. */
  find(name: string): number {
    return this.known.get(name) ?? -1;
  }

  private code(name: string): number {
    let code = this.known.get(name);
    if (code === undefined) {
      code = this.names.length;
      this.names.push(name);
      this.known.set(name, code);
    }
    return code;
  }

  /** Makes room for this many rows. */
  reserve(length: number): void {
    this.array = grown(this.array, length, wanted => new Uint32Array(wanted));
  }

  append(values: SymbolValues): void {
    const translated = Uint32Array.from(values.names, name => this.code(name));
    const { codes } = values;
    this.reserve(this.length + codes.length);
    for (let row = 0, to = this.length; row < codes.length; row++, to++) {
      this.array[to] = translated[codes[row]];
    }
    this.length += codes.length;
  }

  pad(length: number): void {
    if (length <= this.length) return;
    this.array = grown(this.array, length, wanted => new Uint32Array(wanted));
    this.array.fill(this.code(''), this.length, length);
    this.length = length;
  }

  cut(length: number): void {
    this.length = Math.min(this.length, length);
  }

  view(): Uint32Array {
    return this.array.subarray(0, this.length);
  }
}

const DECODER = new TextDecoder();

export class TextColumn {
  private readonly firsts: number[] = [];
  private readonly parts: TextValues[] = [];
  length = 0;

  /** Text stays where it came. */
  reserve(_length: number): void {}

  append(values: TextValues): void {
    this.firsts.push(this.length);
    this.parts.push(values);
    this.length += values.offsets.length - 1;
  }

  pad(length: number): void {
    if (length > this.length) {
      this.append({
        kind: 'str',
        offsets: new Uint32Array(length - this.length + 1),
        data: new Uint8Array(0)
      });
    }
  }

  /** Takes whole batches off the end, down to this length. */
  cut(length: number): void {
    while (this.firsts.length > 0 && this.firsts[this.firsts.length - 1] >= length) {
      this.length = this.firsts.pop() as number;
      this.parts.pop();
    }
  }

  text(row: number): string {
    if (row < 0 || row >= this.length) return '';
    let low = 0;
    let high = this.firsts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.firsts[middle] <= row) low = middle;
      else high = middle;
    }
    const part = this.parts[low];
    const local = row - this.firsts[low];
    return DECODER.decode(part.data.subarray(part.offsets[local], part.offsets[local + 1]));
  }
}

/** From an id of the recording to a row; ids are dense, rows come in any order. */
export class IdIndex {
  private rows = new Uint32Array(0);

  set(id: number, row: number): void {
    if (id >= this.rows.length) {
      if (id >= MOST_IDS) return;
      this.rows = grown(this.rows, id + 1, length => new Uint32Array(length));
    }
    this.rows[id] = row + 1;
  }

  /** The row, or -1. */
  get(id: number): number {
    return id < this.rows.length ? this.rows[id] - 1 : -1;
  }
}

/** Ids beyond this come from damaged data: no recording that fits in a page has so many. */
const MOST_IDS = 1 << 28;

/** From an id to all rows that have it, newest first. */
export class Chains {
  private readonly heads = new IdIndex();
  private next = new Int32Array(0);

  /** Rows are added once each. */
  add(id: number, row: number): void {
    if (row >= this.next.length) {
      const larger = new Int32Array(Math.max(row + 1, this.next.length * 2, 256));
      larger.set(this.next);
      this.next = larger;
    }
    this.next[row] = this.heads.get(id);
    this.heads.set(id, row);
  }

  /** The rows, newest first, at most `most`. */
  rows(id: number, most = Number.POSITIVE_INFINITY): number[] {
    const rows: number[] = [];
    for (let row = this.heads.get(id); row >= 0 && rows.length < most; row = this.next[row]) rows.push(row);
    return rows;
  }

  count(id: number): number {
    let count = 0;
    for (let row = this.heads.get(id); row >= 0; row = this.next[row]) count++;
    return count;
  }
}
