import { sumOf } from '../../core/sum-of';
import type { MemoryColumn } from './figures';

/**
 * One measure of workers that share a process; NaN where nothing is known. Each tells all memory of the process, but
 * of results only its own: to it, those of the others are no results.
 */
export function ofProcess(
  column: MemoryColumn,
  workers: readonly number[],
  told: (column: MemoryColumn, worker: number) => number
): number {
  const known = workers.filter(worker => !Number.isNaN(told(column, worker)));
  const sum = (of: MemoryColumn): number => sumOf(known, worker => told(of, worker));
  const most = (value: (worker: number) => number): number => Math.max(...known.map(value));
  if (known.length === 0) return Number.NaN;
  if (column === 'spilled') return sum('spilled');
  const whole = most(worker => told('process', worker));
  if (column === 'process') return whole;
  // Workers may hold the same data.
  const managed = Math.min(sum('managed'), whole);
  if (column === 'managed') return managed;
  const notRecent = most(worker => told('managed', worker) + told('unmanaged_old', worker));
  const settled = Math.max(managed, Math.min(notRecent, whole));
  return column === 'unmanaged_old' ? settled - managed : whole - settled;
}
