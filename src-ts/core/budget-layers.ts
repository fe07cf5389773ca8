import { BinMeans } from './bin-means';
import type { BudgetRows } from './budget';
import { sumsByName } from './budget-shares';

/** What a thread does or why it does nothing. */
export type Kind = 'computing' | 'overhead' | 'idle';

/** Parts in the order in which they are shown; users' own activities, within tasks, come after `off-cpu`. */
const ORDER: readonly (readonly [part: string, kind: Kind])[] = [
  ['cpu', 'computing'],
  ['compute', 'computing'],
  ['off-cpu', 'computing'],
  ['custom', 'computing'],
  ['failed', 'computing'],
  ['deserialize', 'overhead'],
  ['serialize', 'overhead'],
  ['disk', 'overhead'],
  ['overhead', 'overhead'],
  ['data', 'idle'],
  ['processes', 'idle'],
  ['inputs', 'idle'],
  ['placement', 'idle'],
  ['scheduler', 'idle'],
  ['paused', 'idle'],
  ['resources', 'idle'],
  ['client', 'idle'],
  ['joining', 'idle'],
  ['leaving', 'idle']
];

/** Before a user's label stands this. */
export const CUSTOM = 'custom: ';

/** A part of the thread time as it is shown: waiting for inputs is a layer for each of the worst names. */
export interface Layer {
  readonly part: string;
  /** The task name that was waited for; '' for all others together, and for other parts. */
  readonly name: string;
  readonly kind: Kind;
  /** Thread-seconds. */
  readonly seconds: number;
}

export interface Layers {
  readonly list: readonly Layer[];
  /** Index into `list` for each row. */
  readonly of: Uint16Array;
  /** Thread-seconds of all layers. */
  readonly whole: number;
}

/** A name that was waited for is a layer of its own from this share of all on; and at most so many are. */
const LEAST = 0.02;
const MOST = 4;

/** Sums rows by layer; `seconds` are those of `threadSeconds`. */
export function layersOf(rows: Pick<BudgetRows, 'length' | 'part' | 'name'>, seconds: Float64Array): Layers {
  const { part, name } = rows;
  const wide = name.names.length || 1;
  const sums = new Float64Array(part.names.length * wide);
  let whole = 0;
  for (let row = 0; row < rows.length; row++) {
    sums[part.codes[row] * wide + name.codes[row]] += seconds[row];
    whole += seconds[row];
  }
  const list: Layer[] = [];
  const layer = new Uint16Array(sums.length);
  const add = (code: number, names: readonly number[], label: string): void => {
    const place = list.length;
    let sum = 0;
    for (const each of names) {
      sum += sums[code * wide + each];
      layer[code * wide + each] = place;
    }
    const [, kind] = ORDER[placeOf(part.names[code])];
    list.push({ part: part.names[code], name: label, kind, seconds: sum });
  };
  const codes = [...part.names.keys()].sort(
    (a, b) => placeOf(part.names[a]) - placeOf(part.names[b]) || a - b
  );
  for (const code of codes) {
    let rest = [...name.names.keys()];
    if (part.names[code] === 'inputs') {
      const named = rest
        .filter(each => name.names[each] !== '' && sums[code * wide + each] >= LEAST * whole)
        .filter(each => sums[code * wide + each] > 0)
        .sort((a, b) => sums[code * wide + b] - sums[code * wide + a])
        .slice(0, MOST);
      for (const each of named) add(code, [each], name.names[each]);
      rest = rest.filter(each => !named.includes(each));
    }
    add(code, rest, '');
  }
  const of = new Uint16Array(rows.length);
  for (let row = 0; row < of.length; row++) of[row] = layer[part.codes[row] * wide + name.codes[row]];
  return { list, of, whole };
}

/** A part that a later version has added comes before idle time, as work that is not known. */
function placeOf(part: string): number {
  const known = part.startsWith(CUSTOM) ? 'custom' : part;
  const place = ORDER.findIndex(([each]) => each === known);
  return place < 0 ? ORDER.findIndex(([each]) => each === 'overhead') : place;
}

/** Thread-seconds of one layer by task name, most first. `chosen` are task names. */
export function namesOfLayer(
  rows: BudgetRows,
  seconds: Float64Array,
  layers: Layers,
  layer: number,
  chosen?: ReadonlySet<string>
): readonly (readonly [name: string, seconds: number])[] {
  const wide = layers.list.length;
  const sums = sumsByName(rows, seconds, layers, chosen).filter((_, at) => at % wide === layer);
  return [...sums.keys()]
    .filter(code => sums[code] > 0)
    .sort((a, b) => sums[b] - sums[a])
    .map(code => [rows.name.names[code], sums[code]] as const);
}

/** Threads in each layer in equal bins of time: `[layer][bin]`, the mean over the bin. */
export function threadsOverTime(
  rows: BudgetRows,
  mask: Float64Array,
  layers: Layers,
  from: number,
  to: number,
  bins: number
): Float64Array[] {
  const made = new BinMeans(layers.list.length, from, to, bins);
  for (let row = 0; row < rows.length; row++) {
    const threads = rows.threads[row] * mask[row];
    if (threads !== 0) made.add(layers.of[row], rows.start[row], rows.stop[row], threads);
  }
  return made.means();
}
