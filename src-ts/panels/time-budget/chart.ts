import type { Cached } from '../../core/bin-cache';
import { css } from '../../draw/palette';
import { holds, type Pen } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import type { Scale } from '../../draw/viewport';
import { clip, drawArea, drawRowFrame, type RowScale } from '../chart-row';
import { stacked } from '../layers';
import type { Shown } from './figures';

/** Threads in each part, bin by bin. */
export type Bins = Cached<readonly Float64Array[]>;

/** What threads did, one part over the other. */
export function drawChart(
  pen: Pen,
  row: RowScale,
  scale: Scale,
  bins: Bins,
  parts: readonly Shown[],
  theme: Theme
): void {
  drawRowFrame(pen, row, 'Threads', 'count', theme);
  clip(pen, row.box);
  stacked(bins.value).forEach(({ low, high }, part) => {
    if (!bins.value[part].some(threads => threads > 0)) return;
    pen.fillStyle = css(parts[part].color);
    drawArea(pen, row, scale, bins, low, high);
  });
  pen.restore();
}

/** The bin at a place, and the part whose layer is there; -1 above all of them. */
export function layerAt(
  row: RowScale,
  scale: Scale,
  bins: Bins,
  x: number,
  y: number
): { readonly bin: number; readonly part: number } | undefined {
  const { box } = row;
  if (!holds(box, x, y)) return undefined;
  const bin = Math.floor((scale.time(x - box.x) - bins.from) / bins.step);
  if (!(bin >= 0 && bin < bins.bins)) return undefined;
  const height = row.y(0) - y;
  const value = (height / (row.y(0) - row.y(row.most))) * row.most;
  let sum = 0;
  const part = bins.value.findIndex(threads => {
    sum += threads[bin];
    return value < sum;
  });
  return { bin, part };
}
