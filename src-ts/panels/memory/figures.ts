import { plural } from '../../core/format';
import { binned, type Series, seriesOf, summed, valueAt } from '../../core/series';
import type { PanelContext } from '../panel';
import { workerLabel } from '../worker-label';

export type MeasureName = 'managed' | 'unmanaged_old' | 'unmanaged_recent' | 'spilled';

/** From the bottom; `spilled` is on disk and stands apart, hatched by its outline. */
export const MEASURES: readonly { readonly column: MeasureName; readonly label: string }[] = [
  { column: 'managed', label: 'managed' },
  { column: 'unmanaged_old', label: 'unmanaged, old' },
  { column: 'unmanaged_recent', label: 'unmanaged, recent' },
  { column: 'spilled', label: 'spilled to disk' }
];

/** Dask's memory measures of the workers that are chosen, and their limits. Bytes. */
export class MemoryFigures {
  series: Series = seriesOf([], [], []);
  /** Processes of the series that are looked at: the chosen workers, or all. */
  included: readonly number[] = [];
  /** Changes with the data and with who is included. */
  version = '';
  private known = '';
  private readonly limits = new Map<string, number>();

  constructor(private readonly context: PanelContext) {}

  /** Reads what is new; cheap where nothing is. */
  read(): void {
    const { recording, selection } = this.context;
    const known = recording.state('memory', 'workers');
    if (known !== this.known) {
      this.known = known;
      const workers = recording.table('memory').symbols('worker');
      this.series = seriesOf(workers.codes, workers.names, recording.table('memory').times('time'));
      this.readLimits();
    }
    const { workers } = selection.filter();
    const all = this.series.names.map((_, process) => process);
    const wanted = all.filter(process => !workers || workers.has(this.series.names[process]));
    this.included = wanted.length > 0 ? wanted : all;
    this.version = [known, this.included.join()].join(';');
  }

  values(column: MeasureName | 'process'): ArrayLike<number> {
    return this.context.recording.table('memory').numbers(column);
  }

  /** Sum of some processes at a moment; NaN where nothing is known. */
  at(column: MeasureName | 'process', processes: readonly number[], time: number): number {
    const values = this.values(column);
    let sum = Number.NaN;
    for (const process of processes) {
      const value = valueAt(this.series, values, process, time);
      if (!Number.isNaN(value)) sum = (Number.isNaN(sum) ? 0 : sum) + value;
    }
    return sum;
  }

  private mostKept = { version: '', most: 0 };

  /** The axis reaches a little over the highest sum; over the limit too where the limit is not far. */
  mostOfSum(): number {
    if (this.mostKept.version !== this.version) {
      this.mostKept = { version: this.version, most: this.findMost() };
    }
    return this.mostKept.most;
  }

  private findMost(): number {
    const { origin, end } = this.context.recording;
    const total = new Float64Array(400);
    for (const { column } of MEASURES) {
      const bins = binned(this.series, this.values(column), origin, end, total.length);
      summed(bins, this.included).forEach((value, bin) => {
        if (!Number.isNaN(value)) total[bin] += value;
      });
    }
    const most = total.reduce((a, b) => Math.max(a, b), 0) * 1.04;
    const limit = this.limitOf(this.included);
    // Without any measure in what is shown the limit alone says how much there could be.
    if (most === 0 && limit > 0) return limit * 1.04;
    return limit * 1.04 > most && limit < most * 2.5 ? limit * 1.04 : most;
  }

  mostOfOne(): number {
    const values = this.values('process');
    let most = 0;
    for (const row of this.series.rows) if (values[row] > most) most = values[row];
    return most;
  }

  /** NaN where a worker has none. */
  limitOf(processes: readonly number[]): number {
    let sum = 0;
    for (const process of processes) sum += this.limits.get(this.series.names[process]) ?? Number.NaN;
    return processes.length > 0 ? sum : Number.NaN;
  }

  titleOf(processes: readonly number[]): string {
    const { tasks } = this.context;
    return processes.length === 1
      ? workerLabel(tasks, this.series.names[processes[0]])
      : plural(processes.length, 'worker');
  }

  private readLimits(): void {
    const table = this.context.recording.table('workers');
    const values = table.numbers('memory_limit');
    for (let row = 0; row < table.rows; row++) this.limits.set(table.text('worker', row), values[row]);
  }
}
