import { firstAbove } from './first-above';
import type { Recording } from './recording';
import { sumOf } from './sum-of';

/**
 * Samples of many processes over time: each process's rows are put together
 * and sorted by time, then read out bin by bin for drawing.
 */
export interface Series {
  /** Names of the processes, in order of first appearance. */
  readonly names: readonly string[];
  /** Process p has the entries first[p] … first[p + 1] of the arrays below. */
  readonly first: Uint32Array;
  /** Row of the table, sorted by process and time. */
  readonly rows: Uint32Array;
  readonly times: Float64Array;
  /** Usual interval between two samples of a process, seconds. */
  readonly interval: number;
  /** How many rows of the table were looked at, and of which past of the recording. */
  readonly taken: number;
  readonly past: string;
}

/** No samples. */
export const NONE: Series = {
  names: [],
  first: new Uint32Array(1),
  rows: new Uint32Array(),
  times: new Float64Array(),
  interval: 0,
  taken: 0,
  past: ''
};

/** Rows that a series of the same past had `before` are not read again: further ones are put to them. */
export function seriesOf(
  codes: ArrayLike<number>,
  codeNames: readonly string[],
  times: ArrayLike<number>,
  include: (name: string) => boolean = () => true,
  last = NONE,
  past = ''
): Series {
  const before = last.past === past ? last : NONE;
  const lists = new Map(before.names.map(name => [name, [] as number[]]));
  const listOf: number[][] = [];
  let size = before.rows.length;
  for (let row = before.taken; row < codes.length; row++) {
    const code = codes[row];
    if (!listOf[code]) {
      const name = codeNames[code];
      listOf[code] = lists.get(name) ?? [];
      if (include(name)) lists.set(name, listOf[code]);
    }
    if (Number.isFinite(times[row])) listOf[code].push(row);
  }
  for (const { length } of lists.values()) size += length;
  const first = new Uint32Array(lists.size + 1);
  const rows = new Uint32Array(size);
  const sorted = new Float64Array(size);
  [...lists.values()].forEach((added, process) => {
    const to = before.first[process + 1] ?? 0;
    const from = to && before.first[process];
    const begin = first[process];
    const end = begin + to - from;
    first[process + 1] = end + added.length;
    rows.set(before.rows.subarray(from, to), begin);
    sorted.set(before.times.subarray(from, to), begin);
    const earliest = added.reduce((least, row) => Math.min(least, times[row]), Number.POSITIVE_INFINITY);
    const start = firstAbove(sorted, earliest, begin, end);
    const behind = [...rows.subarray(start, end), ...added].sort((a, b) => times[a] - times[b]);
    rows.set(behind, start);
    sorted.set(
      behind.map(row => times[row]),
      start
    );
  });
  const interval = usualInterval(first, sorted);
  return { names: [...lists.keys()], first, rows, times: sorted, interval, taken: codes.length, past };
}

function usualInterval(first: Uint32Array, times: Float64Array): number {
  const gaps: number[] = [];
  const step = Math.max(1, Math.floor(times.length / 2000));
  for (let process = 0; process + 1 < first.length; process++) {
    for (let at = first[process] + 1; at < first[process + 1]; at += step)
      gaps.push(times[at] - times[at - 1]);
  }
  gaps.sort((a, b) => a - b);
  return gaps[gaps.length >> 1] ?? 0;
}

/** What bins of time hold of a process: NaN where nothing is known. */
export interface Binned {
  readonly mean: Float32Array;
  readonly low: Float32Array;
  readonly high: Float32Array;
}

/** A sample stands for what comes after it for so many intervals. */
const HELD = 4;

/** The shortest and, unless the usual interval is longer, the longest time for which one stands, seconds. */
const LEAST_HELD = 1.5;
const MOST_HELD = 300;

/**
 * How long a sample stands for what comes after it, seconds. Intervals change within a recording, and those of one
 * process are told by its samples before and after: a gap alone is none, so that silence is not bridged. Rows of one
 * process come from several observers, and each knows a part of the columns: only rows with a value count.
 */
function holdAt(series: Series, values: ArrayLike<number>, process: number, at: number): number {
  const { first, rows, times, interval } = series;
  /** The smaller of the gaps between three samples: those that were found, and the nearest on one side. */
  const pace = (step: number, found: number[]): number => {
    for (let each = at + step; first[process] <= each && each < first[process + 1] && !found[2]; each += step)
      if (!Number.isNaN(values[rows[each]])) found.push(times[each]);
    return Math.min(Math.abs(found[1] - found[0]), Math.abs(found[2] - found[1])) || 0;
  };
  const own = HELD * Math.max(pace(-1, [times[at]]), pace(1, []));
  return Math.max(HELD * interval, LEAST_HELD, Math.min(own, MOST_HELD));
}

/** The sample of a process that stands for what is at a time, -1 where none does. */
function standing(series: Series, values: ArrayLike<number>, process: number, time: number): number {
  const { first, rows, times, interval } = series;
  const longest = Math.max(HELD * interval, MOST_HELD);
  for (let at = firstAfter(series, process, time) - 1; at >= first[process]; at--) {
    const age = time - times[at];
    if (age > longest) break;
    if (!Number.isNaN(values[rows[at]])) return age > holdAt(series, values, process, at) ? -1 : at;
  }
  return -1;
}

/**
 * Read values of a process in equal bins from `from` to `to`; undefined where it has no sample then. Between samples
 * a value stands until the next one, for as long as `holdAt` says; a missing value says nothing.
 */
