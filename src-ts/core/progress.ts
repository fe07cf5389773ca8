import { awayTimes } from './away';
import type { Recording } from './recording';
import { NOTHING } from './schema';
import type { Filter } from './selection';
import { sumOf } from './sum-of';
import { taskTest } from './task-filter';
import type { Tasks } from './tasks';

/** How far the tasks of one name are, at one moment. */
export interface Progress {
  readonly name: string;
  readonly total: number;
  readonly done: number;
  readonly running: number;
  readonly failed: number;
  /** Given up before they had a result: nobody wanted it any more, or what they needed failed. */
  readonly givenUp: number;
  readonly waiting: number;
  /** Seconds for which one of them held a thread on average; NaN where nobody knows. */
  readonly mean: number;
}

/** Where a task stands: of several attempts, the furthest counts. */
const [WAITING, GIVEN_UP, FAILED, RUNNING, DONE] = [0, 1, 2, 3, 4];
const STANDINGS = 5;
const ENDS: Readonly<Record<string, number>> = {
  ok: DONE,
  erred: FAILED,
  killed: FAILED,
  cancelled: GIVEN_UP
};
/** By the scheduler's state of it, which cluster dumps hold. */
const STATES: Readonly<Record<string, number>> = { memory: DONE, erred: FAILED, processing: RUNNING };

/**
 * The task names of a filter, those that Dask runs first before the others, as they stand at the end of its
 * time, or now. Workers narrow nothing: a task that waits has none.
 */
export function progressOf(tasks: Tasks, filter: Filter): Progress[] {
  const { recording } = tasks;
  const moment = filter.time?.stop ?? Number.POSITIVE_INFINITY;
  const graph = recording.table('graph');
  const { codes, names } = graph.symbols('prefix');
  const ids = graph.numbers('task');
  const order = graph.has('order') ? graph.numbers('order') : undefined;
  const submission = graph.numbers('submission');
  const { standing, begun, seconds } = standingsAt(tasks, moment);
  const passes = taskTest(tasks, { ...filter, runs: undefined });
  const isThere = submittedBy(recording, moment);
  const counts = new Uint32Array(STANDINGS * names.length);
  const [took, timed] = [new Float64Array(names.length), new Float64Array(names.length)];
  /** Which of two rows runs first. */
  const byRank = order
    ? (a: number, b: number) => submission[a] - submission[b] || order[a] - order[b]
    : (a: number, b: number) => begun[a] - begun[b];
  const firsts = new Map<number, number>();
  for (let row = 0; row < graph.rows; row++) {
    const stands = standing[row];
    // What a client brought, or had before, is no task to come. Reports tell of that by the submission alone.
    if (stands === WAITING && (order ?? submission)[row] === NOTHING) continue;
    if (!isThere(row) || (passes && !passes(0, ids[row]))) continue;
    const code = codes[row];
    const first = firsts.get(code);
    if (first === undefined || byRank(row, first) < 0) firsts.set(code, row);
    counts[STANDINGS * code + stands]++;
    if (Number.isNaN(seconds[row])) continue;
    took[code] += seconds[row];
    timed[code]++;
  }
  return [...firsts]
    .sort((a, b) => byRank(a[1], b[1]))
    .map(([code]) => code)
    .filter(code => !filter.names || filter.names.has(names[code]))
    .map(code => {
      const of = (stands: number): number => counts[STANDINGS * code + stands];
      const [waiting, givenUp, failed, running, done] = [WAITING, GIVEN_UP, FAILED, RUNNING, DONE].map(of);
      const total = waiting + givenUp + failed + running + done;
      return {
        name: names[code],
        total,
        done,
        running,
        failed,
        givenUp,
        waiting,
        mean: took[code] / timed[code]
      };
    });
}

