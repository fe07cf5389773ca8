import { awayStretches } from './away';
import { BinMeans } from './bin-means';
import { LOST } from './lane';
import { mostAtOnce } from './most-at-once';
import { chosenFlags, type Filter } from './selection';
import { entryTest, idsOf } from './task-filter';
import type { Tasks } from './tasks';
import { untoldThreads, workersOf } from './workers-of';

/**
 * Threads on which task functions ran, in equal bins of time: the mean over each bin. Not those that had given their
 * thread back. All clauses count but time.
 */
export function busyThreads(
  tasks: Tasks,
  filter: Filter,
  from: number,
  to: number,
  bins: number
): Float64Array {
  const made = new BinMeans(1, from, to, bins);
  const { end } = tasks.recording;
  const wanted = chosenFlags(tasks.names, filter.names);
  const passes = entryTest(tasks, filter);
  const away = awayStretches(tasks.recording);
  const runOf = idsOf(tasks.recording, 'run');
  for (const lane of tasks.lanes) {
    if (filter.workers && !filter.workers.has(lane.worker)) continue;
    const { length, start, stop, name, status, row } = lane;
    for (let entry = lane.firstAfter(from); entry < length && start[entry] < to; entry++) {
      if (wanted[name[entry]] === 0 || status[entry] === LOST) continue;
      if (passes && !passes(row[entry], status[entry])) continue;
      const until = Math.min(stop[entry], end);
      made.add(0, start[entry], until, 1);
      if (away.size === 0) continue;
      for (const [left, back] of away.get(runOf(row[entry], status[entry])) ?? []) {
        made.add(0, Math.max(left, start[entry]), Math.min(back, until), -1);
      }
    }
  }
  return made.means()[0];
}

/** Most threads that the workers of a filter had at once. */
export function mostThreads(tasks: Tasks, workers: ReadonlySet<string> | undefined): number {
  const changes: [time: number, threads: number][] = [];
  for (const { worker, threads, joined, left } of workersOf(tasks.recording).values()) {
    if (workers && !workers.has(worker)) continue;
    changes.push([Number.isNaN(joined) ? Number.NEGATIVE_INFINITY : joined, threads]);
    if (!Number.isNaN(left)) changes.push([left, -threads]);
  }
  return mostAtOnce(changes, untoldThreads(tasks, workers));
}
