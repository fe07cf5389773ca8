import { madeFrom } from './made-from';
import type { Recording } from './recording';
import type { RowOf } from './schema';
import type { TimeRange } from './selection';
import type { Tasks } from './tasks';

export type Worker = RowOf<'workers'>;

/** Every worker that is told of, by its address; a later row replaces an earlier one. */
export const workersOf = madeFrom(
  ['workers'],
  (recording): ReadonlyMap<string, Worker> => recording.table('workers').newest('worker')
);

/** What tells the process of a worker from those of others. */
export function processOf(told: ReadonlyMap<string, Worker>, worker: string): string {
  const its = told.get(worker);
  return its && its.pid > 0 ? `${its.host} ${its.namespace} ${its.pid}` : worker;
}

/** Addresses of their schedulers, as far as they are known, in the order in which these came. */
export function clustersOf(recording: Recording): string[] {
  return [...new Set(Array.from(workersOf(recording).values(), ({ cluster }) => cluster))].filter(Boolean);
}

/** How many threads ran tasks of workers that nobody tells of, as local schedulers do not; of these workers, or of all. */
export function untoldThreads({ recording, lanes }: Tasks, workers?: ReadonlySet<string>): number {
  const told = workersOf(recording);
  return lanes.filter(
    ({ worker, thread }) => !told.has(worker) && thread !== '' && (workers?.has(worker) ?? true)
  ).length;
}

/** Seconds that a worker was there within a stretch of time. */
export function presence(
  { joined, left }: Pick<Worker, 'joined' | 'left'>,
  { start, stop }: TimeRange
): number {
  const begin = Number.isNaN(joined) ? start : Math.max(start, joined);
  const end = Number.isNaN(left) ? stop : Math.min(stop, left);
  return Math.max(0, end - begin);
}
