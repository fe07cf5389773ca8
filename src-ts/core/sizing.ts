import { madeFrom } from './made-from';
import type { Recording } from './recording';

const WRITE = 'disk-write';

/**
 * Workers whose metrics tell of no writing to disk: what took them long while they kept a result, and Dask
 * calls so, was to find out how large it is.
 */
export const sizersOf = madeFrom(['phases', 'metrics'], read);

function read(recording: Recording): ReadonlySet<string> {
  if (!recording.table('phases').symbols('action').names.includes(WRITE)) return new Set();
  const metrics = recording.table('metrics');
  const workers = metrics.symbols('worker');
  const activities = metrics.symbols('activity');
  const found = new Set(workers.names);
  const write = activities.find(WRITE);
  for (let row = 0; write >= 0 && row < metrics.rows; row++) {
    if (activities.codes[row] === write) found.delete(workers.names[workers.codes[row]]);
  }
  return found;
}

/** Whether a phase is such time: its action, its worker, and all such workers. */
export function isSizing(action: string, worker: string, sizers: ReadonlySet<string>): boolean {
  return action === WRITE && sizers.has(worker);
}
