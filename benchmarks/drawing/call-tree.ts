/** A tree of calls as a profile has it: `parent[i] < i`, -1 at the root; seconds spent in each frame itself. */
export interface Calls {
  readonly parent: Int32Array;
  readonly name: Uint32Array;
  readonly self: Float64Array;
  readonly names: readonly string[];
}

const WORDS = [
  'read',
  'merge',
  'chunk',
  'array',
  'frame',
  'apply',
  'group',
  'solve',
  'inner',
  'cache',
  'parse',
  'block'
];

/** The same tree for everybody who draws it: `size` frames, some 40 deep, with long and very short ones. */
export function callTree(size: number): Calls {
  const random = generator(7);
  const names = Array.from({ length: 3000 }, (_, index) => {
    const [a, b] = [WORDS[index % 12], WORDS[Math.floor(index / 12) % 12]];
    return `package${index % 37}.${a}_${b}_${index}`;
  });
  const parent = new Int32Array(size).fill(-1);
  const name = new Uint32Array(size);
  const self = new Float64Array(size);
  const path: number[] = [0];
  for (let node = 1; node < size; node++) {
    // Now and then up by a few, mostly on and down: pre-order.
    while (path.length > 1 && (path.length > 40 || random() < 0.5)) path.pop();
    parent[node] = path[path.length - 1];
    name[node] = Math.floor(random() ** 2 * names.length);
    self[node] = 0.0005 * Math.exp(4 * random() - 2);
    path.push(node);
  }
  return { parent, name, self, names };
}

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
