import { type Cells, EMPTY, FIRST_NAME, isFailure } from './cells';
import type { ColorTable } from './colors';
import { AWAY, isAway } from './phases';

/** Rows of the raster in one lane: phases stand in the lowest. */
const THIRDS = 3;

/** The cells as pixels: one column each, three rows a lane, to be stretched to the lanes' height. */
export class Sheet {
  readonly canvas = document.createElement('canvas');
  private image: ImageData | undefined;
  private pixels = new Uint32Array(0);

  /**
   * Colours the cells.
   *
   * `first` is the global number of the first column, so that a hatch stays with its task in a pan;
   * `gridColumns` are marked where nothing else is.
   */
  paint(
    tasks: Cells,
    phases: Cells,
    width: number,
    lanes: number,
    first: number,
    colors: ColorTable,
    isDimmed: (lane: number) => boolean,
    withPhases: boolean,
    gridColumns: readonly number[]
  ): void {
    const thirds = withPhases ? THIRDS : 1;
    this.resize(width, lanes * thirds);
    const grid = gridColumns.filter(column => column >= 0 && column < width);
    for (let lane = 0; lane < lanes; lane++) {
      const isFaint = isDimmed(lane);
      const table = isFaint ? colors.dimmed : colors.tasks;
      const ofPhases = isFaint ? colors.dimmedPhases : colors.phases;
      const from = lane * width;
      const to = from * thirds;
      const { pixels } = this;
      for (let column = 0; column < width; column++) pixels[to + column] = table[tasks[from + column]];
      for (const column of grid) if (tasks[from + column] === EMPTY) pixels[to + column] = colors.grid;
      if (colors.outline !== 0) this.outlineFailures(tasks, from, to, width, colors.outline);
      if (!withPhases) {
        this.phasesInGaps(tasks, phases, from, to, width, ofPhases);
        continue;
      }
      pixels.copyWithin(to + width, to, to + width);
      pixels.copyWithin(to + 2 * width, to, to + width);
      this.phasesBelow(tasks, phases, from, to, width, first, ofPhases, colors.background);
    }
    this.canvas.getContext('2d', { alpha: false })?.putImageData(this.image as ImageData, 0, 0);
  }

  /** Black on a dark ground is not seen: a light edge at either side. */
  private outlineFailures(tasks: Cells, from: number, to: number, width: number, outline: number): void {
    for (let column = 0; column < width; column++) {
      if (!isFailure(tasks[from + column])) continue;
      for (const beside of [column - 1, column + 1]) {
        if (beside >= 0 && beside < width && !isFailure(tasks[from + beside]))
          this.pixels[to + beside] = outline;
      }
    }
  }

  private phasesInGaps(
    tasks: Cells,
    phases: Cells,
    from: number,
    to: number,
    width: number,
    colors: Uint32Array
  ): void {
    for (let column = 0; column < width; column++) {
      const cell = phases[from + column];
      if (cell !== EMPTY && tasks[from + column] === EMPTY) this.pixels[to + column] = colors[cell];
    }
  }

  /**
   * Transfers take half of an empty lane and the lowest third of a busy one; disk is hatched. Of a task that
   * has given its thread back the lowest third is left.
   */
  private phasesBelow(
    tasks: Cells,
    phases: Cells,
    from: number,
    to: number,
    width: number,
    first: number,
    colors: Uint32Array,
    background: number
  ): void {
    const middle = to + width;
    const low = middle + width;
    for (let column = 0; column < width; column++) {
      const cell = phases[from + column];
      if (cell === EMPTY) continue;
      const action = (cell >>> 6) - FIRST_NAME;
      if (isAway(cell)) this.pixels[to + column] = this.pixels[middle + column] = background;
      if (action === AWAY) continue;
      const isDisk = action === 1 || action === 2;
      if (isDisk && (first + column) % 4 >= 2) continue;
      this.pixels[low + column] = colors[cell];
      if (action === 0 && tasks[from + column] === EMPTY) this.pixels[middle + column] = colors[cell];
    }
  }

  private resize(width: number, height: number): void {
    if (this.image?.width === width && this.image.height === height) return;
    this.canvas.width = width;
    this.canvas.height = Math.max(1, height);
    this.image = new ImageData(width, Math.max(1, height));
    this.pixels = new Uint32Array(this.image.data.buffer);
  }
}
