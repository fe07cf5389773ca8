import type { Cached } from '../core/bin-cache';
import { mixed, packed, type Rgb, slotColor } from '../draw/palette';
import type { Box, Pen } from '../draw/pen';
import type { Theme } from '../draw/theme';
import type { Scale } from '../draw/viewport';
import { binsIn } from './chart-row';

/** Steps of the ramp from nothing to most. */
const STEPS = 64;

/** The hue of amounts; no task name has it alone. */
const AMOUNT_SLOT = 7;

/** Height for so many processes: as high as a name while there are few, a pixel each while that can be, CSS pixels. */
export function heatHeight(processes: number): number {
  return Math.min(240, Math.max(32, Math.min(96, processes * 13), processes));
}

/** The line of one of so many processes. */
export function stripeOf(box: Box, process: number, processes: number): Box {
  const height = box.height / processes;
  return { ...box, y: box.y + process * height, height };
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
  const lines = Math.min(processes, Math.max(1, Math.floor(box.height)));
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
