import type { Lane } from '../../core/lane';
import { type Cells, EMPTY, FIRST_NAME, FULL, Raster } from './cells';

/** Fewest entries in all lanes for which levels are worth their while. */
export const LEVELS_FROM = 250_000;

/** Entries that a bucket of the finest level should hold on average. */
const PER_BUCKET = 2;
/** A level with fewer buckets than this is not worth having. */
const FEWEST = 512;
/** Widths of buckets are this, doubled, so that they stay the same as a recording grows; seconds. */
const UNIT = 1e-6;

interface LaneLevels {
  /** Version of the lane, and the end of the recording, when it was built. */
  readonly version: number;
  readonly end: number;
  readonly cells: readonly Cells[];
}

/**
 * The lanes as coarse pictures, each of half the width of the one before, so
 * that a frame while zooming costs what its pixels cost, not what the tasks do.
 * Buckets are anchored at the recording's start: new entries touch the end only.
 */
export class Levels {
  private origin = Number.NaN;
  private finest = 0;
  private widths: number[] = [];
  private built = new Map<Lane, LaneLevels>();
  private readonly raster = new Raster();
  private plain = new Uint8Array(0);

  /** True once every lane is there, as of the last `build`. */
  private ready = false;

  /** Whether there are levels of all of these lanes. */
  has(lanes: readonly Lane[]): boolean {
    return this.ready && lanes.every(lane => this.built.has(lane));
  }

  /**
   * Builds or extends the levels for at most `budget` milliseconds.
   * Returns true when nothing is left to do.
   */
  build(lanes: readonly Lane[], roles: Uint8Array, origin: number, end: number, budget: number): boolean {
    const until = performance.now() + budget;
    this.prepare(lanes, roles, origin, end);
    for (const lane of lanes) {
      if (this.isBuilt(lane)) continue;
      this.buildLane(lane, end);
      if (performance.now() > until) {
        this.ready = false;
        return false;
      }
    }
    // Those of a recording that has been replaced are gone.
    const there = new Set(lanes);
    for (const lane of this.built.keys()) if (!there.has(lane)) this.built.delete(lane);
    this.ready = true;
    return true;
  }

  /** The coarsest level whose buckets are no wider than a column; -1 if there is none. */
  levelFor(width: number): number {
    for (let level = this.widths.length - 1; level >= 0; level--) {
      if (this.widths[level] <= width * 1.0001) return level;
    }
    return -1;
  }

  /** Fills the columns `from` up to `to`, from a level. */
  fill(
    lane: Lane,
    level: number,
    cells: Cells,
    offset: number,
    from: number,
    to: number,
    start: number,
    width: number
  ): void {
    const source = this.built.get(lane)?.cells[level];
    const bucket = this.widths[level];
    const ratio = width / bucket;
    const base = (start - this.origin) / bucket;
    const count = source?.length ?? 0;
    for (let column = from; column < to; column++) {
      const a = base + column * ratio;
      const b = a + ratio;
      const first = a < 0 ? 0 : a | 0;
      let last = b | 0;
      if (last === b) last--;
      if (last >= count) last = count - 1;
      cells[offset + column] =
        source && first <= last && b > 0 ? blend(source, first, last, a, b, ratio) : EMPTY;
    }
  }

  private prepare(lanes: readonly Lane[], roles: Uint8Array, origin: number, end: number): void {
    let entries = 0;
    for (const lane of lanes) entries += lane.length;
    const wanted = ((end - origin) * lanes.length * PER_BUCKET) / Math.max(1, entries);
    const finest = Math.max(0, Math.ceil(Math.log2(Math.max(UNIT, wanted) / UNIT)));
    const changed = roles.some((role, name) => name < this.plain.length && role !== this.plain[name]);
    // A level that has become a little too fine is better than building all anew.
    if (origin !== this.origin || Math.abs(finest - this.finest) > 1 || changed) {
      this.built = new Map();
      this.origin = origin;
      this.finest = finest;
      this.ready = false;
    }
    this.plain = roles.slice();
    this.widths = [];
    for (let width = UNIT * 2 ** this.finest; width * FEWEST < end - origin; width *= 2)
      this.widths.push(width);
  }

  private isBuilt(lane: Lane): boolean {
    const levels = this.built.get(lane);
    return levels?.version === lane.version && levels.cells.length === this.widths.length;
  }

  private buildLane(lane: Lane, end: number): void {
    const { version } = lane;
    const known = this.built.get(lane);
    const kept = known?.cells.length === this.widths.length ? known : undefined;
    const since = kept ? Math.min(lane.since(kept.version), kept.end) : this.origin;
    const cells = this.widths.map((width, level) => {
      const count = Math.ceil((end - this.origin) / width) + 1;
      const made = new Uint32Array(count);
      const from = kept ? Math.max(0, Math.floor((since - this.origin) / width)) : 0;
      if (kept) made.set(kept.cells[level].subarray(0, Math.min(from, count)));
      this.raster.fill(lane, made, 0, from, count, { start: this.origin, width, now: end }, this.plain);
      return made;
    });
    this.built.set(lane, { version, end, cells });
  }
}

/** What fills most of a stretch of at most a few buckets, and how full it is. */
function blend(source: Cells, first: number, last: number, a: number, b: number, ratio: number): number {
  let best = 0;
  let most = 0;
  let total = 0;
  for (let bucket = first; bucket <= last; bucket++) {
    const cell = source[bucket];
    if (cell === EMPTY) continue;
    const fill = cell >>> 6;
    const part = (b < bucket + 1 ? b : bucket + 1) - (a > bucket ? a : bucket);
    const weight = part * (cell & FULL);
    total += weight;
    if (fill < FIRST_NAME) {
      if (best === 0 || best >= FIRST_NAME || fill < best) best = fill;
      most = Number.POSITIVE_INFINITY;
      continue;
    }
    let sum = weight;
    for (let other = first; other < bucket; other++) {
      if (source[other] >>> 6 === fill) {
        sum += ((b < other + 1 ? b : other + 1) - (a > other ? a : other)) * (source[other] & FULL);
      }
    }
    if (sum > most) {
      most = sum;
      best = fill;
    }
  }
  if (total === 0) return EMPTY;
  const full = (total / ratio) | 0;
  return (best << 6) | (full < 1 ? 1 : full > FULL ? FULL : full);
}
