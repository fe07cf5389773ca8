import { firstAbove } from './first-above';

/**
 * A call tree laid out for drawing: nodes in pre-order, heaviest child first,
 * and each depth's nodes from left to right in arrays of their own.
 * Node 0 is the root and spans everything. All weights are in seconds.
 */
export interface FlameTree {
  readonly size: number;
  readonly deepest: number;
  readonly frame: Int32Array;
  readonly parent: Int32Array;
  readonly depth: Uint16Array;
  readonly start: Float64Array;
  readonly total: Float64Array;
  readonly self: Float64Array;
  /** The node after the last of this node's descendants. */
  readonly next: Uint32Array;
  /** The node that the caller gave, for each node here. */
  readonly origin: Int32Array;
  /** Depth d has the entries levels[d] … levels[d + 1] of the arrays below. */
  readonly levels: Uint32Array;
  readonly nodes: Uint32Array;
  readonly left: Float64Array;
  readonly right: Float64Array;
}

/** Nodes as their maker has them: parents before children, node 0 the root. */
export interface Weighted {
  readonly size: number;
  readonly parent: ArrayLike<number>;
  readonly frame: ArrayLike<number>;
  readonly self: Float64Array;
}

/** Lay a tree out, leaving out all that weighs nothing. */
export function layOut(tree: Weighted): FlameTree {
  const total = Float64Array.from(tree.self);
  for (let node = tree.size - 1; node > 0; node--) {
    const parent = tree.parent[node];
    total[parent] = total[parent] + total[node];
  }
  const { first, children } = childLists(tree, total);
  let size = 1;
  for (let node = 1; node < tree.size; node++) if (total[node] > 0) size++;
  const out = allocate(size);
  const stack = new Int32Array(size);
  const stackParent = new Int32Array(size);
  let height = 1;
  let count = 0;
  let deepest = 0;
  stackParent[0] = -1;
  const cursor = new Float64Array(size);
  while (height > 0) {
    const node = stack[--height];
    const parent = stackParent[height];
    const at = count++;
    out.origin[at] = node;
    out.frame[at] = tree.frame[node];
    out.parent[at] = parent;
    out.total[at] = total[node];
    out.self[at] = tree.self[node];
    if (parent >= 0) {
      out.depth[at] = out.depth[parent] + 1;
      out.start[at] = cursor[parent];
      cursor[parent] = cursor[parent] + total[node];
      if (out.depth[at] > deepest) deepest = out.depth[at];
    }
    cursor[at] = out.start[at];
    for (let child = first[node + 1] - 1; child >= first[node]; child--) {
      stack[height] = children[child];
      stackParent[height++] = at;
    }
  }
  for (let at = size - 1; at >= 0; at--) {
    if (out.next[at] === 0) out.next[at] = at + 1;
    const parent = out.parent[at];
    if (parent >= 0 && out.next[parent] < out.next[at]) out.next[parent] = out.next[at];
  }
  return { ...out, size, deepest, ...byDepth(out, size, deepest) };
}

function allocate(size: number) {
  return {
    frame: new Int32Array(size),
    parent: new Int32Array(size),
    depth: new Uint16Array(size),
    start: new Float64Array(size),
    total: new Float64Array(size),
    self: new Float64Array(size),
    next: new Uint32Array(size),
    origin: new Int32Array(size)
  };
}

function childLists(tree: Weighted, total: Float64Array): { first: Uint32Array; children: Uint32Array } {
  const first = new Uint32Array(tree.size + 2);
  for (let node = 1; node < tree.size; node++) {
    if (total[node] > 0) first[tree.parent[node] + 2]++;
  }
  for (let at = 1; at < first.length; at++) first[at] = first[at] + first[at - 1];
  const children = new Uint32Array(first[tree.size + 1]);
  for (let node = 1; node < tree.size; node++) {
    if (total[node] > 0) children[first[tree.parent[node] + 1]++] = node;
  }
  const heavierFirst = (a: number, b: number) => total[b] - total[a] || a - b;
  for (let node = 0; node < tree.size; node++) {
    if (first[node + 1] - first[node] > 1) children.subarray(first[node], first[node + 1]).sort(heavierFirst);
  }
  return { first, children };
}

function byDepth(tree: ReturnType<typeof allocate>, size: number, deepest: number) {
  const levels = new Uint32Array(deepest + 2);
  for (let at = 0; at < size; at++) levels[tree.depth[at] + 1]++;
  for (let depth = 0; depth <= deepest; depth++) levels[depth + 1] = levels[depth + 1] + levels[depth];
  const cursor = levels.slice();
  const nodes = new Uint32Array(size);
  const left = new Float64Array(size);
  const right = new Float64Array(size);
  for (let at = 0; at < size; at++) {
    const entry = cursor[tree.depth[at]]++;
    nodes[entry] = at;
    left[entry] = tree.start[at];
    right[entry] = tree.start[at] + tree.total[at];
  }
  return { levels, nodes, left, right };
}

/** The node at a depth and a place (seconds from the left), or -1. */
export function nodeAt(tree: FlameTree, depth: number, place: number): number {
  if (depth < 0 || depth > tree.deepest) return -1;
  const begin = tree.levels[depth];
  const entry = firstAbove(tree.left, place, begin, tree.levels[depth + 1]) - 1;
  return entry >= begin && tree.right[entry] > place ? tree.nodes[entry] : -1;
}

export interface Found {
  /** 1 for each frame whose text matches. */
  readonly frames: Uint8Array;
  /** Nodes that match and lie inside no other that matches. */
  readonly nodes: number[];
  /** Their share of everything, 0 to 1. */
  readonly share: number;
}

/** Find text in frames; `texts` are lower case, one a frame. */
export function search(tree: FlameTree, texts: readonly string[], wanted: string): Found {
  const needle = wanted.toLowerCase();
  const frames = new Uint8Array(texts.length);
  for (let frame = 0; frame < texts.length; frame++) {
    if (texts[frame].includes(needle)) frames[frame] = 1;
  }
  const nodes: number[] = [];
  let sum = 0;
  for (let node = 1; node < tree.size; ) {
    if (frames[tree.frame[node]]) {
      nodes.push(node);
      sum += tree.total[node];
      node = tree.next[node];
    } else {
      node++;
    }
  }
  return { frames, nodes, share: tree.total[0] > 0 ? sum / tree.total[0] : 0 };
}
