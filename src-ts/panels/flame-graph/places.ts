import { type FlameTree, nodeAt } from '../../core/flame-tree';
import type { Box, Pen } from '../../draw/pen';
import { ROW } from './painter';
import type { FlameWindow } from './window';

/** Where a node stands in a box that shows a part of its tree. */
export function boxOf(tree: FlameTree, node: number, { from, to, depth }: FlameWindow, box: Box): Box {
  const scale = box.width / (to - from);
  const left = Math.max(0, (tree.start[node] - from) * scale);
  const right = Math.min(box.width, (tree.start[node] + tree.total[node] - from) * scale);
  const y = box.y + (tree.depth[node] - depth) * ROW;
  return { x: box.x + left, y, width: Math.max(1, right - left), height: ROW };
}

/** The node that stands in a place of the box; none where that is 0 or less. */
export function nodeIn(tree: FlameTree, x: number, y: number, window: FlameWindow, box: Box): number {
  const { from, to, depth } = window;
  const row = depth + Math.floor((y - box.y) / ROW);
  return nodeAt(tree, row, from + ((x - box.x) / box.width) * (to - from));
}

/** A line around a node, where it is in sight. */
export function outlineNode(pen: Pen, { x, y, width, height }: Box, box: Box, color: string): void {
  if (y < box.y || y + height > box.y + box.height + 1) return;
  pen.strokeStyle = color;
  pen.lineWidth = 1.5;
  pen.strokeRect(x + 0.5, y + 0.5, Math.max(1, width - 1), height - 2);
}
