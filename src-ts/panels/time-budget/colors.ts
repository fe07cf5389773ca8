import { CUSTOM } from '../../core/budget-layers';
import { type ColorRegistry, mixed, oklch, type Rgb, reservedColor, slotColor } from '../../draw/palette';
import type { Theme } from '../../draw/theme';
import { activityColor } from '../fine-metrics/colors';

/**
 * Work has strong colours, Dask's own where it has one; idle time is pale:
 * greys, hues that no task name has, and for what a name is to blame for a wash of its colour.
 */
export function partColor(part: string, name: string, colors: ColorRegistry, theme: Theme): Rgb {
  const blue = slotColor(19, theme.dark, theme.contrast);
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
      return mixed(theme.background, blue, 0.4);
    case 'failed':
      return activityColor('failed', theme);
    case 'deserialize':
      return reservedColor('deserialize', theme.dark);
    case 'serialize':
      return reservedColor('compress', theme.dark);
    case 'overhead':
      return reservedColor('overhead', theme.dark);
    case 'disk':
      return reservedColor('disk', theme.dark);
    case 'data':
    case 'transfer':
      return reservedColor('transfer', theme.dark);
    case 'inputs':
      return name ? wash(colors.color(name, theme.dark, theme.contrast), theme) : grey(2, theme);
    case 'placement':
      return wash(oklch(theme.dark ? 0.8 : 0.66, 0.13, 62), theme);
    case 'scheduler':
      return wash(oklch(theme.dark ? 0.72 : 0.58, 0.15, 8), theme);
    case 'paused':
      return oklch(theme.dark ? 0.62 : 0.72, 0.16, 40);
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

function wash(color: Rgb, theme: Theme): Rgb {
  return mixed(theme.background, color, theme.dark ? 0.34 : 0.56);
}

/** Steps of grey, from one that is barely there. */
function grey(step: 0 | 1 | 2 | 3, theme: Theme): Rgb {
  const ink: Rgb = theme.dark ? [255, 255, 255] : [0, 0, 0];
  const shares = theme.dark ? [0.03, 0.06, 0.1, 0.2] : [0.17, 0.27, 0.37, 0.6];
  return mixed(theme.background, ink, shares[step]);
}
