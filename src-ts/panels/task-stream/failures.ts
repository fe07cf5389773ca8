import { css } from '../../draw/palette';
import type { Box, Pen } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import { filling, isFailure } from './cells';
import { failureColor } from './colors';
import type { Grid } from './grid';

/**
 * Draws failures once more, over what was drawn over the lanes: nothing may hide them. A column and a lane are so wide
 * and high, CSS pixels.
 */
export function drawFailures(
  pen: Pen,
  grid: Grid,
  plot: Box,
  column: number,
  laneHeight: number,
  theme: Theme,
  isDimmed: (row: number) => boolean
): void {
  const { tasks, width, rows } = grid;
  for (let row = 0; row < rows; row++) {
    if (isDimmed(row)) continue;
    for (let at = 0; at < width; at++) {
      const cell = tasks[row * width + at];
      if (!isFailure(cell)) continue;
      pen.fillStyle = css(failureColor(filling(cell), theme));
      pen.fillRect(plot.x + at * column, plot.y + row * laneHeight, column, Math.max(1, laneHeight - 1));
    }
  }
}
