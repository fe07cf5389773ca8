import type { Recording, Symbols } from './recording';
import type { TimeRange } from './selection';

/** Seconds for which a figure counts as that of now: workers of large clusters seldom tell of themselves. */
const FRESH = 30;

/**
 * The most that each process had within a time, or what it has now: memory in bytes, by what it told the scheduler
 * and by its own samples, which are more; or CPU in per cent of a core.
 */
export function figuresOfProcesses(
  recording: Recording,
  column: 'memory' | 'cpu',
  when: TimeRange | 'now' = { start: Number.NEGATIVE_INFINITY, stop: Number.POSITIVE_INFINITY }
): ReadonlyMap<string, number> {
  const isNow = when === 'now';
  const { start, stop } = isNow ? { start: recording.end - FRESH, stop: recording.end } : when;
  const found = new Map<string, number>();
  const take = ({ codes, names }: Symbols, times: Float64Array, values: ArrayLike<number>): void => {
    times.forEach((at, row) => {
      if (!(at >= start && at <= stop)) return;
      const name = names[codes[row]];
      if (values[row] >= (isNow ? 0 : (found.get(name) ?? 0))) found.set(name, values[row]);
    });
  };
  const [told, sampled] = [recording.table('memory'), recording.table('resources')];
  if (column === 'memory') take(told.symbols('worker'), told.times('time'), told.numbers('process'));
  take(sampled.symbols('process'), sampled.times('time'), sampled.numbers(column));
  return found;
}
