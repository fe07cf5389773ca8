import { shortened } from '../../core/format';
import { type Box, type Pen, writeWith } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import { isNarrow } from '../chart-row';
import type { Sign } from '../panel';

const LONGEST = 24;

/**
 * What colours mean, in a line over a plot, as far as there is room, and how many `more` there are, with those that are
 * `left` out; where the line ends.
 */
export function drawSwatches(
  pen: Pen,
  box: Box,
  signs: readonly (Sign & { readonly faded?: boolean })[],
  theme: Theme,
  left = 0,
  more = (rest: number): string => `${rest} more`
): number {
  const text = writeWith(pen, theme);
  let x = isNarrow(box.x) ? 0 : box.x;
  const room = box.x + box.width;
  let rest = signs.length + left;
  for (const { label, color, faded } of signs) {
    const words = shortened(label, LONGEST);
    const width = text.of(words) + 13;
    if (x + width + (rest > 1 ? text.of(more(rest)) + 14 : 0) > room) break;
    pen.fillStyle = color;
    pen.globalAlpha = faded ? 0.5 : 1;
    pen.fillRect(x, 5, 9, 9);
    pen.globalAlpha = 1;
    pen.fillStyle = theme.muted;
    pen.fillText(words, x + 13, 10);
    x += width + 14;
    rest--;
  }
  if (rest === 0) return x;
  pen.fillStyle = theme.muted;
  pen.fillText(more(rest), x, 10);
  return room;
}
