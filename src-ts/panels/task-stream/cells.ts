import type { EntryMask } from '../../core/entry-mask';
import { type Lane, LOST, OK, RUNNING, STATUSES } from '../../core/lane';

/**
 * One pixel of one lane, as a number: 64 times what fills it, plus how full it
 * is (1 to 63). 0 is nothing. The first few fillings are failures, then come
 * the task names.
 */
export type Cells = Uint32Array;

export const EMPTY = 0;
export const FULL = 63;

/** Fillings that override whatever else is in the pixel, the strongest first. */
export const ERRED = 1;
export const KILLED = 2;
export const RETRIED = 3;
/** Filling of the task name with index 0. */
export const FIRST_NAME = 4;

export function filling(cell: number): number {
  return cell >>> 6;
}

export function isFailure(cell: number): boolean {
  return cell !== EMPTY && filling(cell) < FIRST_NAME;
}

/** How full a pixel at a task's right edge looks where there is room for an edge. */
const EDGE = 30;
/** Columns that a task must be wide to get one. */
const EDGE_FROM = 5;
/** Weight of a task that took no time, in columns. */
const INSTANT = 1e-9;

/** What the names of a recording are to the person at the moment. */
export const HIDDEN = 0;
export const PLAIN = 1;
/** Chosen: shown in every pixel it has a part in, whatever else is there. */
export const CHOSEN = 2;

/** The filling of an attempt that failed, by its status; 0 of others. */
export const FAILURE = new Uint8Array(STATUSES.length);
FAILURE[STATUSES.indexOf('erred')] = ERRED;
FAILURE[STATUSES.indexOf('killed')] = KILLED;
FAILURE[LOST] = KILLED;
FAILURE[STATUSES.indexOf('retried')] = RETRIED;

/** Columns of time: column c is `start + c * width` up to `start + (c + 1) * width`, seconds. */
export interface Columns {
  readonly start: number;
  readonly width: number;
  /** Where entries that still run end for now. */
  readonly now: number;
}

/** Finds what fills each pixel of a lane, exactly: the name with the most time in it. */
export class Raster {
  private time = new Float64Array(64);
  private readonly seen = new Uint16Array(0x10000);
  private count = 0;
  private failure = 0;

  /**
   * Fills `cells[offset + c]` for the columns `from` up to `to`.
   *
   * `roles` says for each name whether it is hidden, plain or chosen. `entries`
   * may say so for single entries. Returns the number of entries looked at.
   */
  fill(
    lane: Lane,
    cells: Cells,
    offset: number,
    from: number,
    to: number,
    { start: zero, width, now }: Columns,
    roles: Uint8Array,
    entries?: EntryMask
  ): number {
    cells.fill(EMPTY, offset + from, offset + to);
    if (this.time.length < roles.length) this.time = new Float64Array(roles.length);
    const { length } = lane;
    const { start, stop, name, status, row } = lane;
    const inverse = 1 / width;
    const last = zero + to * width;
    const first = lane.firstAfter(zero + from * width);
    let column = -1;
    let lastEdge = EMPTY;
    let index = first;
    for (; index < length; index++) {
      const begin = start[index];
      if (begin >= last) break;
      const each = name[index];
      const code = status[index];
      if (roles[each] === HIDDEN || entries?.passes(row[index], code) === false) continue;
      const end = code === RUNNING ? now : stop[index];
      const a = (begin - zero) * inverse;
      const b = (end - zero) * inverse;
      if (b <= from && a < from) continue;
      if (b <= column) {
        // Wholly inside an entry before it, as clocks can make it look; only a failure is shown.
        if (FAILURE[code] > 0) this.failInside(cells, offset, a < from ? from : a | 0, b, FAILURE[code]);
        continue;
      }
      let left = a < from ? from : a;
      if (left < column) left = column;
      const clipped = b >= to;
      const right = clipped ? to : b < left ? left : b;
      const leftColumn = left | 0;
      // What ends where a column begins is not in that column.
      const rightColumn = right > leftColumn + 1 ? Math.ceil(right) - 1 : leftColumn;
      if (leftColumn !== column) {
        if (column >= 0) this.flush(cells, offset + column, roles);
        column = leftColumn;
      }
      if (code !== OK) this.fail(FAILURE[code]);
      if (leftColumn === rightColumn) {
        this.add(each, right - left);
        continue;
      }
      this.add(each, leftColumn + 1 - left);
      this.flush(cells, offset + column, roles);
      const fails = FAILURE[code];
      const whole = fails > 0 ? fails : each + FIRST_NAME;
      if (rightColumn > leftColumn + 1) {
        cells.fill((whole << 6) | FULL, offset + leftColumn + 1, offset + rightColumn);
      }
      if (b - a >= EDGE_FROM && fails === 0) {
        // The last column that it fills alone, which may be the last one asked for.
        const edge = Math.ceil(b) - 2;
        if (!clipped) cells[offset + edge] = (whole << 6) | EDGE;
        else if (edge === to - 1) lastEdge = (whole << 6) | EDGE;
      }
      column = rightColumn;
      if (code !== OK) this.fail(FAILURE[code]);
      this.add(each, right - rightColumn);
    }
    if (column >= 0) this.flush(cells, offset + column, roles);
    if (lastEdge !== EMPTY) cells[offset + to - 1] = lastEdge;
    return index - first;
  }

  private failInside(cells: Cells, offset: number, first: number, end: number, failure: number): void {
    for (let column = first; column < end || column === first; column++) {
      const before = cells[offset + column] >>> 6;
      if (before >= FIRST_NAME || failure < before) cells[offset + column] = (failure << 6) | FULL;
    }
  }

  private fail(failure: number): void {
    if (failure > 0 && (this.failure === 0 || failure < this.failure)) this.failure = failure;
  }

  private add(name: number, time: number): void {
    if (this.time[name] === 0) this.seen[this.count++] = name;
    this.time[name] += time > INSTANT ? time : INSTANT;
  }

  private flush(cells: Cells, at: number, roles: Uint8Array): void {
    if (this.count === 0) return;
    const { time, seen } = this;
    let best = 0;
    let most = -1;
    let role = 0;
    let total = 0;
    for (let index = 0; index < this.count; index++) {
      const name = seen[index];
      const value = time[name];
      time[name] = 0;
      if (roles[name] > role) {
        role = roles[name];
        most = -1;
        total = 0;
      } else if (roles[name] < role) {
        continue;
      }
      total += value;
      if (value > most) {
        most = value;
        best = name;
      }
    }
    this.count = 0;
    const fill = this.failure > 0 ? this.failure : best + FIRST_NAME;
    this.failure = 0;
    cells[at] = (fill << 6) | (total >= 1 ? FULL : (1 + total * (FULL - 1)) | 0);
  }
}