export function binned(
  series: Series,
  values: ArrayLike<number>,
  process: number,
  from: number,
  to: number,
  bins: number
): Binned | undefined {
  const { rows, times } = series;
  const end = series.first[process + 1];
  let at = standing(series, values, process, from);
  if (at < 0) at = firstAfter(series, process, from);
  if (at === end || times[at] >= to) return undefined;
  const [mean, low, high] = [1, 2, 3].map(() => new Float32Array(bins).fill(Number.NaN));
  const width = (to - from) / bins;
  let last = -1;
  let held = last;
  let until = Number.NEGATIVE_INFINITY;
  for (let bin = 0; bin < bins; bin++) {
    const stop = from + (bin + 1) * width;
    let sum = 0;
    let count = 0;
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (; at < end && times[at] < stop; at++) {
      const value = values[rows[at]];
      if (Number.isNaN(value)) continue;
      last = at;
      if (times[at] < from) continue;
      sum += value;
      count++;
      if (value < least) least = value;
      if (value > most) most = value;
    }
    if (count > 0) {
      mean[bin] = sum / count;
      low[bin] = least;
      high[bin] = most;
      continue;
    }
    if (last !== held) until = times[last] + holdAt(series, values, process, last);
    held = last;
    if (stop - width <= until) mean[bin] = low[bin] = high[bin] = values[rows[last]];
  }
  return { mean, low, high };
}

/** The first entry of a process after a time. */
export function firstAfter({ first, times }: Series, process: number, time: number): number {
  return firstAbove(times, time, first[process], first[process + 1]);
}

/** The value of a process at a time: the last one known, NaN where that is older than `holdAt` says. */
export function valueAt(series: Series, values: ArrayLike<number>, process: number, time: number): number {
  return values[series.rows[standing(series, values, process, time)]] ?? Number.NaN;
}

/** Least, middle and greatest of the processes' values in each bin. */
export interface Band {
  readonly low: Float32Array;
  readonly median: Float32Array;
  readonly high: Float32Array;
}

/** Of some processes; `read` gives the bins of one. */
export function band(
  processes: readonly number[],
  bins: number,
  read: (process: number) => Binned | undefined
): Band {
  const low = new Float32Array(bins).fill(Number.POSITIVE_INFINITY);
  const high = new Float32Array(bins).fill(Number.NEGATIVE_INFINITY);
  const median = new Float32Array(bins).fill(Number.NaN);
  const means: Float32Array[] = [];
  for (const process of processes) {
    const each = read(process);
    if (!each) continue;
    means.push(each.mean);
    for (let bin = 0; bin < bins; bin++) {
      if (each.low[bin] < low[bin]) low[bin] = each.low[bin];
      if (each.high[bin] > high[bin]) high[bin] = each.high[bin];
    }
  }
  const scratch = new Float32Array(means.length);
  for (let bin = 0; bin < bins; bin++) {
    let count = 0;
    for (const mean of means) if (!Number.isNaN(mean[bin])) scratch[count++] = mean[bin];
    if (count === 0) low[bin] = high[bin] = Number.NaN;
    const known = scratch.subarray(0, count).sort();
    median[bin] = (known[(count - 1) >> 1] + known[count >> 1]) / 2;
  }
  return { low, median, high };
}

/** The sum of those that are known; NaN where none is. */
export function sumOfKnown(values: readonly number[]): number {
  const known = values.filter(value => !Number.isNaN(value));
  return known.length > 0 ? sumOf(known) : Number.NaN;
}

/** Means of a process, bin by bin; undefined where it has no sample. */
export type Means = ArrayLike<number> | undefined;

/** Sum over processes in each bin; NaN where none is known. `read` gives the means of one. */
export function summed(
  processes: readonly number[],
  bins: number,
  read: (process: number) => Means
): Float64Array {
  const sums = new Float64Array(bins).fill(Number.NaN);
  for (const process of processes) {
    const mean = read(process) ?? [];
    for (let bin = 0; bin < mean.length; bin++) {
      if (!Number.isNaN(mean[bin])) sums[bin] = (sums[bin] || 0) + mean[bin];
    }
  }
  return sums;
}

/** How many rows were looked at for the most of something, and what it is so far. */
export type Peaks = Map<string, readonly [rows: number, most: number]>;

/** The most so far, of what was `seen` elsewhere too; `mostFrom` gives that of the rows from one on. */
export function peakOfRows(
  peaks: Peaks,
  key: string,
  rows: number,
  mostFrom: (row: number) => number,
  seen = Number.NEGATIVE_INFINITY
): number {
  const [looked, before] = peaks.get(key) ?? [0, seen];
  const most = Math.max(before, seen, looked < rows ? mostFrom(looked) : seen);
  peaks.set(key, [rows, most]);
  return most;
}

/** Of so many equal bins of all time those that the rows from one on may have changed. */
export function binsSince(
  { origin, end }: Pick<Recording, 'origin' | 'end'>,
  times: ArrayLike<number>,
  row: number,
  bins: number
): [from: number, to: number, bins: number] {
  let earliest = end;
  for (let at = row; at < times.length; at++) if (times[at] < earliest) earliest = times[at];
  const step = (end - origin) / bins;
  const bin = Math.min(bins - 1, Math.floor((earliest - origin) / step) || 0);
  return [origin + bin * step, end, bins - bin];
}
