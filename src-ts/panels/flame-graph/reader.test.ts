import { expect, test } from 'vitest';
import { layOut } from '../../core/flame-tree';
import { TreeReader } from './reader';

/** A root with two children, the second of which has so many of its own. */
function treeOf(many: number): ReturnType<typeof layOut> {
  const leaves = Array.from({ length: many }, (_, at) => at + 3);
  return layOut({
    size: many + 3,
    parent: Int32Array.of(-1, 0, 0, ...leaves.map(() => 2)),
    frame: Int32Array.of(-1, 0, 1, ...leaves.map(() => 2)),
    self: Float64Array.of(0, 1, 0, ...leaves.map(() => 1))
  });
}

test('each is told as which of how many it is, callers and what is beyond those that are read out too', () => {
  const tree = treeOf(300);
  const reader = new TreeReader();
  const last = tree.size - 1;
  const node = tree.parent[last] > 0 ? last : last - 1;
  reader.show(tree, node, ['a', 'b', 'leaf']);
  const told = [...reader.element.children].map(item =>
    ['aria-level', 'aria-posinset', 'aria-setsize'].map(name => Number(item.getAttribute(name)))
  );
  const caller = tree.parent[node] === 1 ? 1 : 2;
  expect(told[0]).toEqual([1, caller, 2]);
  expect(told[1]).toEqual([2, 1, 300]);
  expect(told.at(-1)).toEqual([2, 300, 300]);
});
