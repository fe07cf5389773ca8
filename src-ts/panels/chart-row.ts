import type { Cached } from '../core/bin-cache';
import { amountTicks } from '../core/format';
import type { Band, Means } from '../core/series';
import { drawValueAxis } from '../draw/axis';
import { type Box, clipTo, type Pen, writeWith } from '../draw/pen';
import type { Theme } from '../draw/theme';
import type { Scale } from '../draw/viewport';

/** From values to pixels within a row; a mirrored row has its zero in the middle. */
export interface RowScale {
  readonly box: Box;
  readonly most: number;
  y(value: number): number;
}

export function rowScale(box: Box, most: number, mirrored = false): RowScale {
  const top = most > 0 ? most : 1;
  const height = mirrored ? box.height / 2 : box.height;
  return { box, most: top, y: value => box.y + height - (value / top) * (height - 2) };
}

/** Room that a row's name needs over its plot, where the gutter is too narrow for it. */
export const NARROW_TITLE = 15;

/** Whether a gutter holds the names of rows beside the marks of their axes. */
export function isNarrow(gutter: number): boolean {
  return gutter < 100;
}

/** The row's name and its marks, in the gutter; where that is too narrow, the name of one with `parts` stands over the plot. */
export function drawRowFrame(
  pen: Pen,
  scale: RowScale,
  title: string,
  unit: string,
  theme: Theme,
  mirrored = false,
  parts?: readonly { readonly label: string; readonly color?: string }[]
): void {
  const { box } = scale;
  const narrow = isNarrow(box.x);
  const room = box.x - 12 - writeWith(pen, theme).of(title);
  const widths = writeWith(pen, theme, 11);
  const free = (label: string, value: number): boolean =>
    narrow || scale.y(value) - box.y > 18 || widths.of(label) < room;
  const marks = marksOf(scale, mirrored, unit, free);
  const inside = { values: marks.values.filter(value => value <= scale.most * 1.001), label: marks.label };
  const named = mirrored ? { ...inside, label: withoutZero(inside.label) } : inside;
  const label = narrow ? shorter(named.label) : named.label;
  const shown = (value: number): string => (free(label(value), value) ? label(value) : '');
  drawValueAxis(pen, box, scale.y, { values: inside.values, label: shown }, theme);
  if (mirrored) {
    const below = {
      values: inside.values.filter(value => value > 0).map(value => -value),
      label: inside.label
    };
    drawValueAxis(pen, box, scale.y, { values: below.values, label: () => '' }, theme);
  }
  if (narrow && !parts) return;
  const text = writeWith(pen, theme, 12, 'top');
  pen.fillStyle = theme.text;
  // The marks have no room for it there.
  const name = narrow && unit.endsWith('/second') ? `${title} per second` : title;
  pen.fillText(name, narrow ? box.x : 0, narrow ? box.y - NARROW_TITLE : box.y + 1);
  drawParts(pen, box, parts ?? [], mirrored, theme, narrow ? box.x + text.of(name) + GAP : 0);
}

/** Room between the names over a narrow plot, CSS pixels. */
const GAP = 10;

/**
 * What the layers of a row are, or what is above and what below its zero: under the row's name, or behind
 * it, where that ends at `x`, as far as there is room.
 */
function drawParts(
  pen: Pen,
  box: Box,
  parts: readonly { readonly label: string; readonly color?: string }[],
  mirrored: boolean,
  theme: Theme,
  x: number
): void {
  const widths = writeWith(pen, theme, 11, 'top');
  let left = x;
  parts.forEach(({ label, color }, at) => {
    const words = x && mirrored ? `${'↑↓'[at]} ${label}` : label;
    const next = left + (color ? 11 : 0) + widths.of(words) + GAP;
    if (x && next > box.x + box.width + GAP) return;
    const under = mirrored && at === 1 ? box.y + box.height - 13 : box.y + 17 + (mirrored ? 0 : at * 13);
    const y = x ? box.y - NARROW_TITLE + 1 : under;
    if (color) {
      pen.fillStyle = color;
      pen.fillRect(left, y + 2, 7, 7);
    }
    pen.fillStyle = theme.muted;
    pen.fillText(words, color ? left + 11 : left, y);
    if (x) left = next;
  });
}

/** Room for a mark, CSS pixels. */
const MARK = 28;

/** Zero and round amounts above it, as many as there is room for; one at least has room beside the row's name. */
function marksOf(
  { box, most }: RowScale,
  mirrored: boolean,
  unit: string,
  free: (label: string, value: number) => boolean
): ReturnType<typeof amountTicks> {
  for (const count of mirrored ? [1, 2, 3] : [Math.max(2, Math.round(box.height / MARK)), 3]) {
    const marks = amountTicks(0, most, count, unit);
    const inside = marks.values.filter(value => value > 0 && value <= most);
    // Half a row has room for one.
    if (inside.some(value => free(marks.label(value), value)))
      return mirrored ? { ...marks, values: [0, inside[inside.length - 1]] } : marks;
  }
  return amountTicks(0, most, 4, unit);
}

