import type { Cached } from '../../core/bin-cache';
import { bytes, shortened } from '../../core/format';
import { css, type Rgb, reservedColor, slotColor } from '../../draw/palette';
import { type Pen, writeWith } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import type { Scale } from '../../draw/viewport';
import { clip, drawArea, drawLine, drawRowFrame, type RowScale } from '../chart-row';
import type { Layer } from '../layers';
import { MEASURES, type MemoryFigures } from './figures';
import { drawSwatches } from './swatches';

/** The measures one over the other, with the limit above. */
export function drawStack(
  pen: Pen,
  row: RowScale,
  scale: Scale,
  figures: MemoryFigures,
  bins: Cached<unknown>,
  layers: readonly Layer[],
  theme: Theme
): void {
  const { box } = row;
  const { included, series } = figures;
  const title = included.length < series.names.length ? figures.titleOf(included) : 'All workers';
  drawRowFrame(pen, row, shortened(title, 17), 'bytes', theme);
  clip(pen, box);
  MEASURES.forEach(({ column }, at) => {
    const { low, high } = layers[at];
    pen.fillStyle = css(colorOf(at, theme));
    pen.strokeStyle = pen.fillStyle;
    pen.lineWidth = 1;
    const spilled = column === 'spilled';
    pen.globalAlpha = spilled ? 0.3 : 1;
    drawArea(pen, row, scale, bins, low, high);
    pen.globalAlpha = 1;
    if (!spilled) return;
    const seen = high.map((value, bin) => (value > low[bin] ? value : Number.NaN));
    drawLine(pen, row, scale, bins, { low: seen, high: seen });
  });
  drawLimit(pen, row, figures.limitOf(included), theme);
  pen.restore();
}

/** A dashed line where the limit is, if the axis reaches it. */
export function drawLimit(pen: Pen, row: RowScale, limit: number, theme: Theme): void {
  const { box } = row;
  if (!(limit <= row.most)) return;
  const y = Math.round(row.y(limit));
  pen.fillStyle = theme.text;
  for (let x = box.x; x < box.x + box.width; x += 8) pen.fillRect(x, y, 4, 1);
}

const SHORT = ['managed', 'old', 'recent', 'spilled'];

/** What the layers are, in a line over the plot. */
export function drawStackLegend(pen: Pen, row: RowScale, limit: number, theme: Theme): void {
  const { box } = row;
  const words = box.width < 420 ? SHORT : MEASURES.map(({ label }) => label);
  const signs = words.map((label, at) => ({
    label,
    color: css(colorOf(at, theme)),
    faded: MEASURES[at].column === 'spilled'
  }));
  const x = drawSwatches(pen, box, signs, theme);
  const room = box.x + box.width;
  const text = writeWith(pen, theme);
  const label = limit <= row.most ? 'limit' : `limit ${bytes(limit)}`;
  if (!Number.isFinite(limit) || x + text.of(label) + 15 > room) return;
  pen.fillStyle = theme.text;
  pen.fillRect(x, 9, 4, 1);
  pen.fillRect(x + 7, 9, 4, 1);
  pen.fillStyle = theme.muted;
  pen.fillText(label, x + 15, 10);
}

/** One hue from strong to weak for what is in memory; disk has Dask's orange. */
function colorOf(measure: number, theme: Theme): Rgb {
  if (measure === 3) return reservedColor('disk', theme);
  return slotColor([19, 7, 31][measure], theme);
}
