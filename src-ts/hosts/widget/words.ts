import type { FeedState, FeedStatus } from '../../core/feed';
import { count, plural } from '../../core/format';
import type { Recording } from '../../core/recording';

/** How many of each there are, of all clusters and local schedulers that a kernel tells of. */
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
  if (!Array.isArray(state.clusters)) return `${plural(recording.table('attempts').rows, 'task')} so far`;
  const sums = sumsOf(state);
  const words: string[] = [];
  if (sums.workers > 0) words.push(`${plural(sums.workers, 'worker')}, ${plural(sums.threads, 'thread')}`);
  if (sums.total > 0) words.push(`${count(sums.done)} of ${plural(sums.total, 'task')}`);
  if (sums.erred > 0) words.push(`${count(sums.erred)} erred`);
  words.push(...lossWords(state));
  return words.join(' · ') || 'No cluster and no computation yet.';
}

/** What is not there, and why. */
function lossWords(state: FeedState): string[] {
  const words = Array.isArray(state.notes) ? state.notes.map(String).slice(-1) : [];
  const { dropped, limit } = (state.history ?? {}) as Readonly<Record<string, unknown>>;
  const { attempts } = (dropped ?? {}) as Readonly<Record<string, unknown>>;
  if (number(attempts) > 0) {
    words.push(`${plural(number(attempts), 'older task')} not kept (limit ${count(number(limit))})`);
  }
  return words;
}

function sumsOf(state: FeedState): Sums {
  const sums: Sums = { workers: 0, threads: 0, total: 0, done: 0, erred: 0 };
  const parts = [...(Array.isArray(state.clusters) ? state.clusters : []), state.local];
  for (const part of parts) {
    if (typeof part !== 'object' || part === null) continue;
    const { workers, threads, tasks } = part as Readonly<Record<string, unknown>>;
    const { total, done, erred } = (tasks ?? {}) as Readonly<Record<string, unknown>>;
    sums.workers += number(workers);
    sums.threads += number(threads);
    sums.total += number(total);
    sums.done += number(done);
    sums.erred += number(erred);
  }
  return sums;
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
