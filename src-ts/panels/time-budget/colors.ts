import { CUSTOM } from '../../core/budget-layers';
import { type ColorRegistry, mixed, oklch, type Rgb, reservedColor, slotColor } from '../../draw/palette';
import type { Theme } from '../../draw/theme';
import { activityColor } from '../fine-metrics/colors';

/**
 * Work has strong colours, Dask's own where it has one; idle time is pale:
 * greys, hues that no task name has, and for what a name is to blame for a wash of its colour.
 */
export function partColor(part: string, name: string, colors: ColorRegistry, theme: Theme): Rgb {
  const blue = slotColor(19, theme);
  switch (part) {
    case 'cpu':
    case 'computing':
      return blue;
    // On a CPU or off it: nobody knows.
    case 'compute':
      return mixed(blue, activityColor('thread-noncpu', theme), 0.5);
    case 'off-cpu':
      return activityColor('thread-noncpu', theme);
    case 'other':
      return mixed(theme.background, blue, theme.contrast ? 0.78 : 0.4);
    case 'failed':
      return activityColor('failed', theme);
    case 'deserialize':
      return reservedColor('deserialize', theme);
    case 'serialize':
      return reservedColor('compress', theme);
    case 'overhead':
      return reservedColor('overhead', theme);
    case 'disk':
      return reservedColor('disk', theme);
    case 'data':
    case 'processes':
    case 'transfer':
      return reservedColor('transfer', theme);
    case 'inputs':
      return name ? wash(colors.color(name, theme), theme) : grey(2, theme);
    case 'placement':
      return wash(oklch(theme.dark ? 0.8 : 0.66, 0.13, 62), theme);
    case 'scheduler':
      return wash(oklch(theme.dark ? 0.72 : 0.58, 0.15, 8), theme);
    case 'paused':
      return oklch(theme.dark || theme.contrast ? 0.62 : 0.72, 0.16, 40);
    case 'resources':
      return wash(oklch(theme.dark ? 0.76 : 0.62, 0.14, 34), theme);
    case 'idle':
    case 'client':
      return grey(0, theme);
    case 'joining':
      return grey(1, theme);
    case 'leaving':
      return grey(3, theme);
    default:
      return activityColor(part.startsWith(CUSTOM) ? part.slice(CUSTOM.length) : 'executor', theme);
  }
}

function wash(color: Rgb, { background, dark, contrast }: Theme): Rgb {
  const share = contrast ? (dark ? 0.45 : 0.97) : dark ? 0.34 : 0.56;
  return mixed(background, color, share);
}

/** Steps of grey, from one that is barely there; with high contrast all of them can be seen. */
function grey(step: 0 | 1 | 2 | 3, { background, dark, contrast }: Theme): Rgb {
  const ink: Rgb = dark ? [255, 255, 255] : [0, 0, 0];
  const plain = dark ? [0.03, 0.06, 0.1, 0.2] : [0.17, 0.27, 0.37, 0.6];
  const strong = dark ? [0.13, 0.2, 0.3, 0.5] : [0.71, 0.8, 0.88, 0.96];
  return mixed(background, ink, (contrast ? strong : plain)[step]);
}
