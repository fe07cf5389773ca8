import { mixed, oklch, type Rgb, slotColor } from '../../draw/palette';
import type { Theme } from '../../draw/theme';

/** Places of the palette for sides beyond the baseline, which is grey. */
const SLOTS = [19, 4, 22, 1];

export function sideColor(side: number, theme: Theme): Rgb {
  if (side > 0) return slotColor(SLOTS[(side - 1) % SLOTS.length], theme);
  return mixed(theme.background, theme.dark ? [255, 255, 255] : [0, 0, 0], theme.dark ? 0.24 : 0.62);
}

/** Steps from no change to the strongest. */
export const STEPS = 8;

/**
 * The colour of a change from −`STEPS` (less) to `STEPS` (more). More is red and darkest on a light page, less is
 * blue and between that and what has not changed: told apart by lightness where hues are not.
 */
export function changeColor(step: number, theme: Theme): Rgb {
  const size = Math.min(STEPS, Math.abs(step)) / STEPS;
  const neutral = theme.dark ? 0.36 : 0.91;
  if (step === 0) return oklch(neutral, 0.005, 250);
  const [end, chroma, hue] =
    step > 0 ? [theme.dark ? 0.52 : 0.64, 0.2, 27] : [theme.dark ? 0.45 : 0.76, 0.13, 255];
  const strength = theme.contrast ? Math.sqrt(size) : size;
  return oklch(neutral + strength * (end - neutral), 0.02 + strength * (chroma - 0.02), hue);
}

/** How strong a change is, of a frame of which there were so many seconds; `whole` is all that was sampled. */
export function changeStep(before: number, after: number, whole: number): number {
  const most = Math.max(before, after);
  if (!(most > 0)) return 0;
  const change = after - before;
  // A frame that has doubled says nothing where there is next to nothing of it.
  const matters = Math.min(1, Math.abs(change) / (0.02 * whole));
  const step = Math.round(STEPS * Math.min(1, (2 * Math.abs(change)) / most) * matters);
  return change < 0 ? -step : step;
}
