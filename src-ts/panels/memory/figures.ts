import { append } from '../../core/append';
import { plural } from '../../core/format';
import { mostAtOnce } from '../../core/most-at-once';
import { binned, type Means, NONE, seriesOf, summed, sumOfKnown, valueAt } from '../../core/series';
import { processOf, workersOf } from '../../core/workers-of';
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

/** Workers that are looked at together. */
interface Together {
  readonly workers: readonly number[];
  /** Those that share a process, each other one alone. */
  readonly groups: readonly number[][];
  readonly limit: number;
}

/** Dask's memory measures of the workers that are chosen, and their limits. Bytes. */
export class MemoryFigures {
  series = NONE;
  /** Workers of the series that are looked at: those of them that are chosen, or all where there is no choice. */
  included: readonly number[] = [];
  /** Changes with the data and with who is included. */
  version = '';
  private known = '';
  private chosen: ReadonlySet<string> | undefined;
  private last: Together | undefined;
  private most = { version: '', sum: 0 };

  constructor(private readonly context: PanelContext) {}

  /** Reads what is new; cheap where nothing is. */
  read(): void {
    const { recording, selection } = this.context;
    const known = recording.state('memory', 'workers');
    const { workers } = selection.filter();
    if (known === this.known && workers === this.chosen) return;
    this.known = known;
    this.chosen = workers;
    const table = recording.table('memory');
    const { codes, names: told } = table.symbols('worker');
    const past = recording.past('memory');
    this.series = seriesOf(codes, told, table.times('time'), undefined, this.series, past);
    const { names } = this.series;
    this.included = [...names.keys()].filter(worker => !workers || workers.has(names[worker]));
    this.version = [known, this.included.join()].join(';');
  }

  values(column: MemoryColumn): ArrayLike<number> {
    return this.context.recording.table('memory').numbers(column);
  }

  /** Some workers together at a moment; NaN where nothing is known. */
  at(column: MemoryColumn, workers: readonly number[], time: number): number {
    const read = kept((of: MemoryColumn) => this.values(of));
    const value = (of: MemoryColumn, worker: number): number => valueAt(this.series, read(of), worker, time);
    const { groups } = this.together(workers);
    return sumOfKnown(
      groups.map(sharing =>
        sharing.length > 1 ? ofProcess(column, sharing, value) : value(column, sharing[0])
      )
    );
  }

  /** A measure of a worker in equal bins from `from` to `to`. */
  means(column: MemoryColumn, worker: number, from: number, to: number, bins: number): Means {
    return binned(this.series, this.values(column), worker, from, to, bins)?.mean;
  }

  /** Of the workers that are looked at together, in equal bins from `from` to `to`; NaN where nothing is known. */
  sum(column: MemoryColumn, from: number, to: number, bins: number): Float64Array {
    const { groups } = this.together(this.included);
    const single = groups.filter(({ length }) => length === 1).flat();
    const sum = summed(single, bins, worker => this.means(column, worker, from, to, bins));
    for (const sharing of groups.filter(({ length }) => length > 1)) {
      const read = kept((of: MemoryColumn) =>
        kept((worker: number) => this.means(of, worker, from, to, bins) ?? [])
      );
      sum.forEach((before, bin) => {
        const value = ofProcess(column, sharing, (of, worker) => read(of)(worker)[bin] ?? Number.NaN);
        sum[bin] = sumOfKnown([before, value]);
      });
    }
    return sum;
  }

  /** The axis reaches a little over the highest sum, of what was `seen` too, or over the limit. */
  mostOfSum(seen = 0): number {
    if (this.most.version !== this.version) this.most = { version: this.version, sum: this.findMost() };
    this.most.sum = Math.max(this.most.sum, seen);
    return 1.04 * withLimit(this.most.sum, this.limitOf(this.included));
  }

  private findMost(): number {
    const { origin, end } = this.context.recording;
    return peakOf(stacked(MEASURES.map(({ column }) => this.sum(column, origin, end, COARSE))));
  }

  /** The largest seen of a worker, or the largest limit of one where that is not far. */
  mostOfOne(): number {
    const values = this.values('process');
    let most = 0;
    for (const row of this.series.rows) if (values[row] > most) most = values[row];
    const told = [...workersOf(this.context.recording).values()];
    return withLimit(most, Math.max(...told.map(({ memory_limit }) => memory_limit || 0)));
  }

  /**
   * NaN where a worker has none. The first that a process reaches is its limit; of processes those count that were
   * there at once.
   */
  limitOf(workers: readonly number[]): number {
    return this.together(workers).limit;
  }

  /** Kept of those that were asked for last. */
  private together(workers: readonly number[]): Together {
    if (workers === this.last?.workers) return this.last;
    const told = workersOf(this.context.recording);
    const found = new Map<string, number[]>();
    for (const worker of workers) {
      append(found, processOf(told, this.series.names[worker]), worker);
    }
    const groups = [...found.values()];
    const changes = groups.flatMap(sharing => {
      const known = sharing.map(worker => told.get(this.series.names[worker]));
      const limit = Math.min(...known.map(each => each?.memory_limit ?? Number.NaN));
      const joined = Math.min(...known.map(each => each?.joined || Number.NEGATIVE_INFINITY));
      const left = Math.max(...known.map(each => each?.left || Number.POSITIVE_INFINITY));
      return [[joined, limit] as const, [left, -limit] as const];
    });
    this.last = { workers, groups, limit: mostAtOnce(changes) };
    return this.last;
  }

  titleOf(workers: readonly number[]): string {
    const { tasks } = this.context;
    return workers.length === 1
      ? workerLabel(tasks, this.series.names[workers[0]])
      : plural(workers.length, 'worker');
  }
}

function kept<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>();
  return key => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}

/** An axis reaches over the limit too where that is not far; without any measure the limit says how much there could be. */
function withLimit(most: number, limit: number): number {
  return most === 0 || limit < most * 2.5 ? Math.max(most, limit || 0) : most;
}
