import type { FlameTree } from '../../core/flame-tree';
import { childOf } from './path';

/** The part of a tree that is shown: seconds from the left, and the depth at the top. */
export interface FlameWindow {
  readonly from: number;
  readonly to: number;
  readonly depth: number;
}

/** The same part of a tree that has grown: what is in sight stays in sight. */
export function carried(window: FlameWindow, before: FlameTree, now: FlameTree): FlameWindow {
  let old = 0;
  let node = 0;
  for (;;) {
    const child = childThatHolds(before, old, window);
    const same = child < 0 ? -1 : childOf(now, node, before.frame[child]);
    if (same < 0) break;
    old = child;
    node = same;
  }
  const scale = now.total[node] / before.total[old];
  const from = now.start[node] + (window.from - before.start[old]) * scale;
  const to = from + (window.to - window.from) * scale;
  const whole = window.from <= 0 && window.to >= before.total[0];
  if (whole || !(to > from)) return { ...window, from: 0, to: now.total[0] };
  return { ...window, from: Math.max(0, from), to: Math.min(now.total[0], to) };
}

/** The child of a node over all of a window; -1 if there is none. */
function childThatHolds(tree: FlameTree, node: number, { from, to }: FlameWindow): number {
  const rest = 1e-9 * tree.total[0];
  for (let child = node + 1; child < tree.next[node]; child = tree.next[child]) {
    const start = tree.start[child];
    if (start <= from + rest && start + tree.total[child] >= to - rest) return child;
  }
  return -1;
}
