import { COMPUTE, type CriticalPath } from '../../core/critical-path';
import { grown } from '../../core/grown';

/** Nothing of the path is here. */
export const EMPTY = 0;
/** Fillings from here on are names: `FIRST_NAME + name`; below it stand the kinds, `1 + kind`. */
export const FIRST_NAME = 8;

/** What a tile fills its pixels with: its name where its task computed, else what it went into. */
export function fillingOf(path: CriticalPath, tile: number): number {
  return path.kind[tile] === COMPUTE ? FIRST_NAME + path.name[tile] : 1 + path.kind[tile];
}

/**
 * The path in columns of pixels: in each, what it went into for most of the
 * time. Columns begin at `start` and are `width` wide, seconds.
 */
export class PathRaster {
  cells = new Uint32Array(0);
  private weights = new Float64Array(64);
  private touched: number[] = [];

  fill(path: CriticalPath, columns: number, start: number, width: number): Uint32Array {
    if (this.cells.length !== columns) this.cells = new Uint32Array(columns);
    const { cells } = this;
    cells.fill(EMPTY);
    const end = start + columns * width;
    let open = -1;
    for (let tile = path.firstAfter(start); tile < path.count && path.start[tile] < end; tile++) {
      const from = Math.max(0, (path.start[tile] - start) / width);
      const to = Math.min(columns, (path.stop[tile] - start) / width);
      const filling = fillingOf(path, tile);
      const first = Math.min(columns - 1, Math.floor(from));
      const last = Math.min(columns - 1, Math.floor(to));
      if (first !== open) {
        this.close(open);
        open = first;
      }
      if (first === last) {
        this.weigh(filling, to - from);
        continue;
      }
      this.weigh(filling, first + 1 - from);
      this.close(first);
      cells.fill(filling, first + 1, last);
      open = last;
      this.weigh(filling, to - last);
    }
    this.close(open);
    return cells;
  }

  private weigh(filling: number, weight: number): void {
    this.weights = grown(this.weights, filling + 1);
    if (weight <= 0) return;
    if (this.weights[filling] === 0) this.touched.push(filling);
    this.weights[filling] += weight;
  }

  private close(column: number): void {
    let best = EMPTY;
    let most = 0;
    for (const filling of this.touched) {
      if (this.weights[filling] > most) {
        most = this.weights[filling];
        best = filling;
      }
      this.weights[filling] = 0;
    }
    this.touched.length = 0;
    if (column >= 0 && best !== EMPTY) this.cells[column] = best;
  }
}
