import { IdIndex } from '../../core/columns';
import type { FeedState, FeedStatus } from '../../core/feed';
import { count, plural } from '../../core/format';
import type { Recording } from '../../core/recording';
import { NOTHING } from '../../core/schema';
import { sumOf } from '../../core/sum-of';

/** What stands beside the title: how the connection stands, or, if all is well, what there is to say. */
export function statusWords(status: FeedStatus, words: string): string {
  return status.phase === 'live' || status.phase === 'gone' ? words : status.words;
}

/** How far the work is. */
export function progressWords(state: FeedState, recording: Recording): string {
  const { clusters, local } = state;
  // A recording that is being made tells only of itself.
  if (!Array.isArray(clusters)) {
    return [`${plural(doneIn(recording), 'task')} so far`, ...lossWords(state)].join(' · ');
  }
  // The threads of the local schedulers are none of a cluster's.
  const tasks = [...clusters, local].map(part => record(part).tasks);
  const [workers, threads] = ['workers', 'threads'].map(name => together(clusters, name));
  const [total, done, erred] = ['total', 'done', 'erred'].map(name => together(tasks, name));
  const words: string[] = [];
  if (workers > 0) words.push(`${plural(workers, 'worker')}, ${plural(threads, 'thread')}`);
  if (total > 0) words.push(`${count(done)} of ${plural(total, 'task')}`);
  if (erred > 0) words.push(`${count(erred)} failed`);
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
  const { dropped, limit, attempts } = record(state.history);
  const gone = (table: string): number => number(record(dropped)[table]);
  const tasks = gone('attempts');
  // Of fewer than that the others had no room in memory.
  const most = number(attempts) < number(limit) ? '' : ` (limit ${count(number(limit))})`;
  if (tasks > 0) words.push(`${plural(tasks, 'older task')} not kept${most}`);
  if (['resources', 'memory', 'samples'].some(gone)) words.push('older samples not kept');
  return words;
}

/** What parts of a state say under a name, together. */
function together(parts: readonly unknown[], name: string): number {
  return sumOf(parts, part => number(record(part)[name]));
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
