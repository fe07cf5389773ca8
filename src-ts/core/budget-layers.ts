import { BinMeans } from './bin-means';
import type { BudgetRows } from './budget';
import { sumsByName } from './budget-shares';
import { sumOf } from './sum-of';

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
  const inputs = part.names.indexOf('inputs');
  const byPart = new Float64Array(part.names.length);
  const waited = new Float64Array(name.names.length);
  let whole = 0;
  for (let row = 0; row < rows.length; row++) {
    if (part.codes[row] === inputs) waited[name.codes[row]] += seconds[row];
    byPart[part.codes[row]] += seconds[row];
    whole += seconds[row];
  }
  const list: Layer[] = [];
  /** Adds a layer, and gives its place. */
  const add = (code: number, label: string, sum: number): number => {
    const [, kind] = ORDER[placeOf(part.names[code])];
    return list.push({ part: part.names[code], name: label, kind, seconds: sum }) - 1;
  };
  const layerOfPart = new Uint16Array(byPart.length);
  const layerOfName = new Map<number, number>();
  const codes = [...part.names.keys()].sort(
    (a, b) => placeOf(part.names[a]) - placeOf(part.names[b]) || a - b
  );
  for (const code of codes) {
    let sum = byPart[code];
    if (code === inputs) {
      const named = [...waited.keys()]
        .filter(each => name.names[each] !== '' && waited[each] > 0 && waited[each] >= LEAST * whole)
        .sort((a, b) => waited[b] - waited[a])
        .slice(0, MOST);
      for (const each of named) layerOfName.set(each, add(code, name.names[each], waited[each]));
      sum = sumOf(waited.keys(), each => (layerOfName.has(each) ? 0 : waited[each]));
    }
    layerOfPart[code] = add(code, '', sum);
  }
  const of = new Uint16Array(rows.length);
  for (let row = 0; row < of.length; row++) {
    const code = part.codes[row];
    const own = code === inputs ? layerOfName.get(name.codes[row]) : undefined;
    of[row] = own ?? layerOfPart[code];
  }
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
