import { type Box, type Pen, writeWith } from './pen';
import type { Theme } from './theme';
import type { Scale } from './viewport';

/** Room left of every time chart, so that all of them line up; less on a phone. CSS pixels. */
export function gutterOf(width: number): number {
  return width < 560 ? 64 : 128;
}

/** Room right of every time chart, CSS pixels. */
export const MARGIN = 10;

/** The plot of a time chart in a surface so wide. */
export function plotIn(width: number, y: number, height: number): Box {
  const x = gutterOf(width);
  return { x, y, width: Math.max(1, width - x - MARGIN), height };
}

/** Height of a time axis, CSS pixels. */
export const AXIS_HEIGHT = 22;

/** Where an axis is marked; `format.timeTicks` and `format.amountTicks` make them. */
export interface Marks {
  readonly values: readonly number[];
  readonly label: (value: number) => string;
}

/** Grid lines at moments; `values` are seconds since `origin`. */
export function drawTimeGrid(
  pen: Pen,
  area: Box,
  scale: Scale,
  origin: number,
  marks: Marks,
  theme: Theme
): void {
  pen.fillStyle = theme.grid;
  for (const value of marks.values) {
    const x = Math.round(scale.x(origin + value));
    if (x >= 0 && x < area.width) pen.fillRect(area.x + x, area.y, 1, area.height);
  }
}

/** The axis itself, in a box under (or over) the charts. */
export function drawTimeAxis(
  pen: Pen,
  box: Box,
  scale: Scale,
  origin: number,
  marks: Marks,
  theme: Theme
): void {
  writeWith(pen, theme, 11);
  let free = box.x - 40;
  for (const value of marks.values) {
    const x = Math.round(box.x + scale.x(origin + value));
    if (x < box.x || x > box.x + box.width) continue;
    pen.fillStyle = theme.faint;
    pen.fillRect(x, box.y, 1, 4);
    const label = marks.label(value);
    const width = label.length * 6.4;
    const left = Math.min(x - width / 2, box.x + box.width + MARGIN - width);
    if (left < free + 8) continue;
    pen.fillStyle = theme.muted;
    pen.fillText(label, left, box.y + 13);
    free = left + width;
  }
}

/** An axis of amounts: grid lines over the area, labels right-aligned in the gutter. */
export function drawValueAxis(
  pen: Pen,
  area: Box,
  y: (value: number) => number,
  marks: Marks,
  theme: Theme
): void {
  writeWith(pen, theme, 11);
  pen.textAlign = 'right';
  for (const value of marks.values) {
    const at = Math.round(y(value));
    if (at < area.y - 1 || at > area.y + area.height + 1) continue;
    pen.fillStyle = theme.grid;
    pen.fillRect(area.x, at, area.width, 1);
    pen.fillStyle = theme.muted;
    pen.fillText(marks.label(value), area.x - 8, at);
  }
  pen.textAlign = 'left';
}
