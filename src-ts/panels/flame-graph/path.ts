import type { FlameTree } from '../../core/flame-tree';

/** A node by the frames from the top down to it: the same in a tree that has grown. */
export function pathOf(tree: FlameTree, node: number): string {
  const frames: number[] = [];
  for (let at = node; at > 0; at = tree.parent[at]) frames.unshift(tree.frame[at]);
  return frames.join('/');
}

/** The node of a path, or -1. */
export function nodeOf(tree: FlameTree, path: string): number {
  let node = 0;
  for (const frame of path.split('/')) {
    node = childOf(tree, node, Number(frame));
    if (node < 0) return -1;
  }
  return node;
}

/** The child that is a call of a frame, or -1. */
export function childOf(tree: FlameTree, node: number, frame: number): number {
  for (let child = node + 1; child < tree.next[node]; child = tree.next[child]) {
    if (tree.frame[child] === frame) return child;
  }
  return -1;
}
