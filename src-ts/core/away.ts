import type { Recording } from './recording';
import { SECEDED } from './schema';

/** Seconds between two moments for which runs had given their thread back, of those that had. */
export function awayTimes(
  recording: Recording,
  from = Number.NEGATIVE_INFINITY,
  to = Number.POSITIVE_INFINITY
): ReadonlyMap<number, number> {
  const away = new Map<number, number>();
  const phases = recording.table('phases');
  const { codes, names } = phases.symbols('action');
  const seceded = names.indexOf(SECEDED);
  if (seceded < 0) return away;
  const runs = phases.numbers('run');
  const [starts, stops] = [phases.times('start'), phases.times('stop')];
  for (let row = 0; row < phases.rows; row++) {
    if (codes[row] !== seceded) continue;
    const seconds = Math.min(stops[row], to) - Math.max(starts[row], from);
    if (seconds > 0) away.set(runs[row], (away.get(runs[row]) ?? 0) + seconds);
  }
  return away;
}