function withoutZero(label: (value: number) => string): (value: number) => string {
  return value => (value === 0 ? '' : label(value));
}

function shorter(label: (value: number) => string): (value: number) => string {
  return value => (label(value) === '' ? '' : value === 0 ? '0' : label(value).replace('/s', ''));
}

/** Keeps what is drawn until `restore` within a row, and the lines at its ends whole. */
export function clip(pen: Pen, box: Box): void {
  clipTo(pen, { ...box, y: box.y - 1, height: box.height + 2 });
}

/** The bins in sight, from one to before another, and `beside` more at both ends. */
export function binsIn(time: Scale, bins: Cached<unknown>, beside = 0): [first: number, last: number] {
  return [
    Math.max(0, Math.floor((time.start - bins.from) / bins.step) - beside),
    Math.min(bins.bins, Math.ceil((time.stop - bins.from) / bins.step) + beside)
  ];
}

/** Says so where nothing is known of the time that is shown. */
export function drawUnknown(
  pen: Pen,
  box: Box,
  time: Scale,
  bins: Cached<unknown>,
  values: readonly Means[],
  theme: Theme
): void {
  const [first, last] = binsIn(time, bins);
  for (const known of values) {
    for (let bin = first; known && bin < last; bin++) if (!Number.isNaN(known[bin])) return;
  }
  writeWith(pen, theme);
  pen.fillStyle = theme.muted;
  pen.fillText('No sample in this time', box.x + 8, box.y + box.height / 2);
}

/** Least and most of each bin. */
export interface Line {
  readonly low: ArrayLike<number>;
  readonly high: ArrayLike<number>;
}

/** A line through bins, if there is one; a gap where nothing is known. `sign` −1 draws downward. */
export function drawLine(
  pen: Pen,
  scale: RowScale,
  time: Scale,
  bins: Cached<unknown>,
  line: Line | undefined,
  sign = 1
): void {
  if (!line) return;
  const { low, high } = line;
  const [first, last] = binsIn(time, bins, 1);
  let open = false;
  pen.beginPath();
  for (let bin = first; bin < last; bin++) {
    const least = low[bin];
    if (Number.isNaN(least)) {
      open = false;
      continue;
    }
    const most = high[bin];
    const x = scale.box.x + time.x(bins.from + (bin + 0.5) * bins.step);
    if (open) pen.lineTo(x, scale.y(sign * least));
    else pen.moveTo(x, scale.y(sign * least));
    if (most !== least) pen.lineTo(x, scale.y(sign * most));
    else if (!open) pen.lineTo(x + 1, scale.y(sign * least));
    open = true;
  }
  pen.stroke();
}

/** The area between two edges, bin by bin. */
export function drawArea(
  pen: Pen,
  scale: RowScale,
  time: Scale,
  bins: Cached<unknown>,
  low: ArrayLike<number>,
  high: ArrayLike<number>,
  sign = 1
): void {
  const [first, last] = binsIn(time, bins, 1);
  const left = (bin: number): number => scale.box.x + time.x(bins.from + bin * bins.step);
  let begin = -1;
  for (let bin = first; bin <= last; bin++) {
    const known = bin < last && !Number.isNaN(high[bin]);
    if (known && begin < 0) begin = bin;
    if (known || begin < 0) continue;
    pen.beginPath();
    for (let at = begin; at < bin; at++) {
      const y = scale.y(sign * high[at]);
      if (at === begin) pen.moveTo(left(at), y);
      else pen.lineTo(left(at), y);
      pen.lineTo(left(at + 1), y);
    }
    for (let at = bin - 1; at >= begin; at--) {
      const y = scale.y(sign * low[at]);
      pen.lineTo(left(at + 1), y);
      pen.lineTo(left(at), y);
    }
    pen.closePath();
    pen.fill();
    begin = -1;
  }
}

/** Least to greatest as an area, the middle as a line. */
export function drawBand(
  pen: Pen,
  scale: RowScale,
  time: Scale,
  bins: Cached<unknown>,
  values: Band,
  color: string,
  sign = 1
): void {
  pen.fillStyle = color;
  pen.globalAlpha = 0.2;
  drawArea(pen, scale, time, bins, values.low, values.high, sign);
  pen.globalAlpha = 1;
  pen.strokeStyle = color;
  pen.lineWidth = 1.25;
  drawLine(pen, scale, time, bins, { low: values.median, high: values.median }, sign);
}
