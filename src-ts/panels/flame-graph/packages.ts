import type { FlameTree } from '../../core/flame-tree';
import { share } from '../../core/format';
import { css } from '../../draw/palette';
import type { Pen } from '../../draw/pen';
import { textWidth } from '../../draw/text-width';
import type { Theme } from '../../draw/theme';
import type { FrameColors } from './colors';

/** A line with the packages, those with the most time in their own frames first. */
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
  pen.font = font;
  pen.textBaseline = 'middle';
  pen.textAlign = 'left';
  let x = 0;
  for (const at of order) {
    const words = `${colors.packages[at]} ${share(sums[at] / tree.total[0])}`;
    const room = text.of(words) + 14;
    if (x + room > width) break;
    pen.fillStyle = css(colors.packageColor(at, theme));
    pen.fillRect(x, 5, 9, 9);
    pen.fillStyle = theme.muted;
    pen.fillText(words, x + 13, 10);
    x += room + 12;
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
