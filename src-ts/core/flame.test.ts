import { describe, expect, it, test } from 'vitest';
import { busiestLines, callees, callers, lines, type Samples, totalsOf, weigh } from './flame';
import { CallTree, type StackColumns } from './flame-stacks';
import { type FlameTree, nodeAt, search } from './flame-tree';
import { NOTHING } from './schema';

type Row = [stack: number, parent: number, name: string, line: number];

function stacksOf(rows: Row[]): StackColumns {
  return {
    stack: Uint32Array.from(rows, row => row[0]),
    parent: Uint32Array.from(rows, row => row[1]),
    line: Uint32Array.from(rows, row => row[3]),
    firstLine: new Uint32Array(rows.length).fill(1),
    functionOf: row => rows[row][2],
    fileOf: () => 'work.py'
  };
}

function samplesOf(tree: CallTree, list: [stack: number, time: number, duration: number][]): Samples {
  return {
    row: Int32Array.from(list, ([stack]) => tree.rowOfStack.get(stack)),
    time: Float64Array.from(list, ([, time]) => time),
    duration: Float32Array.from(list, ([, , duration]) => duration)
  };
}

/** `depth name total` of each node, in order. */
function shown(tree: FlameTree, names: string[]): string[] {
  return Array.from({ length: tree.size }, (_, node) =>
    [tree.depth[node], names[tree.frame[node]] ?? 'all', Number(tree.total[node].toFixed(6))].join(' ')
  );
}

/** Seconds by line of a node's function, by a way up from each row. */
function climbed(tree: CallTree, weights: Float64Array, node: number): Map<number, number> {
  const sums = new Map<number, number>();
  weights.forEach((weight, row) => {
    let above = row;
    while (above >= 0 && tree.nodeOfRow[above] !== node) above = tree.parentRow[above];
    const line = tree.lineOfRow[above];
    if (above >= 0 && weight > 0) sums.set(line, (sums.get(line) ?? 0) + weight);
  });
  return sums;
}

/** A tree that counts how many values by row are read of it. */
function readOf(tree: CallTree): { readonly tree: CallTree; read(): number } {
  let count = 0;
  const counted = <T extends object>(values: T): T =>
    new Proxy(values, {
      get: (of, at) => {
        count++;
        return Reflect.get(of, at);
      }
    });
  const [nodeOfRow, parentRow] = [counted(tree.nodeOfRow), counted(tree.parentRow)];
  const lineOfRow = counted(tree.lineOfRow);
  return { tree: { ...tree, nodeOfRow, parentRow, lineOfRow } as CallTree, read: () => count };
}

const ROWS: Row[] = [
  [0, NOTHING, 'main', 10],
  [1, 0, 'load', 20],
  [2, 0, 'load', 21],
  [3, NOTHING, 'main', 12],
  [4, 3, 'sum', 30],
  [5, 4, 'load', 22]
];
const tree = new CallTree().take(stacksOf(ROWS));
const every = () => true;

it('knows the line of each function that took most', () => {
  const busiest = busiestLines(tree, totalsOf(tree, Float64Array.of(0.5, 1, 2, 0, 1, 2)));
  const of = (name: string): number => busiest[tree.frames.names.indexOf(name)];
  expect([of('main'), of('load'), of('sum')]).toEqual([10, 21, 30]);
  expect([...busiestLines(tree, new Float64Array(6))]).toEqual([0, 0, 0]);
});

describe('call tree', () => {
  it('merges stacks that differ in lines only', () => {
    expect(tree.size).toBe(5);
    expect(tree.nodeOfRow[1]).toBe(tree.nodeOfRow[2]);
    expect(tree.nodeOfRow[0]).toBe(tree.nodeOfRow[3]);
    expect(tree.nodeOfRow[5]).not.toBe(tree.nodeOfRow[1]);
  });

  it('that grows looks at new rows only, and is what it is at once', () => {
    const asked: number[] = [];
    const upTo = (length: number): StackColumns => {
      const columns = stacksOf(ROWS.slice(0, length));
      const functionOf = (row: number): string => {
        asked.push(row);
        return columns.functionOf(row);
      };
      return { ...columns, functionOf };
    };
    const grown = new CallTree().take(upTo(1));
    asked.length = 0;
    grown.take(upTo(6));
    expect(asked).toEqual([1, 2, 3, 4, 5]);
    const built = ({ parent, frame, nodeOfRow, parentRow, lineOfRow }: CallTree): unknown => [
      parent,
      frame,
      nodeOfRow,
      parentRow,
      lineOfRow
    ];
    expect(built(grown)).toEqual(built(tree));
    grown.take(upTo(6));
    expect(asked).toHaveLength(5);
  });

  it('takes rows in any order and survives a parent that is missing or its own', () => {
    const back = new CallTree().take(stacksOf([...ROWS].reverse()));
    expect(back.size).toBe(tree.size);
    const odd = new CallTree().take(
      stacksOf([
        [0, 0, 'loop', 1],
        [1, 77, 'orphan', 1],
        [3, 2, 'a', 1],
        [2, 3, 'b', 1]
      ])
    );
    for (let node = 1; node < odd.size; node++) expect(odd.parent[node]).toBeLessThan(node);
  });

  it('makes no room for all ids below one that no recording reaches', () => {
    const before = process.memoryUsage().arrayBuffers;
    const vast = new CallTree().take(
      stacksOf([
        [0, NOTHING, 'main', 10],
        [4_000_000_000, 0, 'load', 20]
      ])
    );
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4e6);
    expect([0, 4_000_000_000, NOTHING].map(id => vast.rowOfStack.get(id))).toEqual([0, 1, -1]);
    expect([...vast.parent]).toEqual([-1, 0, 1]);
  });
});

