import type { Cached } from '../core/bin-cache';
import { mixed, packed, type Rgb, slotColor } from '../draw/palette';
import type { Box, Pen } from '../draw/pen';
import type { Theme } from '../draw/theme';
import type { Scale } from '../draw/viewport';
import { binsIn } from './chart-row';
import type { Mark } from './panel';

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
  Math.min(processes, Math.max(1, Math.floor(height)));

/**
 * The mark at a height and a moment of a map. Of processes that share a line it is of the one with the most then, which
 * the line shows, and its card says so. `markOf` makes that of a process whose line is a box.
 */
export function heatMark(
  box: Box,
  y: number,
  time: number,
  bins: Cached<unknown>,
  values: ArrayLike<number>,
  processes: number,
  markOf: (process: number, box: Box) => Mark
): Mark {
  const lines = linesIn(box, processes);
  const height = box.height / lines;
  const line = Math.max(0, Math.min(lines - 1, Math.floor((y - box.y) / height)));
  const first = Math.ceil((line * processes) / lines);
  const sharing = Math.ceil(((line + 1) * processes) / lines) - first;
  const bin = Math.floor((time - bins.from) / bins.step);
  let process = first;
  let most = Number.NEGATIVE_INFINITY;
  for (let each = first; each < first + sharing; each++) {
    const value = values[each * bins.bins + bin];
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
 * share one, and it shows the most of them.
 */
export function drawHeat(
  pen: Pen,
  box: Box,
  scale: Scale,
  bins: Cached<unknown>,
  values: ArrayLike<number>,
  processes: number,
  most: number,
  theme: Theme
): void {
  const [first, last] = binsIn(scale, bins);
  const width = last - first;
  if (width <= 0 || processes === 0) return;
  const ramp = rampOf(theme);
  const lines = linesIn(box, processes);
  const image = new ImageData(width, lines);
  const pixels = new Uint32Array(image.data.buffer);
  const steps = new Uint8Array(width * lines);
  for (let process = 0; process < processes; process++) {
    const line = Math.floor((process * lines) / processes);
    for (let bin = 0; bin < width; bin++) {
      const value = values[process * bins.bins + first + bin];
      if (Number.isNaN(value)) continue;
      const step = 1 + Math.max(0, Math.min(STEPS - 1, Math.floor((value / most) * STEPS)));
      if (step > steps[line * width + bin]) steps[line * width + bin] = step;
    }
  }
  for (let at = 0; at < steps.length; at++) pixels[at] = ramp[steps[at]];
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = lines;
  canvas.getContext('2d')?.putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = false;
  const left = box.x + scale.x(bins.from + first * bins.step);
  const right = box.x + scale.x(bins.from + last * bins.step);
  pen.drawImage(canvas, left, box.y, right - left, box.height);
}

/** The colour of an amount, as a share of the most there is. */
export function heatColor(theme: Theme, share: number): Rgb {
  const far: Rgb = slotColor(AMOUNT_SLOT + (theme.dark ? 24 : 12), theme.dark, theme.contrast);
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
