import { firstAbove } from './first-above';
import { grown } from './grown';
import { merged } from './merged';
import { naturalKey } from './natural';
import { Touched } from './touched';

/**
 * How an attempt ended, as a number; `STATUSES` has the words of the `attempts` table.
 * `lost` is one that was killed before anybody knew when it started, if it did: it computed nothing that counts.
 */
export const STATUSES = [
  'ok',
  'erred',
  'retried',
  'killed',
  'cancelled',
  'stolen',
  'rescheduled',
  'running',
  'lost',
  'other'
] as const;
export type Status = (typeof STATUSES)[number];

export function statusCode(status: string): number {
  const code = STATUSES.indexOf(status as Status);
  return code < 0 ? STATUSES.indexOf('other') : code;
}

export const OK = 0;
export const RUNNING = STATUSES.indexOf('running');
export const LOST = STATUSES.indexOf('lost');

/** One more than the largest index into `Tasks.names`; names beyond share the last. */
export const MOST_NAMES = 0xffff;

/** Entries by column, as `Lane` has them; the first is row `from` of its table. */
export interface EntryColumns {
  readonly start: Float64Array;
  readonly stop: Float64Array;
  readonly name: Uint16Array;
  readonly status: Uint8Array;
  readonly from: number;
}

/** A lane without entries has no room of its own: of a cluster that has grown and shrunk many have none. */
const NO_TIMES = new Float64Array();
const NO_NAMES = new Uint16Array();
const NO_STATUSES = new Uint8Array();
const NO_ROWS = new Uint32Array();

/** What ran on one thread of one worker, sorted by start. Times are seconds since the epoch. */
export class Lane {
  private count = 0;
  /** Entries up to here are in order. */
  private sorted = 0;
  private readonly touched = new Touched();
  /** The earliest change that nobody has asked about yet. */
  private untold = Number.POSITIVE_INFINITY;
  /** `start[i]`, `stop[i]`: when entry i ran; stop is Infinity while it runs. */
  start = NO_TIMES;
  stop = NO_TIMES;
  /** Latest stop of entries 0 … i: no entry up to i is seen after it. */
  reach = NO_TIMES;
  /** Index into `Tasks.names`. */
  name = NO_NAMES;
  /** Index into `STATUSES`. */
  status = NO_STATUSES;
  /** Row of `attempts`; of `running` where the status says so. */
  row = NO_ROWS;
  /** How many entries still run. */
  running = 0;
  readonly threadKey;

  /** `unused`: how many threads it stands for on which nothing ran; 0 where tasks ran on its one thread. */
  constructor(
    readonly worker: string,
    readonly thread: string,
    readonly unused = 0
  ) {
    this.threadKey = naturalKey(thread);
  }

  /** Number of entries. Reading it brings late arrivals into order: read it first. */
  get length(): number {
    if (this.sorted < this.count) this.settle();
    return this.count;
  }

  /** When an entry ended, or `now` while it runs. */
  stopBy(entry: number, now: number): number {
    const stop = this.stop[entry];
    return stop === Number.POSITIVE_INFINITY ? now : stop;
  }

  /** Is another whenever something has changed since it was last read. */
  get version(): number {
    this.tell();
    return this.touched.version;
  }

  /** The earliest moment at which anything has changed after a version; Infinity if nothing has. */
  since(version: number): number {
    this.tell();
    return this.touched.since(version);
  }

  /** Makes room for so many entries. */
  private reserve(length: number): void {
    this.start = grown(this.start, length);
    this.stop = grown(this.stop, length);
    this.reach = grown(this.reach, length);
    this.name = grown(this.name, length);
    this.status = grown(this.status, length);
    this.row = grown(this.row, length);
  }

  add(start: number, stop: number, name: number, status: number, row: number): void {
    const at = this.count++;
    if (at === this.start.length) this.reserve(at + 8);
    this.start[at] = start;
    this.stop[at] = stop;
    this.name[at] = name;
    this.status[at] = status;
    this.row[at] = row;
    if (status === RUNNING) this.running++;
    if (start < this.untold) this.untold = start;
    if (this.sorted === at && (at === 0 || start >= this.start[at - 1])) {
      this.reach[at] = at === 0 ? stop : Math.max(this.reach[at - 1], stop);
      this.sorted = this.count;
    }
  }

