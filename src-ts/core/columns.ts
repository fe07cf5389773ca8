import { type NumberArray, type NumberValues, roomOf, type SymbolValues, type TextValues } from './batch';
import { grown } from './grown';
import { placeIn } from './place-in';
import { NOTHING } from './schema';
import { noTexts } from './texts';

/** Columns that grow as batches arrive. Views are valid until the next append. */

type NumberKind = NumberValues['kind'];

export class NumberColumn {
  private array: NumberArray;
  length = 0;
  private readonly missing: number;

  constructor(kind: NumberKind) {
    this.missing = kind === 'u32' || kind === 'u8' ? 0 : Number.NaN;
    this.array = roomOf(kind, 0);
  }

  /** Makes room for this many rows. */
  reserve(length: number): void {
    this.array = grown(this.array, length);
  }

  /** Where the next so many numbers come to stand; `append` takes them. */
  room(length: number): NumberArray {
    this.reserve(this.length + length);
    return this.array.subarray(this.length, this.length + length);
  }

  append(values: NumberArray): void {
    this.reserve(this.length + values.length);
    if (values.buffer !== this.array.buffer) this.array.set(values, this.length);
    this.length += values.length;
  }

  /** Makes the column `length` long; rows that it did not have are missing. */
  pad(length: number): void {
    if (length <= this.length) return;
    this.array = grown(this.array, length);
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
    const code = placeIn(this.known, name);
    if (code === this.names.length) this.names.push(name);
    return code;
  }

  /** Makes room for this many rows. */
  reserve(length: number): void {
    this.array = grown(this.array, length);
  }

  append(values: SymbolValues): void {
    const translated = Uint32Array.from(values.names, name => this.code(name));
    const { codes } = values;
    this.reserve(this.length + codes.length);
    const { array } = this;
    // Most columns come in one batch, whose codes are then the column's own.
    if (translated.every((code, own) => code === own)) array.set(codes, this.length);
    else
      for (let row = 0, to = this.length; row < codes.length; row++, to++) array[to] = translated[codes[row]];
    this.length += codes.length;
  }

  pad(length: number): void {
    if (length <= this.length) return;
    this.array = grown(this.array, length);
    this.array.fill(this.code(''), this.length, length);
    this.length = length;
  }

  cut(length: number): void {
    this.length = Math.min(this.length, length);
  }

  view(): Uint32Array {
    return this.array.subarray(0, this.length);
  }

  text(row: number): string {
    return this.names[this.view()[row]] ?? '';
  }
}

/** Unique text as repeated text. */
export function interned(texts: TextValues): SymbolValues {
  const known = new Map<string, number>();
  const codes = new Uint32Array(texts.length);
  for (let row = 0; row < codes.length; row++) codes[row] = placeIn(known, texts.text(row));
  return { kind: 'sym', codes, names: [...known.keys()] };
}

export class TextColumn {
  private readonly firsts: number[] = [];
  private readonly parts: TextValues[] = [];
  length = 0;

  /** Text stays where it came. */
  reserve(_length: number): void {}

  append(values: TextValues): void {
    this.firsts.push(this.length);
    this.parts.push(values);
    this.length += values.length;
  }

  pad(length: number): void {
    if (length > this.length) this.append({ kind: 'str', ...noTexts(length - this.length) });
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
    return this.parts[low].text(row - this.firsts[low]);
  }
}

/** From an id of the recording to a row; rows come in any order, ids in blocks: each source has its own. */
export class IdIndex {
  /** As long as ids count up with their rows, as they do in a finished recording: how many, and the first id. */
  private counted = 0;
  private first = 0;
  /**
   * Else a tree of nodes: at `ROOT` where the branch of an id's highest bits stands, in a branch where the leaf of the
   * next, in a leaf the row of each id, plus 1. What leads nowhere leads to the first node, which stays empty.
   */
  private cells = new Uint32Array(0);
  /** Cells that are taken; none as long as ids count up. */
  private taken = 0;

  set(id: number, row: number): void {
    if (this.taken > 0 || !this.countsUp(id, row)) this.put(id, row);
  }

  /** Sets the rows `from` up to `to` of a column of ids. */
  setAll(ids: ArrayLike<number>, from: number, to: number): void {
    for (let row = from; row < to; row++) this.set(ids[row], row);
  }

  /** The row, or -1. */
  get(id: number): number {
    const { cells } = this;
    if (this.taken > 0)
      return cells[cells[cells[ROOT + (id >>> (2 * BITS))] + ((id >>> BITS) & LAST)] + (id & LAST)] - 1;
    const row = id - this.first;
    return row >= 0 && row < this.counted ? row : -1;
  }

  /** Takes an id that counts up with its row, or was taken before; false if it does not. */
  private countsUp(id: number, row: number): boolean {
    if (this.counted === 0 && row === 0 && id !== NOTHING) this.first = id;
    if (id - this.first !== row || row > this.counted) return false;
    this.counted = Math.max(this.counted, row + 1);
    return true;
  }

  private put(id: number, row: number): void {
    if (this.taken === 0) this.spellOut();
    if (id === NOTHING) return;
    const branch = this.below(ROOT + (id >>> (2 * BITS)));
    const leaf = this.below(branch + ((id >>> BITS) & LAST));
    if (leaf > 0) this.cells[leaf + (id & LAST)] = row + 1;
  }

  /** The node that a cell leads to, a new one if it led to none; 0 if there is no room. */
  private below(cell: number): number {
    // Ids of damaged data may be anywhere.
    if (this.cells[cell] === 0 && this.taken < MOST_CELLS) {
      const node = this.taken;
      this.taken += NODE;
      this.cells = grown(this.cells, this.taken);
      this.cells[cell] = node;
    }
    return this.cells[cell];
  }

  /** What has counted up until now, by id. */
  private spellOut(): void {
    const { first, counted } = this;
    this.taken = ROOT + 2 ** (32 - 2 * BITS);
    this.cells = new Uint32Array(this.taken);
    for (let row = 0; row < counted; row++) this.put(first + row, row);
  }
}

/** Cells of a branch or a leaf: few, as sources with a task or two take a block of ids of their own. */
const BITS = 10;
const NODE = 1 << BITS;
const LAST = NODE - 1;
/** Behind the node that stays empty. */
const ROOT = NODE;

/** A recording that a browser can hold has fewer. */
const MOST_CELLS = 1 << 28;

/** From an id to all rows that have it, newest first. */
export class Chains {
  private readonly heads = new IdIndex();
  private next = new Int32Array(0);

  /** Rows are added once each. */
  add(id: number, row: number): void {
    this.next = grown(this.next, row + 1);
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
