import { sumOf } from './sum-of';
import type { Tasks } from './tasks';
import { untoldThreads, workersOf } from './workers-of';

/** Threads of the workers that are there now; of local schedulers, which tell of none, those that ran a task. */
export function threadsNow(tasks: Tasks): number {
  const here = [...workersOf(tasks.recording).values()].filter(({ left }) => Number.isNaN(left));
  return untoldThreads(tasks) + sumOf(here, ({ threads }) => threads);
}
