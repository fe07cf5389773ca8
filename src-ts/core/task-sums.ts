import { awayTimes } from './away';
import { grown } from './grown';
import { LOST, OK, RUNNING, STATUSES } from './lane';
import { chosenFlags, type Filter } from './selection';
import { entryTest, idsOf } from './task-filter';
import type { Tasks } from './tasks';

/** What ran under one name, or on one worker, within a filter and the part of its run that a recording is of. */
export interface TaskSum {
  readonly label: string;
  /** Attempts that ran within the filter, whole or in part; not those of which nobody knows when. */
  readonly count: number;
  /** Seconds for which they held a thread within it. */
  readonly time: number;
  /**
   * Of whole durations, as long as they held a thread, also where the filter cuts them; of tasks that run still none
   * is known, and NaN where there are no others. Median and 95th percentile only by name.
   */
  readonly mean: number;
  readonly median: number;
  readonly p95: number;
  readonly longest: number;
  /** When the first began within it and the last ended, since the epoch. */
  readonly begin: number;
  readonly end: number;
  /** Bytes of their results. */
  readonly nbytes: number;
  readonly failed: number;
  /** CPU time over duration of those whose CPU time is known, 1 is a core; NaN without any. Only by name. */
  readonly cpu: number;
}

const FAILED = Uint8Array.from(STATUSES, status => Number(['erred', 'retried', 'killed'].includes(status)));

type By = 'name' | 'worker' | 'span';

/** Sums by task name, by worker, or by id of the innermost span; largest time first. */
export function sumTasks(tasks: Tasks, filter: Filter, by: By): TaskSum[] {
  const wanted = chosenFlags(tasks.names, filter.names);
  const { recording } = tasks;
  const { part, end } = recording;
  const from = Math.max(filter.time?.start ?? part.start, part.start);
  const to = Math.min(filter.time?.stop ?? part.stop, part.stop);
  const nbytes = recording.table('attempts').numbers('nbytes');
  const runOf = idsOf(recording, 'run');
  const away = awayTimes(recording);
  const isPart = Number.isFinite(from) || Number.isFinite(to);
  const awayWithin = isPart ? awayTimes(recording, from, to) : away;
  const passes = entryTest(tasks, filter);
  const placeOf = placer(tasks, by);
  const cpuOf = by === 'name' ? cpuTimes(tasks) : undefined;
  const groups: (Group | undefined)[] = [];
  const labels: string[] = [];
  tasks.lanes.forEach((lane, at) => {
    if (filter.workers && !filter.workers.has(lane.worker)) return;
    const { length, start, name: names, status: statuses, row: rows } = lane;
    for (let entry = lane.firstAfter(from); entry < length && start[entry] < to; entry++) {
      const name = names[entry];
      const status = statuses[entry];
      const stop = lane.stopBy(entry, end);
      if (wanted[name] === 0 || status === LOST || stop < from) continue;
      if (passes && !passes(rows[entry], status)) continue;
      const place = by === 'name' ? name : placeOf(at, rows[entry], status);
      let group = groups[place];
      if (!group) {
        group = groups[place] = new Group();
        labels[place] = labelOf(tasks, by, at, place);
      }
      const run = runOf(rows[entry], status);
      const lasted = stop - start[entry];
      const held = less(lasted, away, run);
      group.count++;
      if (status !== RUNNING) group.take(held, by === 'name');
      const since = start[entry] > from ? start[entry] : from;
      const until = stop < to ? stop : to;
      group.time += less(until - since, awayWithin, run);
      if (since < group.begin) group.begin = since;
      if (until > group.end) group.end = until;
      group.failed += FAILED[status];
      const size = status === OK ? nbytes[rows[entry]] : Number.NaN;
      if (size > 0) group.nbytes += size;
      if (cpuOf && status !== RUNNING) group.takeCpu(cpuOf(rows[entry]), held, lasted);
    }
  });
  return groups.flatMap((group, place) => group?.sum(labels[place]) ?? []).sort((a, b) => b.time - a.time);
}

