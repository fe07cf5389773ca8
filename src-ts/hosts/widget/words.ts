import type { FeedState, FeedStatus } from '../../core/feed';
import { count, plural } from '../../core/format';

/** How many of each there are, of all clusters and local schedulers that a kernel tells of. */
interface Sums {
  workers: number;
  threads: number;
  total: number;
  done: number;
  erred: number;
}

/** What stands beside the title: how the connection stands, or, if all is well, how far the work is. */
export function statusWords(status: FeedStatus, state: FeedState, live: boolean, verdict: string): string {
  if (status.phase === 'gone') return live ? 'Has ended; what had come is still here.' : verdict;
  if (status.phase !== 'live') return status.words;
  return live ? progressWords(state) : verdict;
}

function progressWords(state: FeedState): string {
  const sums = sumsOf(state);
  const words: string[] = [];
  if (sums.workers > 0) words.push(`${plural(sums.workers, 'worker')}, ${plural(sums.threads, 'thread')}`);
  if (sums.total > 0) words.push(`${count(sums.done)} of ${plural(sums.total, 'task')}`);
  if (sums.erred > 0) words.push(`${count(sums.erred)} erred`);
  const notes = Array.isArray(state.notes) ? state.notes.map(String) : [];
  return [...words, ...notes.slice(-1)].join(' · ') || 'No cluster and no computation yet.';
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
