import type { FlameTree } from '../../core/flame-tree';
import type { Direction } from '../panel';

/** The node where an arrow key leads; 0 where there is nothing. */
export function neighbour(tree: FlameTree, node: number, direction: Direction): number {
  switch (direction) {
    case 'up':
      return tree.parent[node];
    case 'down':
      return tree.next[node] > node + 1 ? node + 1 : 0;
    case 'right':
      return tree.next[node] < tree.next[tree.parent[node]] ? tree.next[node] : 0;
    case 'left': {
      let sibling = tree.parent[node] + 1;
      if (sibling === node) return 0;
      while (tree.next[sibling] < node) sibling = tree.next[sibling];
      return sibling;
    }
    case 'first':
      return 1;
    case 'last':
      return tree.size - 1;
  }
}