describe('weights', () => {
  const samples = samplesOf(tree, [
    [1, 1, 1],
    [2, 3, 2],
    [5, 4, 1],
    [4, 4.5, 0.5]
  ]);

  it('sum to the sampled time and count only what lies inside a range', () => {
    expect(weigh(tree, samples, every).reduce((a, b) => a + b)).toBeCloseTo(4.5);
    const part = weigh(tree, samples, every, 0.5, 2);
    expect([...part]).toEqual([0, 0.5, 1, 0, 0, 0]);
    expect(weigh(tree, samples, sample => sample === 2).reduce((a, b) => a + b)).toBe(1);
  });

  it('make a tree of callees, heaviest first', () => {
    const flame = callees(tree, weigh(tree, samples, every));
    expect(shown(flame, tree.frames.names)).toEqual([
      '0 all 4.5',
      '1 main 4.5',
      '2 load 3',
      '2 sum 1.5',
      '3 load 1'
    ]);
    expect([...flame.next]).toEqual([5, 5, 3, 5, 5]);
    expect(flame.self[3]).toBeCloseTo(0.5);
  });

  it('make a tree of callers', () => {
    const flame = callers(tree, weigh(tree, samples, every));
    expect(shown(flame, tree.frames.names)).toEqual([
      '0 all 4.5',
      '1 load 4',
      '2 main 3',
      '2 sum 1',
      '3 main 1',
      '1 sum 0.5',
      '2 main 0.5'
    ]);
  });

  it('say which lines of a function were running', () => {
    const totals = totalsOf(tree, weigh(tree, samples, every));
    expect(lines(tree, totals, tree.nodeOfRow[0])).toEqual([
      [10, 3],
      [12, 1.5]
    ]);
    expect(lines(tree, totals, tree.nodeOfRow[1])).toEqual([
      [21, 2],
      [20, 1]
    ]);
  });

  it('say of any tree what a climb from each row to the node says, and look at its own rows only', () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed % below;
    };
    const rows = Array.from({ length: 400 }, (_, at): Row => {
      const parent = at < 5 ? NOTHING : random(at);
      return [at, parent, `f${random(6)}`, random(4)];
    });
    const any = new CallTree().take(stacksOf(rows));
    const weights = Float64Array.from(rows, () => random(3));
    const totals = totalsOf(any, weights);
    const { tree: watched, read } = readOf(any);
    for (let node = 1; node < any.size; node++) {
      const told = lines(watched, totals, node);
      expect(new Map(told)).toEqual(climbed(any, weights, node));
      expect(told).toEqual([...told].sort((a, b) => b[1] - a[1]));
    }
    expect(any.size).toBeGreaterThan(100);
    expect(read()).toBeLessThanOrEqual(2 * rows.length);
  });

  it('leave out what was not seen', () => {
    const flame = callees(
      tree,
      weigh(tree, samples, sample => sample < 2)
    );
    expect(shown(flame, tree.frames.names)).toEqual(['0 all 3', '1 main 3', '2 load 3']);
    const nothing = callees(
      tree,
      weigh(tree, samples, () => false)
    );
    expect(nothing.size).toBe(1);
  });
});

describe('looking', () => {
  const flame = callees(
    tree,
    weigh(
      tree,
      samplesOf(tree, [
        [1, 1, 1],
        [2, 3, 2],
        [5, 4, 1],
        [4, 4.5, 0.5]
      ]),
      every
    )
  );

  it('finds the node at a place', () => {
    expect(nodeAt(flame, 2, 2.9)).toBe(2);
    expect(nodeAt(flame, 2, 3)).toBe(3);
    expect(nodeAt(flame, 3, 0)).toBe(-1);
    expect(nodeAt(flame, 3, 3.5)).toBe(4);
    expect(nodeAt(flame, 9, 0)).toBe(-1);
  });

  it('finds text, and counts no second twice', () => {
    const names = tree.frames.names.map(name => name.toLowerCase());
    expect(search(flame, names, 'LOAD').share).toBeCloseTo(4 / 4.5);
    expect(search(flame, names, 'a').share).toBe(1);
    expect(search(flame, names, 'zzz')).toMatchObject({ nodes: [], share: 0 });
  });
});

test('what is called deeper than can be looked at counts for its caller', () => {
  const rows = Array.from({ length: 20_000 }, (_, at): Row => [at, at ? at - 1 : NOTHING, `f${at}`, 1]);
  const tree = new CallTree().take(stacksOf(rows));
  const samples = samplesOf(
    tree,
    rows.map(([stack]) => [stack, stack + 1, 1])
  );
  const weights = weigh(tree, samples, () => true);
  const down = callees(tree, weights);
  expect([down.size, down.deepest, down.total[0]]).toEqual([2001, 2000, 20_000]);
  const up = callers(tree, weights);
  expect(up.size).toBeLessThan(1_100_000);
  expect(up.total[0]).toBeCloseTo(20_000);
  // All lines are 1 but those of what lies deeper.
  const deeper = rows.map(
    ([stack, parent, name, line], at): Row => [stack, parent, name, at > 1999 ? at : line]
  );
  const cut = new CallTree().take(stacksOf(deeper));
  expect(lines(cut, totalsOf(cut, weights), cut.size - 1)).toEqual([[1, 18_001]]);
});
