import { css } from '../../draw/palette';
import type { Box, Pen } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import { EMPTY, FIRST_NAME, filling } from './cells';
import { failureColor } from './colors';
import type { Grid } from './grid';

/** Cells from here on are filled by task names, which nearly all are. */
const NAMED = FIRST_NAME << 6;

/** Draws failures once more, over what was drawn over the lanes: nothing may hide them. */
export function drawFailures(
  pen: Pen,
  grid: Grid,
  plot: Box,
  laneHeight: number,
  theme: Theme,
  isDimmed: (row: number) => boolean
): void {
  const { tasks, width, rows } = grid;
  const column = plot.width / width;
  for (let row = 0; row < rows; row++) {
    if (isDimmed(row)) continue;
    for (let at = 0; at < width; at++) {
      const cell = tasks[row * width + at];
      if (cell === EMPTY || cell >= NAMED) continue;
      pen.fillStyle = css(failureColor(filling(cell), theme));
      pen.fillRect(plot.x + at * column, plot.y + row * laneHeight, column, Math.max(1, laneHeight - 1));
    }
  }
}
