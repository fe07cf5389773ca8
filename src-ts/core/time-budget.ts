import { awayTimes } from './away';
import { type Lane, LOST, RUNNING, STATUSES, statusCode } from './lane';
import type { Filter, TimeRange } from './selection';
import { isSizing, sizersOf } from './sizing';
import { sumOf } from './sum-of';
import { entryTest, timeOf } from './task-filter';
import type { Tasks } from './tasks';
import { presence, untoldThreads, workersOf } from './workers-of';

/** What the time of threads went into; a moment belongs to one part only, the first that claims it. */
export const PARTS = ['computing', 'other', 'failed', 'transfer', 'disk', 'deserialize', 'idle'] as const;
export type Part = (typeof PARTS)[number];

/** Thread-seconds by part; they add up to `offered`. */
export interface TimeBudget {
  readonly offered: number;
  readonly parts: Readonly<Record<Part, number>>;
}

/** How attempts end without a result. */
const FAILED = ['erred', 'retried', 'killed', 'cancelled', 'stolen', 'rescheduled'].map(status =>
  STATUSES.indexOf(status as 'erred')
);

const PART_OF_ACTION: Readonly<Record<string, Part>> = {
  transfer: 'transfer',
  'disk-read': 'disk',
  'disk-write': 'disk',
  deserialize: 'deserialize'
};

/**
 * Where the time of the worker threads went within a filter.
 *
 * A thread computes while a task function runs on it. What it waited for
 * (data, disk) counts only while it computed nothing, so that no second is
 * counted twice. Names, spans and runs that are not chosen count as `other`.
 */
export function timeBudget(tasks: Tasks, filter: Filter): TimeBudget {
  const within = timeOf(tasks.recording, filter) ?? activeTime(tasks);
  const parts: Record<Part, number> = {
    computing: 0,
    other: 0,
    failed: 0,
    transfer: 0,
    disk: 0,
    deserialize: 0,
    idle: 0
  };
  const waits = waitsByLane(tasks);
  const part = partOf(tasks, filter);
  tasks.lanes.forEach((lane, at) => {
    if (filter.workers && !filter.workers.has(lane.worker)) return;
    const gaps = computeLane(lane, part, within, parts);
    fillGaps(gaps, waits[at], within, parts);
  });
  takeAway(tasks, filter, part, within, parts);
  const offered = offer(tasks, filter, within);
  const used = sumOf(PARTS, part => parts[part]);
  parts.idle = Math.max(0, offered - used);
  return { offered: Math.max(offered, used), parts };
}

/** Takes out the time in which tasks ran, but had given their thread back. */
function takeAway(
  tasks: Tasks,
  filter: Filter,
  part: PartOf,
  { start, stop }: TimeRange,
  parts: Record<Part, number>
): void {
  const attempts = tasks.recording.table('attempts');
  for (const [run, seconds] of awayTimes(tasks.recording, start, stop)) {
    const attempt = tasks.attemptRow(run);
    if (attempt < 0 || (filter.workers && !filter.workers.has(attempts.text('worker', attempt)))) continue;
    const name = tasks.nameOf(attempts.numbers('task')[attempt]);
    const its = part(name, attempt, statusCode(attempts.text('status', attempt)));
    parts[its] = Math.max(0, parts[its] - seconds);
  }
}

interface Active {
  /** Changes when rows that were looked at have become others. */
  readonly state: string;
  rows: number;
  start: number;
  stop: number;
}

const active = new WeakMap<Tasks, Active>();

/**
 * From the first moment at which a task was wanted to the last at which one was done or ran; no more than the part
 * of its run that a recording was cut out as.
 */
export function activeTime(tasks: Tasks): TimeRange {
  const attempts = tasks.recording.table('attempts');
  const state = `${tasks.recording.generation} ${attempts.late}`;
  let known = active.get(tasks);
  if (known?.state !== state) {
    known = { state, rows: 0, start: Number.POSITIVE_INFINITY, stop: Number.NEGATIVE_INFINITY };
    active.set(tasks, known);
  }
  // What was there before is known: only new rows are looked at.
  for (const column of ['submitted', 'start'] as const) {
    const times = attempts.times(column);
    for (let row = known.rows; row < times.length; row++) {
      if (times[row] < known.start) known.start = times[row];
    }
  }
  for (const column of ['stop', 'done'] as const) {
    const times = attempts.times(column);
    for (let row = known.rows; row < times.length; row++) {
      if (times[row] > known.stop) known.stop = times[row];
    }
  }
  known.rows = attempts.rows;
  const ran = laneTime(tasks);
  const { part } = tasks.recording;
  const start = Math.max(Math.min(known.start, ran.start), part.start);
  const stop = Math.min(Math.max(known.stop, ran.stop), part.stop);
  return start < stop ? { start, stop } : { start: 0, stop: 0 };
}