/** Seconds of a run without those for which it had given its thread back. */
function less(seconds: number, away: ReadonlyMap<number, number>, run: number): number {
  return away.size > 0 ? Math.max(0, seconds - (away.get(run) ?? 0)) : seconds;
}

/** CPU seconds of an attempt by its row, NaN if unknown; undefined where none is known. */
function cpuTimes(tasks: Tasks): ((row: number) => number) | undefined {
  const executions = tasks.recording.table('executions');
  if (!executions.has('cpu')) return undefined;
  const cpu = executions.numbers('cpu');
  const runs = tasks.recording.table('attempts').numbers('run');
  return row => {
    const seen = tasks.executionRow(runs[row]);
    return seen < 0 ? Number.NaN : cpu[seen];
  };
}

/** A small number for each group: of a worker its first lane, of a span its code in `graph`, 0 for no span. */
function placer(tasks: Tasks, by: By): (lane: number, row: number, status: number) => number {
  if (by === 'worker') {
    const first = new Map<string, number>();
    const places = tasks.lanes.map(({ worker }, at) => {
      if (!first.has(worker)) first.set(worker, at);
      return first.get(worker) as number;
    });
    return lane => places[lane];
  }
  const taskOf = idsOf(tasks.recording, 'task');
  const { codes } = tasks.recording.table('graph').symbols('span');
  return (_lane, row, status) => {
    const at = tasks.graphRow(taskOf(row, status));
    return at < 0 ? 0 : codes[at] + 1;
  };
}

function labelOf(tasks: Tasks, by: By, lane: number, place: number): string {
  if (by === 'name') return tasks.names[place];
  if (by === 'worker') return tasks.lanes[lane].worker;
  return place === 0 ? '' : tasks.recording.table('graph').symbols('span').names[place - 1];
}

class Group {
  private durations = new Float64Array(16);
  /** Durations that are whole. */
  private whole = 0;
  private total = 0;
  private longest = Number.NaN;
  private cpu = 0;
  private cpuOver = 0;
  count = 0;
  time = 0;
  begin = Number.POSITIVE_INFINITY;
  end = Number.NEGATIVE_INFINITY;
  failed = 0;
  nbytes = 0;

  takeCpu(seconds: number, held: number, lasted: number): void {
    if (Number.isNaN(seconds)) return;
    this.cpu += seconds;
    // Some compute without a thread.
    this.cpuOver += Math.max(held, Math.min(seconds, lasted));
  }

  take(duration: number, keep: boolean): void {
    if (keep) {
      this.durations = grown(this.durations, this.whole + 1);
      this.durations[this.whole] = duration;
    }
    this.whole++;
    this.total += duration;
    if (!(duration <= this.longest)) this.longest = duration;
  }

  sum(label: string): TaskSum {
    const { count, time, begin, end, nbytes, failed, longest } = this;
    const sorted = this.durations.subarray(0, Math.min(this.whole, this.durations.length)).sort();
    return {
      label,
      count,
      time,
      mean: this.total / this.whole,
      median: quantile(sorted, 0.5),
      p95: quantile(sorted, 0.95),
      longest,
      begin,
      end,
      nbytes,
      failed,
      cpu: this.cpuOver > 0 ? this.cpu / this.cpuOver : Number.NaN
    };
  }
}

/** Of nothing that ran. */
export const NOTHING_RAN = new Group().sum('');

/** Interpolated between neighbours, as NumPy does; NaN of nothing. */
function quantile(sorted: Float64Array, part: number): number {
  const at = part * (sorted.length - 1);
  const low = Math.floor(at);
  const below = sorted[low] ?? Number.NaN;
  const above = sorted[Math.min(low + 1, sorted.length - 1)] ?? Number.NaN;
  return below + (above - below) * (at - low);
}
