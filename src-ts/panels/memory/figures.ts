import { append } from '../../core/append';
import { plural } from '../../core/format';
import { mostAtOnce } from '../../core/most-at-once';
import { type Binned, binned, type Series, seriesOf, summed, valueAt } from '../../core/series';
import { workersOf } from '../../core/workers-of';
import { COARSE, peakOf, stacked } from '../layers';
import type { PanelContext } from '../panel';
import { workerLabel } from '../worker-label';
import { ofProcess } from './shared-process';

export type MeasureName = 'managed' | 'unmanaged_old' | 'unmanaged_recent' | 'spilled';
export type MemoryColumn = MeasureName | 'process';

/** From the bottom; `spilled` is on disk and stands apart, hatched by its outline. */
export const MEASURES: readonly { readonly column: MeasureName; readonly label: string }[] = [
  { column: 'managed', label: 'managed' },
  { column: 'unmanaged_old', label: 'unmanaged, old' },
  { column: 'unmanaged_recent', label: 'unmanaged, recent' },
  { column: 'spilled', label: 'spilled to disk' }
];

/** A column in bins of time. */
export interface BinnedMemory {
  readonly values: Binned;
  /** Of the workers that are looked at together; NaN where nothing is known. */
  readonly sum: Float64Array;
}

/** Dask's memory measures of the workers that are chosen, and their limits. Bytes. */
export class MemoryFigures {
  series: Series = seriesOf([], [], []);
  /** Workers of the series that are looked at: those of them that are chosen, or all where there is no choice. */
  included: readonly number[] = [];
  /** Changes with the data and with who is included. */
  version = '';
  private known = '';

  constructor(private readonly context: PanelContext) {}

  /** Reads what is new; cheap where nothing is. */
  read(): void {
    const { recording, selection } = this.context;
    const known = recording.state('memory', 'workers');
    if (known !== this.known) {
      this.known = known;
      const workers = recording.table('memory').symbols('worker');
      this.series = seriesOf(workers.codes, workers.names, recording.table('memory').times('time'));
    }
    const { workers } = selection.filter();
    const { names } = this.series;
    this.included = [...names.keys()].filter(worker => !workers || workers.has(names[worker]));
    this.version = [known, this.included.join()].join(';');
  }

  values(column: MemoryColumn): ArrayLike<number> {
    return this.context.recording.table('memory').numbers(column);
  }

  /** Some workers together at a moment; NaN where nothing is known. */
  at(column: MemoryColumn, workers: readonly number[], time: number): number {
    const value = (of: MemoryColumn, worker: number): number =>
      valueAt(this.series, this.values(of), worker, time);
    return this.byProcess(workers)
      .map(sharing => ofProcess(column, sharing, value))
      .filter(value => !Number.isNaN(value))
      .reduce((sum, value) => (Number.isNaN(sum) ? value : sum + value), Number.NaN);
  }

  /** Values of each worker in equal bins from `from` to `to`, and of those that are looked at together. */
  binned(column: MemoryColumn, from: number, to: number, bins: number): BinnedMemory {
    const made = new Map<MemoryColumn, Binned>();
    const read = (of: MemoryColumn): Binned => {
      const values = made.get(of) ?? binned(this.series, this.values(of), from, to, bins);
      made.set(of, values);
      return values;
    };
    const groups = this.byProcess(this.included);
    const sum = summed(read(column), groups.filter(({ length }) => length === 1).flat());
    for (const sharing of groups.filter(({ length }) => length > 1)) {
      sum.forEach((before, bin) => {
        const value = ofProcess(column, sharing, (of, worker) => read(of).mean[worker * bins + bin]);
        if (!Number.isNaN(value)) sum[bin] = (Number.isNaN(before) ? 0 : before) + value;
      });
    }
    return { values: read(column), sum };
  }

  /** Workers that share a process together, each other one alone. */
  private byProcess(workers: readonly number[]): number[][] {
    const told = workersOf(this.context.recording);
    const found = new Map<string, number[]>();
    for (const worker of workers) {
      const name = this.series.names[worker];
      const its = told.get(name);
      append(found, its && its.pid > 0 ? `${its.host} ${its.namespace} ${its.pid}` : name, worker);
    }
    return [...found.values()];
  }

  private mostKept = { version: '', most: 0 };

  /**
   * The axis reaches a little over the highest sum, of what was `seen` too; over the limit too where the limit is
   * not far.
   */
  mostOfSum(seen = 0): number {
    if (this.mostKept.version !== this.version) {
      this.mostKept = { version: this.version, most: this.findMost() };
    }
    this.mostKept.most = Math.max(this.mostKept.most, seen);
    const most = this.mostKept.most * 1.04;
    const limit = this.limitOf(this.included);
    // Without any measure in what is shown the limit alone says how much there could be.
    if (most === 0 && limit > 0) return limit * 1.04;
    return limit < most * 2.5 ? Math.max(most, limit * 1.04) : most;
  }

  private findMost(): number {
    const { origin, end } = this.context.recording;
    return peakOf(stacked(MEASURES.map(({ column }) => this.binned(column, origin, end, COARSE).sum)));
  }

  /** The largest seen of a worker, or the largest limit of one where that is not far. */
  mostOfOne(): number {
    const values = this.values('process');
    let most = 0;
    for (const row of this.series.rows) if (values[row] > most) most = values[row];
    const told = [...workersOf(this.context.recording).values()];
    const limit = Math.max(...told.map(({ memory_limit }) => memory_limit || 0));
    return limit < most * 2.5 ? Math.max(most, limit) : most;
  }

  /**
   * NaN where a worker has none. The first that a process reaches is its limit; of processes those count that were
   * there at once.
   */
  limitOf(workers: readonly number[]): number {
    if (workers.length === 0) return Number.NaN;
    const told = workersOf(this.context.recording);
    const changes = this.byProcess(workers).flatMap(sharing => {
      const known = sharing.map(worker => told.get(this.series.names[worker]));
      const limit = Math.min(...known.map(each => each?.memory_limit ?? Number.NaN));
      const joined = Math.min(...known.map(each => each?.joined || Number.NEGATIVE_INFINITY));
      const left = Math.max(...known.map(each => each?.left || Number.POSITIVE_INFINITY));
      return [[joined, limit] as const, [left, -limit] as const];
    });
    return mostAtOnce(changes);
  }

  titleOf(workers: readonly number[]): string {
    const { tasks } = this.context;
    return workers.length === 1
      ? workerLabel(tasks, this.series.names[workers[0]])
      : plural(workers.length, 'worker');
  }
}
