import type { CriticalPath } from '../../core/critical-path';
import { grown } from '../../core/grown';

/** From time to pixels, as a chart has it. */
export interface PathScale {
  readonly start: number;
  readonly stop: number;
  readonly perPixel: number;
  readonly width: number;
}

/**
 * Lines lead only to stretches from this width on, and to what follows within as much: lines between very many
 * narrow ones would fill the plot. CSS pixels.
 */
const WIDE = 3;

/** Most tiles of one pixel that are looked at: what the whole costs is bounded by the width then. */
const MOST_A_PIXEL = 32;

/**
 * What is drawn of a path over lanes: stretches from left to right. Of those
 * within a pixel, the longest stands for all of them.
 */
export class PathSegments {
  count = 0;
  /** Left and right ends, CSS pixels within the plot. */
  from = new Float32Array(1024);
  to = new Float32Array(1024);
  lane = new Int32Array(1024);
  /** Index into `KINDS`. */
  kind = new Uint8Array(1024);
  /** 1 where a line leads here from the stretch before. */
  joined = new Uint8Array(1024);
  private wideUntil = Number.NEGATIVE_INFINITY;

  /** `laneOf` tells the lane of each of the path's threads, -1 if none. */
  fill(path: CriticalPath, { start, stop, perPixel, width }: PathScale, laneOf: Int32Array): void {
    this.count = 0;
    this.wideUntil = Number.NEGATIVE_INFINITY;
    const first = path.firstAfter(start);
    if (first >= path.count) return;
    let step = path.stepOf(first);
    let pixel = -1;
    let longest = 0;
    let kept = -1;
    let keptLane = -1;
    let seen = 0;
    const flush = (): void => {
      if (kept >= 0) this.add(Math.max(0, pixel), Math.min(width, pixel + 1), keptLane, path.kind[kept]);
      kept = -1;
      longest = 0;
    };
    for (let tile = first; tile < path.count && path.start[tile] < stop; tile++) {
      while (path.first[step + 1] <= tile) step++;
      const lane = laneOf[path.place[step]];
      if (lane < 0) continue;
      const left = (path.start[tile] - start) / perPixel;
      const right = (path.stop[tile] - start) / perPixel;
      if (right - left >= 1) {
        flush();
        pixel = -1;
        this.add(Math.max(-2, left), Math.min(width + 2, right), lane, path.kind[tile]);
        continue;
      }
      const column = Math.floor(left);
      if (column !== pixel) {
        flush();
        pixel = column;
        seen = 0;
      }
      if (++seen > MOST_A_PIXEL) {
        tile = Math.max(tile, path.firstAfter(start + (column + 1) * perPixel) - 1);
        step = path.stepOf(tile);
        continue;
      }
      if (right - left > longest) {
        longest = right - left;
        kept = tile;
        keptLane = lane;
      }
    }
    flush();
  }

  private add(from: number, to: number, lane: number, kind: number): void {
    const at = this.count++;
    if (at === this.from.length) this.reserve(this.count);
    this.from[at] = from;
    this.to[at] = to;
    this.lane[at] = lane;
    this.kind[at] = kind;
    const isWide = to - from >= WIDE;
    this.joined[at] = Number(at > 0 && (isWide || from - this.wideUntil <= WIDE));
    if (isWide) this.wideUntil = to;
  }

  private reserve(length: number): void {
    this.from = grown(this.from, length);
    this.to = grown(this.to, length);
    this.lane = grown(this.lane, length);
    this.kind = grown(this.kind, length);
    this.joined = grown(this.joined, length);
  }
}
