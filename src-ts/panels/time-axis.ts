import { type Ticks, timeTicks } from '../core/format';
import { AXIS_HEIGHT, drawTimeAxis, drawTimeGrid } from '../draw/axis';
import type { Box, Pen } from '../draw/pen';
import type { Theme } from '../draw/theme';
import type { Scale } from '../draw/viewport';

/** Room for a mark of a time axis, CSS pixels. */
const ROOM = 110;

/** Where a chart over time is marked. */
export function timeMarks(scale: Scale, origin: number): Ticks {
  return timeTicks(scale.start - origin, scale.stop - origin, scale.width / ROOM);
}

/** Grid lines over a plot, and their axis under it. */
export function drawTimes(pen: Pen, plot: Box, scale: Scale, origin: number, theme: Theme): void {
  const marks = timeMarks(scale, origin);
  drawTimeGrid(pen, plot, scale, origin, marks, theme);
  const axis = { ...plot, y: plot.y + plot.height, height: AXIS_HEIGHT };
  drawTimeAxis(pen, axis, scale, origin, marks, theme);
}
