import { IdIndex } from '../../core/columns';
import type { FeedState, FeedStatus } from '../../core/feed';
import { count, plural } from '../../core/format';
import type { Recording } from '../../core/recording';
import { NOTHING } from '../../core/schema';

/** How many workers and threads the clusters have that a kernel tells of, and tasks those and the local schedulers. */
interface Sums {
  workers: number;
  threads: number;
  total: number;
  done: number;
  erred: number;
}

/** What stands beside the title: how the connection stands, or, if all is well, what there is to say. */
export function statusWords(status: FeedStatus, words: string): string {
  return status.phase === 'live' || status.phase === 'gone' ? words : status.words;
}

/** How far the work is. */
export function progressWords(state: FeedState, recording: Recording): string {
  // A recording that is being made tells only of itself.
  if (!Array.isArray(state.clusters)) return `${plural(doneIn(recording), 'task')} so far`;
  const sums = sumsOf(state);
  const words: string[] = [];
  if (sums.workers > 0) words.push(`${plural(sums.workers, 'worker')}, ${plural(sums.threads, 'thread')}`);
  if (sums.total > 0) words.push(`${count(sums.done)} of ${plural(sums.total, 'task')}`);
  if (sums.erred > 0) words.push(`${count(sums.erred)} failed`);
  words.push(...lossWords(state));
  return words.join(' · ') || 'No cluster and no computation yet.';
}

/** The tasks with a result among the rows that were looked at. */
interface Done {
  /** Changes when those rows have become others. */
  readonly state: string;
  readonly tasks: IdIndex;
  rows: number;
  count: number;
}

const known = new WeakMap<Recording, Done>();

/** How many different tasks have a result. Only new rows are looked at. */
function doneIn(recording: Recording): number {
  const attempts = recording.table('attempts');
  const state = `${recording.generation} ${attempts.late}`;
  let done = known.get(recording);
  if (done?.state !== state) {
    done = { state, tasks: new IdIndex(), rows: 0, count: 0 };
    known.set(recording, done);
  }
  const [ids, status] = [attempts.numbers('task'), attempts.symbols('status')];
  const ok = status.find('ok');
  for (; done.rows < attempts.rows; done.rows++) {
    const id = ids[done.rows];
    const counts = id !== NOTHING && status.codes[done.rows] === ok;
    if (counts && done.tasks.get(id) < 0) done.tasks.set(id, done.count++);
  }
  return done.count;
}

/** What is not there, and why. */
function lossWords(state: FeedState): string[] {
  const words = Array.isArray(state.notes) ? state.notes.map(String).slice(-1) : [];
  const { dropped, limit } = record(state.history);
  const { attempts } = record(dropped);
  if (number(attempts) > 0) {
    words.push(`${plural(number(attempts), 'older task')} not kept (limit ${count(number(limit))})`);
  }
  return words;
}

function sumsOf(state: FeedState): Sums {
  const sums: Sums = { workers: 0, threads: 0, total: 0, done: 0, erred: 0 };
  const clusters: readonly unknown[] = Array.isArray(state.clusters) ? state.clusters : [];
  for (const cluster of clusters) {
    const { workers, threads } = record(cluster);
    sums.workers += number(workers);
    sums.threads += number(threads);
  }
  // The threads of the local schedulers are none of a cluster's.
  for (const part of [...clusters, state.local]) {
    const { total, done, erred } = record(record(part).tasks);
    sums.total += number(total);
    sums.done += number(done);
    sums.erred += number(erred);
  }
  return sums;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
