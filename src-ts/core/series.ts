import { firstAbove } from './first-above';

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
}

export function seriesOf(
  codes: ArrayLike<number>,
  codeNames: readonly string[],
  times: ArrayLike<number>,
  include: (name: string) => boolean = () => true
): Series {
  const place = new Int32Array(codeNames.length).fill(-1);
  const names: string[] = [];
  const counts: number[] = [];
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row];
    if (place[code] === -1) {
      place[code] = include(codeNames[code]) ? names.push(codeNames[code]) - 1 : -2;
      counts.push(0);
      if (place[code] === -2) counts.pop();
    }
    if (place[code] >= 0 && Number.isFinite(times[row])) counts[place[code]]++;
  }
  const first = new Uint32Array(names.length + 1);
  for (let process = 0; process < names.length; process++)
    first[process + 1] = first[process] + counts[process];
  const rows = new Uint32Array(first[names.length]);
  const cursor = first.slice();
  for (let row = 0; row < codes.length; row++) {
    const process = place[codes[row]];
    if (process >= 0 && Number.isFinite(times[row])) rows[cursor[process]++] = row;
  }
  for (let process = 0; process < names.length; process++) {
    const part = rows.subarray(first[process], first[process + 1]);
    if (!isSorted(part, times)) part.sort((a, b) => times[a] - times[b]);
  }
  const sorted = Float64Array.from(rows, row => times[row]);
  return { names, first, rows, times: sorted, interval: usualInterval(first, sorted) };
}

function isSorted(rows: Uint32Array, times: ArrayLike<number>): boolean {
  for (let at = 1; at < rows.length; at++) if (times[rows[at]] < times[rows[at - 1]]) return false;
  return true;
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
 * stands until the next one, for at most `hold` seconds; a missing value
 * says nothing.
 */
export function binned(
  series: Series,
  values: ArrayLike<number>,
  from: number,
  to: number,
  bins: number,
  hold = holdOf(series)
): Binned {
  const size = series.names.length * bins;
  const mean = new Float32Array(size).fill(Number.NaN);
  const low = new Float32Array(size).fill(Number.NaN);
  const high = new Float32Array(size).fill(Number.NaN);
  const width = (to - from) / bins;
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

/** The value of a process at a time: the last one known, NaN where that is older than `hold` seconds. */
export function valueAt(
  series: Series,
  values: ArrayLike<number>,
  process: number,
  time: number,
  hold = holdOf(series)
): number {
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
    median[bin] = count % 2 ? known[count >> 1] : (known[(count >> 1) - 1] + known[count >> 1]) / 2;
  }
  return { low, median, high };
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
