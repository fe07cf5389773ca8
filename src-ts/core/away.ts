import { append } from './append';
import { madeFrom } from './made-from';
import type { Recording } from './recording';
import { SECEDED } from './schema';

type AwayStretches = ReadonlyMap<number, readonly (readonly [start: number, stop: number])[]>;

/** From when to when runs had given their thread back, of those that had; in order, no moment twice. */
export const awayStretches = madeFrom(['phases'], (recording): AwayStretches => {
  const away = new Map<number, (readonly [start: number, stop: number])[]>();
  const phases = recording.table('phases');
  const { codes, names } = phases.symbols('action');
  const seceded = names.indexOf(SECEDED);
  if (seceded < 0) return away;
  const runs = phases.numbers('run');
  const [starts, stops] = [phases.times('start'), phases.times('stop')];
  const rows: number[] = [];
  for (let row = 0; row < phases.rows; row++) {
    if (codes[row] === seceded && stops[row] > starts[row]) rows.push(row);
  }
  for (const row of rows.sort((a, b) => starts[a] - starts[b])) {
    const start = Math.max(starts[row], away.get(runs[row])?.at(-1)?.[1] ?? 0);
    if (stops[row] > start) append(away, runs[row], [start, stops[row]]);
  }
  return away;
});

/** Seconds between two moments for which runs had given their thread back, of those that had. */
export function awayTimes(
  recording: Recording,
  from = Number.NEGATIVE_INFINITY,
  to = Number.POSITIVE_INFINITY
): ReadonlyMap<number, number> {
  const away = new Map<number, number>();
  for (const [run, stretches] of awayStretches(recording)) {
    for (const [start, stop] of stretches) {
      const seconds = Math.min(stop, to) - Math.max(start, from);
      if (seconds > 0) away.set(run, (away.get(run) ?? 0) + seconds);
    }
  }
  return away;
}
