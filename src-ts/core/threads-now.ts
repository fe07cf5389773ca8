import type { Tasks } from './tasks';

/** Threads of the workers that are there now; of local schedulers, which tell of none, those that ran a task. */
export function threadsNow(tasks: Tasks): number {
  const workers = tasks.recording.table('workers');
  const [threads, left] = [workers.numbers('threads'), workers.times('left')];
  const newest = new Map<string, number>();
  for (let row = 0; row < workers.rows; row++) {
    newest.set(workers.text('worker', row), Number.isNaN(left[row]) ? threads[row] : 0);
  }
  const others = tasks.lanes.filter(({ worker, thread }) => thread !== '' && !newest.has(worker));
  return [...newest.values()].reduce((sum, each) => sum + each, others.length);
}
