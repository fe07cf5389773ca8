import type { Cached } from '../../core/bin-cache';
import type { Series } from '../../core/series';
import { css } from '../../draw/palette';
import type { Pen } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import type { Scale } from '../../draw/viewport';
import { drawArea, drawBand, drawLine, type RowScale } from '../chart-row';
import { drawHeat, heatColor } from '../heat';
import { type Layer, stacked } from '../layers';
import type { Drawn } from './drawn';
import { type Measure, type MeasureColumn, wordsOf } from './measures';

/** One measure in its place. */
export interface Row {
  readonly measure: Measure;
  readonly series: Series;
  readonly scale: RowScale;
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
    const { band } = kept.value;
    const plain = chosen.size > 0 ? theme.faint : theme.muted;
    if (band) drawBand(pen, row.scale, scale, kept, band, plain, sign);
    for (let process = 0; process < row.series.names.length; process++) {
      const emphasized = chosen.has(process);
      if (band && !emphasized) continue;
      pen.strokeStyle = emphasized ? theme.accent : plain;
      pen.lineWidth = emphasized ? 1.5 : 1;
      drawLine(pen, row.scale, scale, kept, kept.value.line(process, true), sign);
    }
  });
}

/** The lines of one process over all others. */
export function drawProcess(pen: Pen, row: Row, scale: Scale, bins: Bins, process: number): void {
  row.measure.columns.forEach(({ column }, at) => {
    const kept = bins(row, column, scale);
    drawLine(pen, row.scale, scale, kept, kept.value.line(process, false), at === 1 ? -1 : 1);
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

/** The heat map of the first column of a row, with what it shows and whose its lines are. */
export function drawMap(
  pen: Pen,
  { measure, scale: row }: Row,
  label: (process: number) => string,
  time: Scale,
  kept: Cached<Drawn>,
  theme: Theme
): void {
  const column = measure.columns.length > 1 ? `, ${measure.columns[0].label}` : '';
  const title = `${measure.title}${column}, up to ${wordsOf(measure, row.most)}`;
  drawHeat(pen, row, title, label, time, kept, kept.value.known, theme);
}

/** Colours of stacked layers, from the bottom. */
function fillsOf(theme: Theme): readonly string[] {
  return [1, 0.6, 0.2].map(share => css(heatColor(theme, share)));
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
