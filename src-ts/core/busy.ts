import { BinMeans } from './bin-means';
import { LOST } from './lane';
import type { Filter } from './selection';
import { entryTest } from './task-filter';
import type { Tasks } from './tasks';

/** Threads on which task functions ran, in equal bins of time: the mean over each bin. All clauses count but time. */
export function busyThreads(
  tasks: Tasks,
  filter: Filter,
  from: number,
  to: number,
  bins: number
): Float64Array {
  const made = new BinMeans(1, from, to, bins);
  const { end } = tasks.recording;
  const wanted = Uint8Array.from(tasks.names, name => Number(!filter.names || filter.names.has(name)));
  const passes = entryTest(tasks, filter);
  for (const lane of tasks.lanes) {
    if (filter.workers && !filter.workers.has(lane.worker)) continue;
    const { length, start, stop, name, status, row } = lane;
    for (let entry = lane.firstAfter(from); entry < length && start[entry] < to; entry++) {
      if (wanted[name[entry]] === 0 || status[entry] === LOST) continue;
      if (passes && !passes(row[entry], status[entry])) continue;
      made.add(0, start[entry], Math.min(stop[entry], end), 1);
    }
  }
  return made.means()[0];
}

/** Most threads that the workers of a filter had at once. */
export function mostThreads(tasks: Tasks, workers: ReadonlySet<string> | undefined): number {
  const table = tasks.recording.table('workers');
  const newest = new Map<string, number>();
  for (let row = 0; row < table.rows; row++) newest.set(table.text('worker', row), row);
  const [joined, left] = [table.times('joined'), table.times('left')];
  const counts = table.numbers('threads');
  const changes: [time: number, threads: number][] = [];
  let always = 0;
  for (const { worker, thread } of tasks.lanes) {
    if (!newest.has(worker) && thread !== '' && (workers?.has(worker) ?? true)) always++;
  }
  for (const [worker, row] of newest) {
    if (workers && !workers.has(worker)) continue;
    changes.push([Number.isNaN(joined[row]) ? Number.NEGATIVE_INFINITY : joined[row], counts[row]]);
    if (!Number.isNaN(left[row])) changes.push([left[row], -counts[row]]);
  }
  changes.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let most = always;
  let now = always;
  for (const [, threads] of changes) {
    now += threads;
    most = Math.max(most, now);
  }
  return most;
}
