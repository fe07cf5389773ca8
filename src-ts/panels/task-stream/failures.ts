import { css } from '../../draw/palette';
import type { Box, Pen } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import { ERRED, filling, isFailure, KILLED, RETRIED } from './cells';
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
  const colors = [ERRED, KILLED, RETRIED].map(failure => css(failureColor(failure, theme)));
  for (let row = 0; row < rows; row++) {
    if (isDimmed(row)) continue;
    const cells = tasks.subarray(row * width, (row + 1) * width);
    let from = 0;
    for (let at = 1; at <= width; at++) {
      const fill = filling(cells[from]);
      if (filling(cells[at]) === fill) continue;
      if (isFailure(cells[from])) {
        pen.fillStyle = colors[fill - ERRED];
        const x = plot.x + from * column;
        pen.fillRect(x, plot.y + row * laneHeight, (at - from) * column, Math.max(1, laneHeight - 1));
      }
      from = at;
    }
  }
}
