import type { FlameTree } from '../../core/flame-tree';
import { share } from '../../core/format';
import { css } from '../../draw/palette';
import { type Pen, writeWith } from '../../draw/pen';
import { textWidth } from '../../draw/text-width';
import type { Theme } from '../../draw/theme';
import type { FrameColors } from './colors';

const SWATCH = 13;
const GAP = 13;

/** A line with the packages, those with the most time in their own frames first; what has no room is summed. */
export function drawPackages(
  pen: Pen,
  tree: FlameTree,
  colors: FrameColors,
  inverted: boolean,
  width: number,
  theme: Theme
): void {
  const sums = sumsOf(tree, colors, inverted);
  const order = [...sums.keys()].filter(at => sums[at] > 0).sort((a, b) => sums[b] - sums[a]);
  const font = `12px ${theme.font}`;
  const text = textWidth(font);
  writeWith(pen, font);
  const whole = tree.total[0];
  let x = 0;
  let others = order.reduce((sum, at) => sum + sums[at], 0);
  let rest = '';
  for (const [number, at] of order.entries()) {
    const words = `${colors.packages[at]} ${share(sums[at] / whole)}`;
    const after = order.length - number - 1;
    const right = x + SWATCH + text.of(words);
    const before = rest;
    others -= sums[at];
    rest = after > 0 ? `${after} more ${share(others / whole)}` : '';
    pen.fillStyle = theme.muted;
    if (right + (after > 0 ? GAP + text.of(rest) : 0) > width) {
      pen.fillText(before, x, 10);
      return;
    }
    pen.fillText(words, x + SWATCH, 10);
    pen.fillStyle = css(colors.packageColor(at, theme));
    pen.fillRect(x, 5, 9, 9);
    x = right + GAP;
  }
}

const kept = new WeakMap<FlameTree, Float64Array>();

/** Seconds by package; of an inverted tree only the top counts, where the time was spent. */
function sumsOf(tree: FlameTree, colors: FrameColors, inverted: boolean): Float64Array {
  const known = kept.get(tree);
  if (known) return known;
  const sums = new Float64Array(colors.packages.length);
  for (let node = 1; node < tree.size; node++) {
    const top = tree.depth[node] === 1 ? tree.total[node] : 0;
    sums[colors.packageOfFrame[tree.frame[node]]] += inverted ? top : tree.self[node];
  }
  kept.set(tree, sums);
  return sums;
}
