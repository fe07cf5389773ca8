import type { Cached } from '../../core/bin-cache';
import type { Band, Binned, Series } from '../../core/series';
import { css, mixed, slotColor } from '../../draw/palette';
import { type Pen, writeWith } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import type { Scale } from '../../draw/viewport';
import { drawArea, drawBand, drawLine, isNarrow, NARROW_TITLE, type RowScale } from '../chart-row';
import { drawHeat } from '../heat';
import { type Layer, stacked } from '../layers';
import { type Measure, type MeasureColumn, wordsOf } from './measures';

/** One measure in its place. */
export interface Row {
  readonly measure: Measure;
  readonly series: Series;
  readonly scale: RowScale;
}

/** What is kept of one column, bin by bin. */
export interface Drawn {
  readonly values: Binned;
  readonly band: Band | undefined;
  readonly sum: Float64Array | undefined;
}

export type Bins = (row: Row, column: MeasureColumn, scale: Scale) => Cached<Drawn>;

/** A line a process, or a band of many with the chosen ones on it, or layers over one another. */
export function drawRow(
  pen: Pen,
  row: Row,
  scale: Scale,
  bins: Bins,
  chosen: ReadonlySet<number>,
  theme: Theme
): void {
  if (row.measure.style === 'stack') {
    drawLayers(pen, row, scale, bins, theme);
    return;
  }
  row.measure.columns.forEach(({ column }, at) => {
    const sign = at === 1 ? -1 : 1;
    const kept = bins(row, column, scale);
    const { band, values } = kept.value;
    const plain = chosen.size > 0 ? theme.faint : theme.muted;
    if (band) drawBand(pen, row.scale, scale, kept, band, plain, sign);
    for (let process = 0; process < row.series.names.length; process++) {
      const emphasized = chosen.has(process);
      if (band && !emphasized) continue;
      pen.strokeStyle = emphasized ? theme.accent : plain;
      pen.lineWidth = emphasized ? 1.5 : 1;
      drawLine(pen, row.scale, scale, kept, values.low, values.high, process * kept.bins, sign);
    }
  });
}

/** The lines of one process over all others. */
export function drawProcess(pen: Pen, row: Row, scale: Scale, bins: Bins, process: number): void {
  row.measure.columns.forEach(({ column }, at) => {
    const kept = bins(row, column, scale);
    const { low, high } = kept.value.values;
    drawLine(pen, row.scale, scale, kept, low, high, process * kept.bins, at === 1 ? -1 : 1);
  });
}

function drawLayers(pen: Pen, row: Row, scale: Scale, bins: Bins, theme: Theme): void {
  const fills = fillsOf(theme);
  const kept = bins(row, row.measure.columns[0].column, scale);
  layersOf(row, scale, bins).forEach(({ low, high }, at) => {
    pen.fillStyle = fills[at];
    drawArea(pen, row.scale, scale, kept, low, high);
  });
}

/** The columns one over the other, summed over the processes; none where a measure is not drawn so. */
export function layersOf(row: Row, scale: Scale, bins: Bins): Layer[] {
  return stacked(row.measure.columns.flatMap(({ column }) => bins(row, column, scale).value.sum ?? []));
}

/** The heat map of the first column of a row. */
export function drawMap(pen: Pen, row: Row, scale: Scale, bins: Bins, theme: Theme): void {
  const kept = bins(row, row.measure.columns[0].column, scale);
  const { box, most } = row.scale;
  drawHeat(pen, box, scale, kept, kept.value.values.mean, row.series.names.length, most, theme);
}

export function drawMapFrame(pen: Pen, { measure, scale: { box, most } }: Row, theme: Theme): void {
  writeWith(pen, `12px ${theme.font}`, 'top');
  pen.fillStyle = theme.text;
  const narrow = isNarrow(box.x);
  pen.fillText(measure.title, narrow ? box.x : 0, narrow ? box.y - NARROW_TITLE : box.y);
  pen.fillStyle = theme.muted;
  if (narrow) return;
  const several = measure.columns.length > 1;
  if (several) pen.fillText(measure.columns[0].label, 0, box.y + 15);
  pen.fillText(`up to ${wordsOf(measure, most)}`, 0, box.y + (several ? 30 : 15));
}

/** Colours of stacked layers, from the bottom. */
function fillsOf(theme: Theme): readonly string[] {
  const [first, second, third] = [31, 19, 7].map(slot => slotColor(slot, theme.dark, theme.contrast));
  return [css(first), css(mixed(theme.background, second, 0.45)), css(mixed(theme.background, third, 0.2))];
}

/** What the layers of a row are, or what is above and what below its zero. */
export function partsOf(
  measure: Measure,
  theme: Theme
): { readonly label: string; readonly color?: string }[] {
  if (measure.style === 'line') return [];
  const colors = measure.style === 'stack' ? fillsOf(theme) : [];
  return measure.columns.map(({ label }, at) => ({ label, color: colors[at] }));
}
