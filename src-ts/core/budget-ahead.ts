import { type BudgetRows, budgetRows, budgetTime } from './budget';
import { placeIn } from './place-in';
import type { Recording } from './recording';
import type { TimeRange } from './selection';

/** Sums of a whole time budget, as a report tells them ahead of the rows. */
export interface BudgetAhead {
  readonly time: TimeRange;
  /** One for each part, and for each of the names that were waited for longest. */
  readonly sums: Pick<BudgetRows, 'length' | 'part' | 'name'>;
  /** Thread-seconds of each. */
  readonly seconds: Float64Array;
  /** How many rows will come. */
  readonly rows: number;
}

const read = new WeakMap<object, BudgetAhead | undefined>();

/** Undefined where a recording tells none, or none that make sense. */
export function budgetAhead(recording: Recording): BudgetAhead | undefined {
  const told = recording.about('budget');
  if (typeof told !== 'object' || told === null) return undefined;
  if (!read.has(told)) read.set(told, sumsOf(told));
  return read.get(told);
}

function sumsOf(told: object): BudgetAhead | undefined {
  const { rows, start, stop, sums } = told as Readonly<Record<string, unknown>>;
  if (typeof rows !== 'number' || typeof start !== 'number' || typeof stop !== 'number') return undefined;
  if (!(stop > start) || !Array.isArray(sums) || !sums.every(isSum)) return undefined;
  return {
    time: { start, stop },
    sums: {
      length: sums.length,
      part: symbols(sums.map(([part]) => part)),
      name: symbols(sums.map(([, name]) => name))
    },
    seconds: Float64Array.from(sums, ([, , seconds]) => seconds),
    rows
  };
}

/** The sums while rows of the budget are still to come. */
export function comingBudget(recording: Recording): BudgetAhead | undefined {
  const told = budgetAhead(recording);
  return told && recording.table('budget').rows < told.rows ? told : undefined;
}

/** The time that the budget is of; undefined where it has not been worked out. */
export function timeOfBudget(recording: Recording): TimeRange | undefined {
  const told = budgetAhead(recording);
  if (told) return told.time;
  const rows = budgetRows(recording);
  return rows && budgetTime(rows);
}

type Sum = readonly [part: string, name: string, seconds: number];

function isSum(each: unknown): each is Sum {
  if (!Array.isArray(each) || each.length !== 3) return false;
  const [part, name, seconds] = each as unknown[];
  return typeof part === 'string' && typeof name === 'string' && Number.isFinite(seconds);
}

function symbols(texts: readonly string[]): BudgetRows['part'] {
  const places = new Map<string, number>();
  return {
    codes: Uint32Array.from(texts, text => placeIn(places, text)),
    names: [...places.keys()],
    find: name => places.get(name) ?? -1
  };
}
