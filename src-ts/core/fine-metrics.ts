import { BinMeans } from './bin-means';
import { madeFrom } from './made-from';
import type { Recording } from './recording';
import { chosenFlags, type Filter, type TimeRange } from './selection';
import { firstAfter, seriesOf } from './series';
import { sumOf } from './sum-of';
import { timeOf } from './task-filter';

/** Which of the three pictures an entry belongs to. */
export type Direction = 'execute' | 'receive' | 'send' | 'other';

const DIRECTIONS: ReadonlyMap<string, Direction> = new Map([
  ['execute', 'execute'],
  ['gather-dep', 'receive'],
  ['get-data', 'send']
]);

/** One amount: of an activity, for a task name where there is one, in one unit. */
export interface Amount {
  readonly direction: Direction;
  readonly context: string;
  readonly name: string;
  readonly activity: string;
  readonly value: number;
}

/** All units that occur, the usual ones first. */
export function unitsOf(recording: Recording): string[] {
  const units = recording
    .table('metrics')
    .symbols('unit')
    .names.filter(unit => unit !== '');
  const usual = ['seconds', 'bytes', 'count'];
  return [
    ...usual.filter(unit => units.includes(unit)),
    ...units.filter(unit => !usual.includes(unit)).sort()
  ];
}

/** Sums up to a row of `metrics`. */
interface Summed {
  row: number;
  readonly sums: Map<number, Amount & { value: number }>;
}

/** What panels ask for again: sums by what they are of. */
const summed = madeFrom([], () => new Map<string, Summed>());
/** Panels that show amounts ask for so many at a time. */
const MOST_SUMMED = 4;
/** Any table has fewer different texts in a column. */
const CODES = 2 ** 20;

/** Sums of the fine metrics of one unit within a filter, largest first. Of rows that were summed before nothing is read. */
export function amountsOf(recording: Recording, unit: string, filter: Filter): Amount[] {
  const { late } = recording.table('metrics');
  const time = timeOf(recording, filter);
  const lists = [filter.workers, filter.names, filter.spans].map(each => each && [...each]);
  const key = JSON.stringify([late, unit, time, time && recording.state('metrics', 'clocks'), lists]);
  const kept = summed(recording);
  if (kept.size >= MOST_SUMMED && !kept.has(key)) kept.clear();
  const found = kept.get(key) ?? { row: 0, sums: new Map() };
  kept.set(key, found);
  takeRows(recording, passing(recording, unit, filter), time && sharesWithin(recording, time), found);
  return [...found.sums.values()]
    .filter(({ value }) => value !== 0)
    .map(amount => ({ ...amount }))
    .sort((a, b) => b.value - a.value);
}

/** Adds the rows that have come since. */
function takeRows(
  recording: Recording,
  passes: (row: number) => boolean,
  shareOf: ((row: number) => number) | undefined,
  found: Summed
): void {
  const table = recording.table('metrics');
  const values = table.numbers('value');
  const contexts = table.symbols('context');
  const names = table.symbols('prefix');
  const activities = table.symbols('activity');
  const { sums } = found;
  for (; found.row < table.rows; found.row++) {
    const { row } = found;
    if (!passes(row)) continue;
    const key = (contexts.codes[row] * CODES + names.codes[row]) * CODES + activities.codes[row];
    let sum = sums.get(key);
    if (!sum) {
      const context = contexts.names[contexts.codes[row]];
      const direction = DIRECTIONS.get(context) ?? 'other';
      const name = names.names[names.codes[row]];
      sum = { direction, context, name, activity: activities.names[activities.codes[row]], value: 0 };
      sums.set(key, sum);
    }
    sum.value += values[row] * (shareOf?.(row) ?? 1);
  }
}

/** Tells which rows of metrics are in a unit and within a filter, whenever they were. */
function passing(recording: Recording, unit: string, filter: Filter): (row: number) => boolean {
  const table = recording.table('metrics');
  const units = table.symbols('unit');
  const unitCode = units.find(unit);
  const chosen = (
    [
      ['worker', filter.workers],
      ['prefix', filter.names],
      ['span', filter.spans]
    ] as const
  ).map(([column, wanted]) => {
    const { codes, names } = table.symbols(column);
    return { codes, flags: chosenFlags(names, wanted) };
  });
  return row => units.codes[row] === unitCode && chosen.every(({ codes, flags }) => flags[codes[row]]);
}

/**
 * What task functions took of a unit each second, by activity (`[activity][bin]`, as `symbols('activity').names` has
 * them) in equal bins of time: the mean over each bin. All clauses count but time; what is of no known period has
 * no rate.
 */
export function ratesOf(
  recording: Recording,
  unit: string,
  filter: Filter,
  from: number,
  to: number,
  bins: number
): Float64Array[] {
  const table = recording.table('metrics');
  const values = table.numbers('value');
  const times = table.times('time');
  const contexts = table.symbols('context');
  const execute = contexts.find('execute');
  const { codes, names } = table.symbols('activity');
  const passes = passing(recording, unit, filter);
  const beginOf = beginnings(recording);
  const made = new BinMeans(names.length, from, to, bins);
  for (let row = 0; row < table.rows; row++) {
    const end = times[row];
    if (end <= from || contexts.codes[row] !== execute || !passes(row)) continue;
    const begin = beginOf(row) ?? end;
    made.add(codes[row], begin, end, values[row] / (end - begin));
  }
  return made.means();
}

/** A moment as a period, seconds; what was told at one moment lies no further apart. */
const MOMENT = 1e-3;

/** Gives the share of a row of metrics that lies within a time: of a moment where its worker never told its clock. */
function sharesWithin(recording: Recording, { start, stop }: TimeRange): (row: number) => number {
  const times = recording.table('metrics').times('time');
  const beginOf = beginnings(recording);
  return row => {
    const end = times[row];
    const begin = beginOf(row) ?? end - MOMENT;
    return Math.max(0, Math.min(end, stop) - Math.max(begin, start)) / (end - begin);
  };
}

/** Gives the moment from which on a row of metrics is: when its worker told its clock before, if it did. */
function beginnings(recording: Recording): (row: number) => number | undefined {
  const metrics = recording.table('metrics');
  const clocks = recording.table('clocks');
  const told = clocks.symbols('worker');
  const series = seriesOf(told.codes, told.names, clocks.times('time'));
  const workers = metrics.symbols('worker');
  const places = workers.names.map(name => series.names.indexOf(name));
  const times = metrics.times('time');
  return row => {
    const process = places[workers.codes[row]];
    const before = firstAfter(series, process, times[row] - MOMENT) - 1;
    return before >= series.first[process] ? series.times[before] : undefined;
  };
}

/** A bar: its parts add up to its total. */
export interface Bar {
  readonly label: string;
  readonly total: number;
  readonly parts: readonly { readonly label: string; readonly value: number }[];
}

/** Amounts put together by one property, their parts by another; largest bar first. */
export function barsOf(
  amounts: readonly Amount[],
  by: (amount: Amount) => string,
  part: (amount: Amount) => string
): Bar[] {
  const bars = new Map<string, Map<string, number>>();
  for (const amount of amounts) {
    const parts = bars.get(by(amount)) ?? new Map<string, number>();
    parts.set(part(amount), (parts.get(part(amount)) ?? 0) + amount.value);
    bars.set(by(amount), parts);
  }
  return [...bars]
    .map(([label, parts]) => ({
      label,
      total: sumOf(parts.values()),
      parts: [...parts].map(([name, value]) => ({ label: name, value })).sort((a, b) => b.value - a.value)
    }))
    .sort((a, b) => b.total - a.total);
}
