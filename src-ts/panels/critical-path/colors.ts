import type { Kind } from '../../core/critical-path';
import { css, mixed, type Rgb, reservedColor } from '../../draw/palette';
import type { Theme } from '../../draw/theme';

/** How high each kind stands in the strip, a share of it: a shape beside the colour. */
export const HEIGHTS: Readonly<Record<Kind, number>> = {
  compute: 1,
  transfer: 0.55,
  disk: 0.55,
  worker: 0.3,
  thread: 0.3,
  scheduler: 0.3,
  client: 0.12
};

/** Colour of a kind; computing has the colours of its tasks, and this one where it stands for all of them. */
export function kindColor(kind: Kind, theme: Theme): string {
  const { background, dark, contrast } = theme;
  const ink: Rgb = dark ? [255, 255, 255] : [0, 0, 0];
  const grey = (light: number, night: number): string => {
    const share = dark ? night : light;
    return css(mixed(background, ink, contrast ? share + (dark ? 0.05 : (1 - light) / 2) : share));
  };
  switch (kind) {
    case 'compute':
      return grey(0.9, 0.4);
    case 'transfer':
    case 'disk':
      return css(reservedColor(kind, theme));
    case 'scheduler':
      return grey(0.86, 0.42);
    case 'worker':
      return grey(0.66, 0.22);
    case 'thread':
      return grey(0.42, 0.1);
    case 'client':
      return grey(0.66, 0.22);
  }
}
