import type { EntryMask } from '../../core/entry-mask';
import type { Lane } from '../../core/lane';
import { type Cells, Raster } from './cells';
import { LEVELS_FROM, Levels } from './levels';
import { isAway, type Phases } from './phases';

/** What a picture of the lanes is made from. */
export interface View {
  /** The lanes that can be seen, top to bottom. */
  readonly lanes: readonly Lane[];
  /** Columns, device pixels. */
  readonly width: number;
  /** Left end, seconds since the epoch; a whole number of columns from `origin`. */
  readonly start: number;
  /** Width of a column, seconds. */
  readonly column: number;
  readonly origin: number;
  /** Until when is known what happened. */
  readonly now: number;
  /** For each name, whether it is hidden, plain or chosen. */
  readonly roles: Uint8Array;
  /** For single entries of a lane, where a filter goes by entry. */
  readonly entries: EntryMask | undefined;
  /** Levels know neither chosen names nor filters by entry. */
  readonly plain: boolean;
  /** Changes whenever anything but the viewport and the entries of lanes has changed. */
  readonly version: string;
  /** A person is zooming or panning: rather quick than exact. */
  readonly moving: boolean;
}

/** Longest time in one frame for making a rough picture exact, milliseconds. */
const SLICE = 8;

/** Columns before the end of what goes on that look different because it goes on. */
const OPEN_END = 3;

const ALL_ACTIONS = new Uint8Array(8).fill(1);

/**
 * The cells of all lanes that can be seen. A pan moves what is there and fills
 * the columns that come in; a zoom of very many tasks is filled from levels at
 * first and made exact, lane by lane, once the person has come to rest.
 */
export class Grid {
  width = 0;
  rows = 0;
  /** Row by row, `width` cells each. */
  tasks: Cells = new Uint32Array(0);
  phases: Cells = new Uint32Array(0);
  readonly levels = new Levels();

  private version = '';
  private first = 0;
  private column = 0;
  private lanes: readonly Lane[] = [];
  /** Versions of each lane and of its phases as they are in the cells. */
  private drawn: { readonly tasks: number; readonly phases: number }[] = [];
  private now = 0;
  private exact = new Uint8Array(0);
  private readonly raster = new Raster();

  constructor(private readonly ofLane: Phases) {}

  /** Brings the cells up to date; false while some are still rough. */
  update(view: View): boolean {
    const first = Math.round((view.start - view.origin) / view.column);
    const shift = first - this.first;
    const same = this.version === view.version && this.width === view.width && this.holds(view.lanes);
    const canShift = same && sameWidth(this.column, view.column) && Math.abs(shift) < view.width;
    if (!canShift) this.resize(view);
    this.version = view.version;
    this.first = first;
    this.column = view.column;
    if (!canShift) this.fill(view, 0, view.width, true);
    else {
      if (shift !== 0) this.shift(view, shift);
      this.renew(view);
    }
    this.drawn = view.lanes.map(lane => this.versionsOf(lane));
    this.now = view.now;
    if (!view.moving) this.refine(view);
    return this.exact.every(Boolean);
  }

  /** Whether what is in a cell had given its thread back for most of it. */
  isAway(row: number, column: number): boolean {
    return isAway(this.phases[row * this.width + column]);
  }

  private holds(lanes: readonly Lane[]): boolean {
    return lanes.length === this.lanes.length && lanes.every((lane, row) => lane === this.lanes[row]);
  }

  private versionsOf(lane: Lane): { readonly tasks: number; readonly phases: number } {
    return { tasks: lane.version, phases: this.ofLane.of(lane)?.version ?? 0 };
  }

  /** Fills anew what has changed since the cells were filled: in a run that goes on, the right end. */
  private renew(view: View): void {
    const columnOf = (time: number): number =>
      Math.max(0, Math.floor((time - view.start) / view.column) - OPEN_END);
    view.lanes.forEach((lane, row) => {
      const { tasks, phases } = this.drawn[row];
      const offset = row * this.width;
      const goesOn = lane.running > 0 && view.now !== this.now ? this.now : Number.POSITIVE_INFINITY;
      const from = columnOf(Math.min(lane.since(tasks), goesOn));
      if (from < this.width) this.fillExactly(view, lane, offset, from, this.width);
      const since = this.ofLane.of(lane)?.since(phases) ?? Number.POSITIVE_INFINITY;
      if (columnOf(since) < this.width) this.fillPhases(view, lane, offset, columnOf(since), this.width);
    });
  }

  private resize(view: View): void {
    this.width = view.width;
    this.lanes = view.lanes;
    this.rows = view.lanes.length;
    const size = this.width * this.rows;
    if (this.tasks.length !== size) {
      this.tasks = new Uint32Array(size);
      this.phases = new Uint32Array(size);
    }
    this.exact = new Uint8Array(this.rows);
  }

  private shift(view: View, by: number): void {
    const { width, rows } = this;
    for (const cells of [this.tasks, this.phases]) {
      for (let row = 0; row < rows; row++) {
        const from = row * width;
        if (by > 0) cells.copyWithin(from, from + by, from + width);
        else cells.copyWithin(from - by, from, from + width + by);
      }
    }
    if (by > 0) this.fill(view, width - by, width, false);
    else this.fill(view, 0, -by, false);
  }

  private fill(view: View, from: number, to: number, all: boolean): void {
    const level = this.mayBeRough(view, from, to) ? this.levels.levelFor(view.column) : -1;
    view.lanes.forEach((lane, row) => {
      const offset = row * this.width;
      if (level >= 0) {
        this.levels.fill(lane, level, this.tasks, offset, from, to, view.start, view.column);
        this.exact[row] = 0;
      } else {
        this.fillExactly(view, lane, offset, from, to);
        if (all) this.exact[row] = 1;
      }
      this.fillPhases(view, lane, offset, from, to);
    });
  }

  private mayBeRough(view: View, from: number, to: number): boolean {
    if (!view.plain || !this.levels.has(view.lanes)) return false;
    const start = view.start + from * view.column;
    const stop = view.start + to * view.column;
    let entries = 0;
    for (const lane of view.lanes)
      entries += Math.max(0, lane.firstStartAfter(stop) - lane.firstAfter(start));
    return entries > LEVELS_FROM;
  }

  private refine(view: View): void {
    const until = performance.now() + SLICE;
    for (let row = 0; row < this.rows; row++) {
      if (this.exact[row]) continue;
      this.fillExactly(view, view.lanes[row], row * this.width, 0, this.width);
      this.exact[row] = 1;
      if (performance.now() > until) return;
    }
  }

  private fillExactly(view: View, lane: Lane, offset: number, from: number, to: number): void {
    const columns = { start: view.start, width: view.column, now: view.now };
    this.raster.fill(lane, this.tasks, offset, from, to, columns, view.roles, view.entries);
  }

  private fillPhases(view: View, lane: Lane, offset: number, from: number, to: number): void {
    const phases = this.ofLane.of(lane);
    const columns = { start: view.start, width: view.column, now: view.now };
    if (phases) this.raster.fill(phases, this.phases, offset, from, to, columns, ALL_ACTIONS);
    else this.phases.fill(0, offset + from, offset + to);
  }
}

function sameWidth(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-12 * b;
}
