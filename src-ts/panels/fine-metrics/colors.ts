import { hash, type Rgb, reservedColor, SLOTS, slotColor } from '../../draw/palette';
import type { Theme } from '../../draw/theme';

/** Dask's own colours where it has one for an activity; the person's labels get places of their own. */
export function activityColor(activity: string, theme: Theme): Rgb {
  switch (activity) {
    case 'thread-cpu':
      return slotColor(19, theme);
    case 'thread-noncpu':
      return slotColor(31, theme);
    case 'network':
    case 'transfer':
      return reservedColor('transfer', theme);
    case 'disk-read':
    case 'disk-write':
    case 'memory-read':
      return reservedColor('disk', theme);
    case 'deserialize':
    case 'serialize':
      return reservedColor('deserialize', theme);
    case 'compress':
    case 'decompress':
      return reservedColor('compress', theme);
    case 'failed':
    case 'cancelled':
      return theme.dark ? [235, 235, 235] : [20, 20, 20];
    case 'executor':
    case 'offload':
    case 'idle':
    case 'other':
      return theme.contrast ? [120, 125, 132] : theme.dark ? [92, 97, 105] : [196, 201, 208];
    default:
      return slotColor(hash(activity) % SLOTS, theme);
  }
}