/** All of them together. */
export function together(progress: readonly Progress[]): Progress {
  const sum = (of: (each: Progress) => number): number => sumOf(progress, of);
  return {
    name: '',
    total: sum(each => each.total),
    done: sum(each => each.done),
    running: sum(each => each.running),
    failed: sum(each => each.failed),
    givenUp: sum(each => each.givenUp),
    waiting: sum(each => each.waiting),
    mean: Number.NaN
  };
}

/**
 * Thread-seconds that are left of tasks that run or wait, if they take as long as those of their name did; those
 * that run are taken to be halfway. Names of which nobody knows how long theirs take are left out.
 */
export function leftOf(progress: readonly Progress[]): number {
  const known = progress.filter(({ mean }) => !Number.isNaN(mean));
  return sumOf(known, ({ running, waiting, mean }) => mean * (waiting + running / 2));
}

interface Standings {
  readonly standing: Uint8Array;
  /** When it was first begun, infinite if never; and seconds for which its result took a thread, NaN where nobody tells. */
  readonly begun: Float64Array;
  readonly seconds: Float32Array;
}

/** How each row of `graph` stood at a moment. */
function standingsAt(tasks: Tasks, moment: number): Standings {
  const { recording } = tasks;
  const graph = recording.table('graph');
  const { rows } = graph;
  const standing = new Uint8Array(rows);
  if (moment === Number.POSITIVE_INFINITY && graph.has('state')) {
    const { codes, names } = graph.symbols('state');
    const states = Uint8Array.from(names, name => STATES[name] ?? WAITING);
    for (let row = 0; row < rows; row++) standing[row] = states[codes[row]];
  }
  const begun = new Float64Array(rows).fill(Number.POSITIVE_INFINITY);
  const seconds = new Float32Array(rows).fill(Number.NaN);
  const attempts = recording.table('attempts');
  const [endedRuns, ids] = [attempts.numbers('run'), attempts.numbers('task')];
  const [starts, stops, dones] = [attempts.times('start'), attempts.times('stop'), attempts.times('done')];
  const status = attempts.symbols('status');
  const ends = Uint8Array.from(status.names, name => ENDS[name] ?? WAITING);
  const killed = status.find('killed');
  const away = awayTimes(recording);
  for (let row = 0; row < attempts.rows; row++) {
    const at = tasks.graphRow(ids[row]);
    if (at < 0) continue;
    if (starts[row] < begun[at]) begun[at] = starts[row];
    const stop = Number.isNaN(stops[row]) ? dones[row] : stops[row];
    const code = status.codes[row];
    // Of attempts that a lost worker took with it only the last that Dask made has an error: others are made again.
    const end = code === killed && tasks.errorRow(endedRuns[row]) < 0 ? WAITING : ends[code];
    const stands = !(stop > moment) ? end : starts[row] <= moment ? RUNNING : WAITING;
    if (stands === DONE && stop >= starts[row]) {
      seconds[at] = Math.max(0, stop - starts[row] - (away.get(endedRuns[row]) ?? 0));
    }
    if (stands > standing[at]) standing[at] = stands;
  }
  const running = recording.table('running');
  const [runs, runningIds, since] = [running.numbers('run'), running.numbers('task'), running.times('start')];
  for (let row = 0; row < running.rows; row++) {
    const at = tasks.graphRow(runningIds[row]);
    if (at < 0 || standing[at] >= RUNNING || !(since[row] <= moment)) continue;
    if (tasks.attemptRow(runs[row]) < 0) standing[at] = RUNNING;
  }
  return { standing, begun, seconds };
}

/** Whether a row of `graph` had been handed over by a moment. */
function submittedBy(recording: Recording, moment: number): (row: number) => boolean {
  if (moment === Number.POSITIVE_INFINITY) return () => true;
  const submissions = recording.table('submissions');
  const [ids, times] = [submissions.numbers('submission'), submissions.times('time')];
  const later = new Set<number>();
  for (let row = 0; row < submissions.rows; row++) if (times[row] > moment) later.add(ids[row]);
  const of = recording.table('graph').numbers('submission');
  return row => !later.has(of[row]);
}
