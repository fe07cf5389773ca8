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

/** How far each kind that has no colour is from the background, by day and by night. */
const GREYS: { readonly [K in Kind]?: readonly [light: number, night: number] } = {
  compute: [0.9, 0.4],
  scheduler: [0.86, 0.42],
  thread: [0.42, 0.1]
};

/** Colour of a kind; computing has the colours of its tasks, and this one where it stands for all of them. */
export function kindColor(kind: Kind, theme: Theme): string {
  if (kind === 'transfer' || kind === 'disk') return css(reservedColor(kind, theme));
  const { background, dark, contrast } = theme;
  const [light, night] = GREYS[kind] ?? [0.66, 0.22];
  const ink: Rgb = dark ? [255, 255, 255] : [0, 0, 0];
  const share = dark ? night : light;
  return css(mixed(background, ink, contrast ? share + (dark ? 0.05 : (1 - light) / 2) : share));
}
