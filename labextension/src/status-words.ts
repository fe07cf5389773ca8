import { bytes, count, plural } from '@dask-insight/panels/core/format';
import { type KernelState, totalOf } from './kernels/kernel-state';

/** What all clusters and the local schedulers do; '' where there are none. */
export function statusWords(state: KernelState | undefined): string {
  if (!state || (state.clusters.length === 0 && state.local === undefined)) return '';
  const { workers, threads, memory, memoryLimit, tasks } = totalOf(state);
  const words: string[] = [];
  if (workers > 0) words.push(plural(threads, 'thread'));
  if (memoryLimit) words.push(`${bytes(memory)} of ${bytes(memoryLimit)}`);
  else if (memory > 0) words.push(bytes(memory));
  words.push(`${count(tasks.done)} of ${plural(tasks.total, 'task')}`);
  if (tasks.erred > 0) words.push(`${count(tasks.erred)} failed`);
  return `Dask: ${words.join(', ')}`;
}
