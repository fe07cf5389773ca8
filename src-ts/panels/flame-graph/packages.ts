import type { FlameTree } from '../../core/flame-tree';
import { share } from '../../core/format';
import { sumOf } from '../../core/sum-of';
import { css } from '../../draw/palette';
import type { Pen } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import { drawSwatches } from '../memory/swatches';
import type { FrameColors } from './colors';

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
  const part = (some: readonly number[]): string => share(sumOf(some, at => sums[at]) / tree.total[0]);
  const signs = order.map(at => ({
    label: `${colors.packages[at]} ${part([at])}`,
    color: css(colors.packageColor(at, theme))
  }));
  const line = { x: 0, y: 0, width, height: 0 };
  drawSwatches(pen, line, signs, theme, 0, rest => `${rest} more ${part(order.slice(-rest))}`);
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
