import { describe, expect, it } from 'vitest';
import { type FlameTree, layOut } from '../../core/flame-tree';
import { carried } from './window';

/** A root with two children; the first has two of its own. */
function treeOf(left: readonly [number, number], right: number): FlameTree {
  return layOut({
    size: 5,
    parent: Int32Array.of(-1, 0, 1, 1, 0),
    frame: Int32Array.of(-1, 0, 1, 2, 3),
    self: Float64Array.of(0, 0, left[0], left[1], right)
  });
}

const before = treeOf([6, 2], 2);

describe('a zoom, when the tree grows', () => {
  it('stays on its frame, which may have moved', () => {
    const now = treeOf([6, 2], 30);
    const window = { from: 6, to: 8, depth: 1 };
    expect(carried(window, before, now)).toEqual({ from: 36, to: 38, depth: 1 });
  });

  it('stays whole when it was', () => {
    const now = treeOf([6, 4], 2);
    expect(carried({ from: 0, to: 10, depth: 2 }, before, now)).toEqual({ from: 0, to: 12, depth: 2 });
  });

  it('goes to what is left when its frame is gone', () => {
    const now = treeOf([6, 0], 2);
    const { from, to } = carried({ from: 6, to: 8, depth: 1 }, before, now);
    expect(to).toBeGreaterThan(from);
    expect(to).toBeLessThanOrEqual(8);
  });
});