/** From when to when threads ran anything, also what runs on and what was called off while it ran. */
function laneTime({ lanes, recording }: Tasks): TimeRange {
  let start = Number.POSITIVE_INFINITY;
  let stop = Number.NEGATIVE_INFINITY;
  for (const lane of lanes) {
    const last = lane.length - 1;
    if (last < 0) continue;
    start = Math.min(start, lane.start[0]);
    const latest = lane.reach[last];
    stop = Math.max(stop, Number.isFinite(latest) ? latest : recording.end);
  }
  return { start, stop };
}

/** Which part an attempt's time belongs to, by its name, its row and its status. */
type PartOf = (name: number, row: number, status: number) => Part;

function partOf(tasks: Tasks, filter: Filter): PartOf {
  const passes = entryTest(tasks, filter);
  const wanted = tasks.names.map(name => !filter.names || filter.names.has(name));
  return (name, row, status) => {
    if (!wanted[name] || passes?.(row, status) === false) return 'other';
    return FAILED.includes(status) ? 'failed' : 'computing';
  };
}

/** Adds what a lane computed to the parts; returns the gaps between, as pairs of times. */
function computeLane(
  lane: Lane,
  part: PartOf,
  { start: from, stop: to }: TimeRange,
  parts: Record<Part, number>
): Float64Array {
  const length = lane.length;
  const gaps = new Float64Array(2 * length + 2);
  let count = 0;
  let until = from;
  for (let entry = lane.firstAfter(from); entry < length && lane.start[entry] < to; entry++) {
    const start = Math.max(lane.start[entry], until);
    const stop = Math.min(lane.stop[entry], to);
    if (stop <= start || lane.status[entry] === LOST) continue;
    if (start > until) {
      gaps[count++] = until;
      gaps[count++] = start;
    }
    parts[part(lane.name[entry], lane.row[entry], lane.status[entry])] += stop - start;
    until = stop;
  }
  if (to > until) {
    gaps[count++] = until;
    gaps[count++] = to;
  }
  return gaps.subarray(0, count);
}

interface Wait {
  readonly part: Part;
  readonly start: number;
  readonly stop: number;
}

/** The phases of each lane's attempts that are a kind of waiting, by start. */
function waitsByLane(tasks: Tasks): Wait[][] {
  const { recording } = tasks;
  const laneOfRow = new Int32Array(recording.table('attempts').rows).fill(-1);
  tasks.lanes.forEach((lane, at) => {
    for (let entry = 0; entry < lane.length; entry++) {
      if (lane.status[entry] !== RUNNING) laneOfRow[lane.row[entry]] = at;
    }
  });
  const waits: Wait[][] = tasks.lanes.map(() => []);
  const phases = recording.table('phases');
  const runs = phases.numbers('run');
  const starts = phases.times('start');
  const stops = phases.times('stop');
  const actions = phases.symbols('action');
  const sizers = sizersOf(recording);
  for (let row = 0; row < phases.rows; row++) {
    const action = actions.names[actions.codes[row]];
    const attempt = tasks.attemptRow(runs[row]);
    const lane = attempt < 0 ? -1 : laneOfRow[attempt];
    if (lane < 0 || !Object.hasOwn(PART_OF_ACTION, action)) continue;
    if (isSizing(action, tasks.lanes[lane].worker, sizers)) continue;
    waits[lane].push({ part: PART_OF_ACTION[action], start: starts[row], stop: stops[row] });
  }
  for (const each of waits) each.sort((a, b) => a.start - b.start);
  return waits;
}

/** Adds the waits to their parts, as far as they lie in gaps and overlap no earlier wait. */
function fillGaps(
  gaps: Float64Array,
  waits: readonly Wait[],
  { start, stop }: TimeRange,
  parts: Record<Part, number>
): void {
  let gap = 0;
  let until = start;
  for (const wait of waits) {
    const from = Math.max(wait.start, until);
    const to = Math.min(wait.stop, stop);
    if (!(to > from)) continue;
    while (gap < gaps.length && gaps[gap + 1] <= from) gap += 2;
    for (let at = gap; at < gaps.length && gaps[at] < to; at += 2) {
      parts[wait.part] += Math.max(0, Math.min(to, gaps[at + 1]) - Math.max(from, gaps[at]));
    }
    until = to;
  }
}

/** Thread-seconds that the workers of a filter were there for. */
function offer(tasks: Tasks, { workers }: Filter, time: TimeRange): number {
  return [...workersOf(tasks.recording).values()]
    .filter(({ worker }) => workers?.has(worker) ?? true)
    .reduce(
      (sum, each) => sum + each.threads * presence(each, time),
      untoldThreads(tasks, workers) * (time.stop - time.start)
    );
}
