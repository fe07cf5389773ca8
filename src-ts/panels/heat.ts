import type { Cached } from '../core/bin-cache';
import type { Means } from '../core/series';
import { mixed, packed, type Rgb, slotColor } from '../draw/palette';
import { type Box, type Pen, writeWith } from '../draw/pen';
import type { Theme } from '../draw/theme';
import type { Scale } from '../draw/viewport';
import { clip, NARROW_TITLE, type RowScale } from './chart-row';
import type { Mark } from './panel';
import { drawLabels } from './worker-label';

/** Steps of the ramp from nothing to most. */
const STEPS = 64;

/** The hue of amounts; no task name has it alone. */
const AMOUNT_SLOT = 7;

/** Height for so many processes: as high as a name while there are few, a pixel each while that can be, CSS pixels. */
export function heatHeight(processes: number): number {
  return Math.min(240, Math.max(32, Math.min(96, processes * 13), processes));
}

/** Lines that a map of so many processes has room for. */
const linesIn = ({ height }: Box, processes: number): number =>
  Math.max(1, Math.min(processes, Math.floor(height)));

/**
 * The mark at a height and a moment of a map. Of processes that share a line it is of the one with the most then, which
 * the line shows, and its card says so. `markOf` makes that of a process whose line is a box.
 */
export function heatMark(
  box: Box,
  y: number,
  time: number,
  bins: Cached<unknown>,
  values: readonly Means[],
  markOf: (process: number, box: Box) => Mark
): Mark {
  const processes = values.length;
  const lines = linesIn(box, processes);
  const height = box.height / lines;
  const line = Math.max(0, Math.min(lines - 1, Math.floor((y - box.y) / height)));
  const first = Math.ceil((line * processes) / lines);
  const sharing = Math.ceil(((line + 1) * processes) / lines) - first;
  const bin = Math.floor((time - bins.from) / bins.step);
  let process = first;
  let most = Number.NEGATIVE_INFINITY;
  for (let each = first; each < first + sharing; each++) {
    const value = (values[each] ?? [])[bin];
    if (!(value > most)) continue;
    most = value;
    process = each;
  }
  const mark = markOf(process, { ...box, y: box.y + line * height, height });
  if (sharing === 1) return mark;
  return {
    ...mark,
    card: () => {
      const card = mark.card();
      return { ...card, title: `${card.title}, the most of ${sharing} in this line` };
    }
  };
}

/**
 * Amounts of many processes over time: a line of pixels each, darker (lighter
 * on dark) is more. Where there is less than a pixel for each, neighbours
 * share one, and it shows the most of them. What it shows stands over it, whose
 * its lines are beside it.
 */
export function drawHeat(
  pen: Pen,
  { box, most }: RowScale,
  title: string,
  label: (process: number) => string,
  scale: Scale,
  bins: Cached<unknown>,
  values: readonly Means[],
  theme: Theme
): void {
  const processes = values.length;
  writeWith(pen, theme);
  pen.fillStyle = theme.text;
  pen.fillText(title, 0, box.y - NARROW_TITLE / 2);
  pen.fillStyle = theme.muted;
  drawLabels(pen, processes, label, box.x - 10, box.y, box.height / processes);
  clip(pen, box);
  pen.imageSmoothingEnabled = false;
  const left = box.x + scale.x(bins.from);
  const right = box.x + scale.x(bins.to);
  const image = imageOf(bins, values, linesIn(box, processes), most, theme);
  pen.drawImage(image, left, box.y, right - left, box.height);
  pen.restore();
}

const IMAGES = new WeakMap<Cached<unknown>, { readonly key: string; readonly canvas: HTMLCanvasElement }>();

/** All bins that are at hand, folded into lines: made once, so that a pan only moves it. */
function imageOf(
  bins: Cached<unknown>,
  values: readonly Means[],
  lines: number,
  most: number,
  theme: Theme
): HTMLCanvasElement {
  const ramp = rampOf(theme);
  const key = [lines, most, ramp].join();
  const known = IMAGES.get(bins);
  if (known?.key === key) return known.canvas;
  const width = bins.bins;
  const steps = new Uint8Array(width * lines);
  values.forEach((known = [], process) => {
    const line = Math.floor((process * lines) / values.length) * width;
    for (let bin = 0; bin < known.length; bin++) {
      if (Number.isNaN(known[bin])) continue;
      const step = 1 + Math.max(0, Math.min(STEPS - 1, Math.floor((known[bin] / most) * STEPS)));
      if (step > steps[line + bin]) steps[line + bin] = step;
    }
  });
  const image = new ImageData(width, lines);
  new Uint32Array(image.data.buffer).set(Uint32Array.from(steps, step => ramp[step]));
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = lines;
  canvas.addEventListener('contextlost', () => IMAGES.delete(bins));
  canvas.getContext('2d')?.putImageData(image, 0, 0);
  IMAGES.set(bins, { key, canvas });
  return canvas;
}

/** The colour of an amount, as a share of the most there is. */
export function heatColor(theme: Theme, share: number): Rgb {
  const far: Rgb = slotColor(AMOUNT_SLOT + (theme.dark ? 24 : 12), theme);
  // Nothing is more than not known.
  return mixed(theme.background, far, 0.15 + 0.85 * share);
}

/** Packed colours; entry 0 is that of the unknown. */
function rampOf(theme: Theme): Uint32Array {
  const ramp = new Uint32Array(STEPS + 1);
  ramp[0] = packed(theme.background);
  for (let step = 0; step < STEPS; step++) ramp[step + 1] = packed(heatColor(theme, step / (STEPS - 1)));
  return ramp;
}
