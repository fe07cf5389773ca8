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
  return gaps.length > 0 ? gaps[gaps.length >> 1] : 0;
}

/** What bins of time hold, for each process: NaN where nothing is known. Index: process * bins + bin. */
export interface Binned {
  readonly bins: number;
  readonly mean: Float32Array;
  readonly low: Float32Array;
  readonly high: Float32Array;
}

/**
 * How long a sample stands for what comes after it, seconds. Rows of one
 * process come from several observers, and each knows a part of the columns.
 */
export function holdOf(series: Series): number {
  return Math.max(4 * series.interval, 1.5);
}

/**
 * Read values in equal bins from `from` to `to`. Between samples a value
 * stands until the next one, for as long as `holdOf` says; a missing value
 * says nothing.
 */
export function binned(
  series: Series,
  values: ArrayLike<number>,
  from: number,
  to: number,
  bins: number
): Binned {
  const size = series.names.length * bins;
  const mean = new Float32Array(size).fill(Number.NaN);
  const low = new Float32Array(size).fill(Number.NaN);
  const high = new Float32Array(size).fill(Number.NaN);
  const width = (to - from) / bins;
  const hold = holdOf(series);
  for (let process = 0; process < series.names.length; process++) {
    const base = process * bins;
    const end = series.first[process + 1];
    let at = Math.max(series.first[process], firstAfter(series, process, from - hold) - 1);
    let last = Number.NaN;
    let lastTime = Number.NEGATIVE_INFINITY;
    for (let bin = 0; bin < bins; bin++) {
      const stop = from + (bin + 1) * width;
      let sum = 0;
      let count = 0;
      let least = Number.POSITIVE_INFINITY;
      let most = Number.NEGATIVE_INFINITY;
      for (; at < end && series.times[at] < stop; at++) {
        const value = values[series.rows[at]];
        if (Number.isNaN(value)) continue;
        last = value;
        lastTime = series.times[at];
        if (lastTime < from) continue;
        sum += value;
        count++;
        if (value < least) least = value;
        if (value > most) most = value;
      }
      if (count > 0) {
        mean[base + bin] = sum / count;
        low[base + bin] = least;
        high[base + bin] = most;
      } else if (stop - width - lastTime <= hold) {
        mean[base + bin] = low[base + bin] = high[base + bin] = last;
      }
    }
  }
  return { bins, mean, low, high };
}

/** The samples of one process alone. */
export function alone(series: Series, process: number): Series {
  const first = series.first.subarray(process, process + 2);
  return { ...series, names: [series.names[process]], first };
}

/** The first entry of a process after a time. */
export function firstAfter({ first, times }: Series, process: number, time: number): number {
  return firstAbove(times, time, first[process], first[process + 1]);
}

/** The value of a process at a time: the last one known, NaN where that is older than `holdOf` says. */
export function valueAt(series: Series, values: ArrayLike<number>, process: number, time: number): number {
  const hold = holdOf(series);
  for (let at = firstAfter(series, process, time) - 1; at >= series.first[process]; at--) {
    if (time - series.times[at] > hold) break;
    const value = values[series.rows[at]];
    if (!Number.isNaN(value)) return value;
  }
  return Number.NaN;
}

/** Least, middle and greatest of the processes' values in each bin. */
export interface Band {
  readonly low: Float32Array;
  readonly median: Float32Array;
  readonly high: Float32Array;
}

export function band(values: Binned, processes: readonly number[]): Band {
  const { bins } = values;
  const low = new Float32Array(bins).fill(Number.NaN);
  const median = new Float32Array(bins).fill(Number.NaN);
  const high = new Float32Array(bins).fill(Number.NaN);
  const scratch = new Float32Array(processes.length);
  for (let bin = 0; bin < bins; bin++) {
    let count = 0;
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (const process of processes) {
      const at = process * bins + bin;
      const value = values.mean[at];
      if (Number.isNaN(value)) continue;
      scratch[count++] = value;
      if (values.low[at] < least) least = values.low[at];
      if (values.high[at] > most) most = values.high[at];
    }
    if (count === 0) continue;
    const known = scratch.subarray(0, count).sort();
    low[bin] = least;
    high[bin] = most;
    median[bin] = (known[(count - 1) >> 1] + known[count >> 1]) / 2;
  }
  return { low, median, high };
}

/** The sum of those that are known; NaN where none is. */
export function sumOfKnown(values: readonly number[]): number {
  const known = values.filter(value => !Number.isNaN(value));
  return known.length > 0 ? sumOf(known) : Number.NaN;
}

/** Sum over processes in each bin; NaN where none is known. */
export function summed(values: Binned, processes: readonly number[]): Float64Array {
  const sums = new Float64Array(values.bins).fill(Number.NaN);
  for (const process of processes) {
    for (let bin = 0; bin < values.bins; bin++) {
      const value = values.mean[process * values.bins + bin];
      if (!Number.isNaN(value)) sums[bin] = (Number.isNaN(sums[bin]) ? 0 : sums[bin]) + value;
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
