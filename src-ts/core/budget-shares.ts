import type { BudgetRows } from './budget';
import type { Layers } from './budget-layers';
import { placeIn } from './place-in';
import type { Symbols } from './recording';
import { NOTHING } from './schema';
import { chosenFlags } from './selection';
import { sumOf } from './sum-of';

/**
 * Whose the time is that rows of a large recording tell without a task name,
 * in sum over the run: rows of no length tell how many thread-seconds of those
 * of one part, span and submission belong to a name.
 */
export interface NameShares {
  /** Place in `names` for each row; -1 where the row tells all that is known. Empty where no row is shared. */
  readonly of: Int32Array;
  /** Task names by code, and their shares of such rows; the rest belongs to no name. */
  readonly names: readonly (readonly Share[])[];
}

type Share = readonly [name: number, share: number];

type Rows = Omit<BudgetRows, 'shares'>;

export function sharesOf(rows: Rows): NameShares {
  const { length, start, stop, threads, part, name, span, submission } = rows;
  const places = new Map<number, number>();
  const told: Share[][] = [];
  const keyOf = (row: number): number =>
    (part.codes[row] * span.names.length + span.codes[row]) * (NOTHING + 1) + submission[row];
  for (let row = 0; row < length; row++) {
    if (start[row] < stop[row] || name.names[name.codes[row]] === '') continue;
    const place = placeIn(places, keyOf(row));
    told[place] ??= [];
    told[place].push([name.codes[row], threads[row]]);
  }
  if (told.length === 0) return { of: new Int32Array(), names: [] };
  const of = new Int32Array(length).fill(-1);
  const wholes = new Float64Array(told.length);
  for (let row = 0; row < length; row++) {
    const place = name.names[name.codes[row]] === '' ? places.get(keyOf(row)) : undefined;
    if (place === undefined) continue;
    of[row] = place;
    wholes[place] += (stop[row] - start[row]) * threads[row];
  }
  return { of, names: told.map((some, place) => withRest(some, wholes[place], name.find(''))) };
}

/** Thread-seconds as shares of a whole, that of no name last. */
function withRest(told: readonly Share[], whole: number, nameless: number): Share[] {
  const sum = sumOf(told, ([, seconds]) => seconds);
  const all = Math.max(whole, sum);
  const shares = told.map(([name, seconds]): Share => [name, seconds / all]);
  return whole > sum ? [...shares, [nameless, 1 - sum / whole]] : shares;
}

/** The part of each kind of shared rows that belongs to chosen names. */
export function chosenShares({ names }: NameShares, isChosen: ArrayLike<number>): Float64Array {
  return Float64Array.from(names, some => sumOf(some, ([name, share]) => isChosen[name] * share));
}

/** Thread-seconds by name and layer, as `[name * layers + layer]`; those of shared rows to the names that are chosen. */
export function sumsByName(
  { name, shares }: { readonly name: Symbols; readonly shares: NameShares },
  seconds: Float64Array,
  { list, of }: Layers,
  chosen?: ReadonlySet<string>
): Float64Array {
  const wide = list.length;
  const sums = new Float64Array(name.names.length * wide);
  const shared = new Float64Array(shares.names.length * wide);
  for (let row = 0; row < seconds.length; row++) {
    const place = shares.of[row] ?? -1;
    if (place < 0) sums[name.codes[row] * wide + of[row]] += seconds[row];
    else shared[place * wide + of[row]] += seconds[row];
  }
  const isChosen = chosenFlags(name.names, chosen);
  const parts = chosenShares(shares, isChosen);
  shares.names.forEach((some, place) => {
    if (parts[place] <= 0) return;
    for (let layer = 0; layer < wide; layer++) {
      const whole = shared[place * wide + layer] / parts[place];
      if (whole > 0)
        for (const [each, share] of some) sums[each * wide + layer] += isChosen[each] * share * whole;
    }
  });
  return sums;
}
