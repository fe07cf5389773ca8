import { OK, RUNNING, STATUSES } from './lane';
import type { Filter } from './selection';
import { entryTest } from './task-filter';
import type { Tasks } from './tasks';

/** What ran under one name, or on one worker, within a filter. Seconds and bytes. */
export interface TaskSum {
  readonly label: string;
  /** Attempts that ran within the filter, whole or in part. */
  readonly count: number;
  /** Time they ran within it. */
  readonly time: number;
  /** Of whole durations, also where the filter cuts them. The median only by name. */
  readonly mean: number;
  readonly median: number;
  readonly longest: number;
  readonly nbytes: number;
  readonly failed: number;
}

const FAILED = new Set(['erred', 'retried', 'killed'].map(status => STATUSES.indexOf(status as 'erred')));

/** Sums by task name, by worker, or by id of the innermost span; largest time first. */
export function sumTasks(tasks: Tasks, filter: Filter, by: 'name' | 'worker' | 'span'): TaskSum[] {
  const wanted = tasks.names.map(name => !filter.names || filter.names.has(name));
  const from = filter.time?.start ?? Number.NEGATIVE_INFINITY;
  const to = filter.time?.stop ?? Number.POSITIVE_INFINITY;
  const end = tasks.recording.end;
  const nbytes = tasks.recording.table('attempts').numbers('nbytes');
  const passes = entryTest(tasks, filter);
  const spanOf = by === 'span' ? spanTest(tasks) : undefined;
  const groups = new Map<string | number, Group>();
  for (const lane of tasks.lanes) {
    if (filter.workers && !filter.workers.has(lane.worker)) continue;
    const length = lane.length;
    for (let at = lane.firstAfter(from); at < length && lane.start[at] < to; at++) {
      const name = lane.name[at];
      const stop = Math.min(lane.stop[at], end);
      if (!wanted[name] || stop < from || (passes && !passes(lane.row[at], lane.status[at]))) continue;
      const key = spanOf ? spanOf(lane.row[at], lane.status[at]) : by === 'name' ? name : lane.worker;
      let group = groups.get(key);
      if (!group) {
        group = new Group();
        groups.set(key, group);
      }
      group.take(stop - lane.start[at], by === 'name');
      group.time += Math.min(stop, to) - Math.max(lane.start[at], from);
      if (FAILED.has(lane.status[at])) group.failed++;
      const size = lane.status[at] === OK ? nbytes[lane.row[at]] : Number.NaN;
      if (size > 0) group.nbytes += size;
    }
  }
  return [...groups]
    .map(([key, group]) => group.sum(typeof key === 'number' ? tasks.names[key] : key))
    .sort((a, b) => b.time - a.time);
}

/** The span of an entry, by its row. */
function spanTest(tasks: Tasks): (row: number, status: number) => string {
  const ended = tasks.recording.table('attempts').numbers('task');
  const running = tasks.recording.table('running').numbers('task');
  const { codes, names } = tasks.recording.table('graph').symbols('span');
  return (row, status) => {
    const at = tasks.graphRow((status === RUNNING ? running : ended)[row]);
    return at < 0 ? '' : names[codes[at]];
  };
}

class Group {
  private durations = new Float64Array(16);
  private count = 0;
  private total = 0;
  private longest = 0;
  time = 0;
  failed = 0;
  nbytes = 0;

  take(duration: number, keep: boolean): void {
    if (keep) {
      if (this.count === this.durations.length) {
        const larger = new Float64Array(2 * this.count);
        larger.set(this.durations);
        this.durations = larger;
      }
      this.durations[this.count] = duration;
    }
    this.count++;
    this.total += duration;
    if (duration > this.longest) this.longest = duration;
  }

  sum(label: string): TaskSum {
    const { count, time, nbytes, failed, longest } = this;
    const sorted = this.durations.subarray(0, Math.min(count, this.durations.length)).sort();
    const high = sorted[count >> 1] ?? Number.NaN;
    return {
      label,
      count,
      time,
      mean: this.total / count,
      median: count % 2 ? high : ((sorted[(count >> 1) - 1] ?? Number.NaN) + high) / 2,
      longest,
      nbytes,
      failed
    };
  }
}