  /** Adds entries `from` up to `to` of columns. */
  addAll(columns: EntryColumns, from: number, to: number): void {
    const first = this.count;
    this.reserve(first + to - from);
    this.start.set(columns.start.subarray(from, to), first);
    this.stop.set(columns.stop.subarray(from, to), first);
    this.name.set(columns.name.subarray(from, to), first);
    this.status.set(columns.status.subarray(from, to), first);
    this.count += to - from;
    const { start, stop, reach, row, status, count } = this;
    let { sorted, untold } = this;
    let last = first > 0 ? start[first - 1] : Number.NEGATIVE_INFINITY;
    let latest = sorted > 0 ? reach[sorted - 1] : Number.NEGATIVE_INFINITY;
    for (let at = first; at < count; at++) {
      const begin = start[at];
      row[at] = columns.from + from + at - first;
      if (status[at] === RUNNING) this.running++;
      if (begin < untold) untold = begin;
      if (sorted === at && begin >= last) {
        if (stop[at] > latest) latest = stop[at];
        reach[at] = latest;
        sorted++;
      }
      last = begin;
    }
    this.sorted = sorted;
    this.untold = untold;
  }

  /** The entry of a start, a row and a kind of row; -1 if it is not here. */
  find(start: number, row: number, running: boolean): number {
    for (let at = this.firstStartAfter(start) - 1; at >= 0 && this.start[at] === start; at--) {
      if (this.row[at] === row && (this.status[at] === RUNNING) === running) return at;
    }
    return -1;
  }

  /** Takes an entry out. False if it is not here. */
  remove(start: number, row: number, running: boolean): boolean {
    const at = this.find(start, row, running);
    if (at < 0) return false;
    for (const column of this.columns()) column.copyWithin(at, at + 1, this.count);
    this.count--;
    this.sorted = this.count;
    if (running) this.running--;
    this.rereach(at, this.count);
    this.untold = Math.min(this.untold, start);
    return true;
  }

  /** Gives an entry other times. Entries keep their places until `length` is read. */
  retime(index: number, start: number, stop: number): void {
    this.untold = Math.min(this.untold, this.start[index], start);
    this.start[index] = start;
    this.stop[index] = stop;
    this.sorted = Math.min(this.sorted, index);
  }

  /** Gives entries a name that was not known when they came. */
  rename(index: number, name: number): void {
    this.name[index] = name;
    this.untold = Math.min(this.untold, this.start[index]);
  }

  /** The first entry that ends after `time`, or has not ended; `length` if there is none. */
  firstAfter(time: number): number {
    const { length } = this;
    return firstAbove(this.reach, time, 0, length);
  }

  /** The first entry that starts after `time`. */
  firstStartAfter(time: number): number {
    const { length } = this;
    return firstAbove(this.start, time, 0, length);
  }

  /** The entry that runs at `time`, or else the nearest within `tolerance` seconds; -1 if there is none. */
  at(time: number, tolerance: number): number {
    const next = this.firstStartAfter(time);
    let best = -1;
    let distance = tolerance;
    const floor = time - tolerance;
    for (let index = next - 1; index >= 0 && this.reach[index] >= floor; index--) {
      const away = time - this.stop[index];
      if (away <= 0) return index;
      if (away <= distance) {
        best = index;
        distance = away;
      }
    }
    if (next < this.count && this.start[next] - time < distance) return next;
    return best;
  }

  private settle(): void {
    const { start } = this;
    let earliest = Number.POSITIVE_INFINITY;
    for (let at = this.sorted; at < this.count; at++) if (start[at] < earliest) earliest = start[at];
    let from = this.sorted;
    while (from > 0 && start[from - 1] > earliest) from--;
    const order = merged(start.subarray(from, this.count));
    for (const column of this.columns()) {
      const moved = column.slice(from, this.count);
      for (let index = 0; index < order.length; index++) column[from + index] = moved[order[index]];
    }
    this.sorted = this.count;
    this.rereach(from, this.count);
  }

  private columns(): (Float64Array | Uint32Array | Uint16Array | Uint8Array)[] {
    return [this.start, this.stop, this.name, this.status, this.row];
  }

  private rereach(from: number, to: number): void {
    let latest = from > 0 ? this.reach[from - 1] : Number.NEGATIVE_INFINITY;
    for (let index = from; index < to; index++) {
      if (this.stop[index] > latest) latest = this.stop[index];
      this.reach[index] = latest;
    }
  }

  /** Puts the earliest change that nobody has asked about among those that are told. */
  private tell(): void {
    if (this.untold === Number.POSITIVE_INFINITY) return;
    this.touched.touch(this.untold);
    this.untold = Number.POSITIVE_INFINITY;
  }
}
