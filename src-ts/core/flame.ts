import type { CallTree } from './flame-stacks';
import { type FlameTree, layOut, type Weighted } from './flame-tree';

/** Samples of one recording, ready to be weighed; `row` is a row of `stacks` or -1. */
export interface Samples {
  readonly row: Int32Array;
  /** End of the interval each stands for, and its length. Seconds. */
  readonly time: Float64Array;
  readonly duration: Float32Array;
}

/**
 * Seconds each row of `stacks` was seen on top, of the samples that `keep` accepts, within a time range.
 * With `into`, what the samples from `first` on weigh is added to what is there.
 */
export function weigh(
  tree: CallTree,
  samples: Samples,
  keep: (sample: number) => boolean,
  from = Number.NEGATIVE_INFINITY,
  to = Number.POSITIVE_INFINITY,
  { into, first = 0 }: { readonly into?: Float64Array; readonly first?: number } = {}
): Float64Array {
  const weights = into ?? new Float64Array(tree.nodeOfRow.length);
  const { row, time, duration } = samples;
  for (let sample = first; sample < row.length; sample++) {
    const at = row[sample];
    const stop = time[sample];
    const length = duration[sample];
    const start = stop - length;
    if (at < 0 || stop <= from || start >= to || !keep(sample)) continue;
    const weight = (stop < to ? stop : to) - (start > from ? start : from);
    if (weight > 0) weights[at] = weights[at] + Math.min(weight, length);
  }
  return weights;
}

/** Callers at the top, the functions they called below. */
export function callees(tree: CallTree, weights: Float64Array): FlameTree {
  const { size, parent, frame } = tree;
  return layOut({ size, parent, frame, self: selfTimes(tree, weights) });
}

function selfTimes(tree: CallTree, weights: Float64Array): Float64Array {
  const self = new Float64Array(tree.size);
  for (let row = 0; row < weights.length; row++) {
    const node = tree.nodeOfRow[row];
    self[node] = self[node] + weights[row];
  }
  return self;
}

/** Nodes that weigh less than this share of everything are not followed to their callers. */
const SMALLEST_SHARE = 2e-6;

/** With so many nodes none is any more: what is left counts for those that are there. */
const MOST_NODES = 1e6;

/** Inverted: where time was spent at the top, who called it below. */
export function callers(tree: CallTree, weights: Float64Array): FlameTree {
  const self = selfTimes(tree, weights);
  const leaves: number[] = [];
  let everything = 0;
  for (let node = 1; node < tree.size; node++) {
    if (self[node] > 0) {
      leaves.push(node);
      everything += self[node];
    }
  }
  return layOut(climb(tree, self, Int32Array.from(leaves), everything * SMALLEST_SHARE));
}

function climb(tree: CallTree, self: Float64Array, leaves: Int32Array, smallest: number): Weighted {
  const parent: number[] = [-1];
  const frame: number[] = [-1];
  const weight: number[] = [0];
  const above = Int32Array.from(leaves);
  const scratch = [new Int32Array(leaves.length), new Int32Array(leaves.length)] as const;
  const frames = tree.frames.names.length;
  const slot = new Int32Array(frames);
  const count = new Int32Array(frames);
  const work: number[] = [0, 0, leaves.length];
  while (work.length > 0) {
    const end = work.pop()!;
    const begin = work.pop()!;
    const node = work.pop()!;
    const seen: number[] = [];
    const sums: number[] = [];
    for (let item = begin; item < end; item++) {
      if (above[item] <= 0) continue;
      const called = tree.frame[above[item]];
      if (count[called]++ === 0) {
        slot[called] = seen.length;
        seen.push(called);
        sums.push(0);
      }
      sums[slot[called]] += self[leaves[item]];
    }
    const places: number[] = [];
    let place = begin;
    for (let group = 0; group < seen.length; group++) {
      const size = count[seen[group]];
      const child = parent.length;
      parent.push(node);
      frame.push(seen[group]);
      weight.push(sums[group]);
      if (sums[group] >= smallest && child < MOST_NODES) work.push(child, place, place + size);
      places.push(place);
      place += size;
    }
    for (let item = begin; item < end; item++) {
      if (above[item] <= 0) continue;
      const group = slot[tree.frame[above[item]]];
      const target = places[group]++;
      scratch[0][target] = leaves[item];
      scratch[1][target] = tree.parent[above[item]];
    }
    leaves.set(scratch[0].subarray(begin, place), begin);
    above.set(scratch[1].subarray(begin, place), begin);
    for (const called of seen) count[called] = 0;
  }
  return asSelf(parent, frame, weight);
}

/** Totals to self times: what a node's callers do not account for is its own. */
function asSelf(parent: number[], frame: number[], weight: number[]): Weighted {
  const self = Float64Array.from(weight);
  for (let node = parent.length - 1; node > 0; node--) {
    const above = parent[node];
    if (above > 0) self[above] = self[above] - weight[node];
  }
  for (let node = 0; node < self.length; node++) {
    if (self[node] < 1e-9) self[node] = 0;
  }
  return { size: parent.length, parent: Int32Array.from(parent), frame: Int32Array.from(frame), self };
}

/** Seconds of each row of `stacks` by what each weighs on top, with all that it called. */
export function totalsOf({ parentRow }: CallTree, weights: Float64Array): Float64Array {
  const totals = weights.slice();
  // Callers stand before what they call, but for damaged data.
  for (let row = totals.length - 1; row >= 0; row--) {
    if (parentRow[row] >= 0 && parentRow[row] < row) totals[parentRow[row]] += totals[row];
  }
  return totals;
}

/** Seconds by line of a node's function by those of rows, its callees included: `[line, seconds]`, most first. */
export function lines(
  { rowsOfNode, lineOfRow }: CallTree,
  totals: Float64Array,
  node: number
): [line: number, seconds: number][] {
  const sums = new Map<number, number>();
  for (const row of rowsOfNode.rows(node)) {
    if (totals[row] > 0) sums.set(lineOfRow[row], (sums.get(lineOfRow[row]) ?? 0) + totals[row]);
  }
  return mostFirst(sums);
}

function mostFirst(sums: ReadonlyMap<number, number>): [line: number, seconds: number][] {
  return [...sums].sort((a, b) => b[1] - a[1]);
}

/** By frame, the line that was running for most of the time, with what it called; 0 where none was. */
export function busiestLines(tree: CallTree, totals: Float64Array): Uint32Array {
  const { lineOfRow, nodeOfRow, frame, frames } = tree;
  const sums = frames.names.map(() => new Map<number, number>());
  for (let row = 0; row < totals.length; row++) {
    const found = sums[frame[nodeOfRow[row]]];
    if (found && totals[row] > 0 && tree.isOwn(row))
      found.set(lineOfRow[row], (found.get(lineOfRow[row]) ?? 0) + totals[row]);
  }
  return Uint32Array.from(sums, lines => mostFirst(lines)[0]?.[0] ?? 0);
}
