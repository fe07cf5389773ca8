import { append } from '../../core/append';
import {
  binned,
  binsSince,
  NONE,
  type Peaks,
  peakOfRows,
  type Series,
  seriesOf,
  summed,
  sumOfKnown,
  valueAt
} from '../../core/series';
import { processOf, workersOf } from '../../core/workers-of';
import { COARSE, peakOf, stacked } from '../layers';
import type { PanelContext } from '../panel';
import { workerLabel } from '../worker-label';
import { MEASURES, type Measure, type MeasureColumn, SCHEDULER_MEASURES, TOTAL, valuesOf } from './measures';

/** In place of a process: those together whose layers are shown. */
export const ALL = -1;

/** Whose figures are looked at. */
export type Group = 'workers' | 'scheduler' | 'client';

/** The samples of one group of processes, and what of the measures there is. */
export class ResourceFigures {
  series = { resources: NONE, gpus: NONE };
  /** Changes with the data and with the group. */
  version = '';
  private group: Group | undefined;
  private usual: Group = 'workers';
  private readonly peaks: Peaks = new Map();
  private scaled = new Map<MeasureColumn, Float32Array>();

  constructor(private readonly context: PanelContext) {}

  /** Without a choice: the workers, or the first process there is where nothing is known of workers. */
  get chosenGroup(): Group {
    return this.group ?? this.usual;
  }

  set chosenGroup(group: Group) {
    this.group = group;
  }

  private get chosenNames(): readonly string[] {
    return [...(this.context.selection.filter().workers ?? [])];
  }

  /** Reads what is new; cheap where nothing is. */
  read(): void {
    const { recording } = this.context;
    const state = [recording.state('resources', 'gpus'), ...this.chosenNames].join();
    if (this.version === [state, this.chosenGroup].join()) return;
    // While a run goes on, those of the workers may come later.
    const groups = new Set(recording.table('resources').symbols('process').names.map(groupOf));
    this.usual = groups.has('workers') ? 'workers' : ([...groups][0] ?? 'workers');
    this.version = [state, this.chosenGroup].join();
    const past = [recording.past('resources', 'gpus'), this.chosenGroup].join();
    if (past !== this.series.resources.past) this.peaks.clear();
    this.scaled.clear();
    this.series = { resources: this.samples('resources', past), gpus: this.samples('gpus', past) };
  }

  private samples(name: Measure['table'], past: string): Series {
    const table = this.context.recording.table(name as 'resources');
    const { codes, names } = name === 'gpus' ? devicesOf(this.context) : table.symbols('process');
    return seriesOf(codes, names, table.times('time'), each => this.isIn(each), this.series[name], past);
  }

  private isIn(name: string): boolean {
    return groupOf(workerOf(name)) === this.chosenGroup;
  }

  /** Measures as they are called of the group. */
  get measures(): readonly Measure[] {
    return this.chosenGroup === 'scheduler' ? SCHEDULER_MEASURES : MEASURES;
  }

  /** Whether anything of it was recorded of the group. */
  has(measure: Measure): boolean {
    return measure.columns.some(({ column }) => this.mostKnown(measure, column) > Number.NEGATIVE_INFINITY);
  }

  /** Measures that the group may have: nobody looks for GPUs but at workers. */
  get expected(): readonly Measure[] {
    return MEASURES.filter(
      each => each.table === 'resources' || this.chosenGroup === 'workers' || this.has(each)
    );
  }

  seriesOf(measure: Measure): Series {
    return this.series[measure.table];
  }

  /** Values of a column in the measure's unit, one a row of its table. */
  values(measure: Measure, column: MeasureColumn): ArrayLike<number> {
    const values = valuesOf(this.context.recording, measure, column);
    const { scale } = measure;
    if (scale === undefined) return values;
    const made = this.scaled.get(column) ?? Float32Array.from(values, value => value * scale);
    this.scaled.set(column, made);
    return made;
  }

  /** Processes of the workers that are chosen. */
  chosen({ names }: Series): number[] {
    const { workers } = this.context.selection.filter();
    return [...names.keys()].filter(process => workers?.has(workerOf(names[process])));
  }

  /** Whose layers are shown: those of the chosen ones, even if none is there, or of all where no workers are chosen. */
  summed(series: Series): readonly number[] {
    const isChosen = this.chosenGroup === 'workers' && this.context.selection.filter().workers;
    return isChosen ? this.chosen(series) : [...series.names.keys()];
  }

  /** The same, but of workers that share a process, each of which tells of all its CPU, the one with most samples. */
  summands(measure: Measure): readonly number[] {
    const series = this.seriesOf(measure);
    const summed = this.summed(series);
    if (measure.id !== TOTAL) return summed;
    const { names, first } = series;
    const told = workersOf(this.context.recording);
    const samples = (process: number): number => first[process + 1] - first[process];
    const rising = [...summed].sort((a, b) => samples(a) - samples(b));
    return [...new Map(rising.map(each => [processOf(told, names[each]), each])).values()];
  }

  /** A figure of a process at a moment, or the sum of those that are known; NaN where nothing is. */
  at(measure: Measure, column: MeasureColumn, process: number, time: number): number {
    const series = this.seriesOf(measure);
    const values = this.values(measure, column);
    if (process !== ALL) return valueAt(series, values, process, time);
    return sumOfKnown(this.summands(measure).map(each => valueAt(series, values, each, time)));
  }

  /** The largest figure of any process; of layers, the largest sum, of what was `seen` too. */
  mostOf(measure: Measure, seen = 0): number {
    if (measure.style === 'stack') {
      const { taken } = this.seriesOf(measure);
      const key = [measure.id, ...this.chosenNames].join();
      return peakOfRows(this.peaks, key, taken, row => this.mostStacked(measure, row), seen);
    }
    if (measure.id === 'gpu') return 100;
    const most = Math.max(...measure.columns.map(({ column }) => this.mostOfColumn(measure, column)));
    // Close to whole cores the axis shows that it is no more.
    const whole = Math.ceil(most / 100) * 100;
    return measure.unit === '%' && most > 0.8 * whole ? whole : most;
  }

  mostOfColumn(measure: Measure, column: MeasureColumn): number {
    return Math.max(0, this.mostKnown(measure, column) * (measure.scale ?? 1));
  }

  /** As it was recorded; -Infinity where nothing was. */
  private mostKnown(measure: Measure, column: MeasureColumn): number {
    const { recording } = this.context;
    const table = recording.table(measure.table as 'resources');
    // A column may come later.
    const rows = table.has(column as 'cpu') ? table.rows : 0;
    return peakOfRows(this.peaks, `${measure.table}.${column}`, rows, from => {
      const { codes, names } = table.symbols('process');
      const isIn = names.map(name => this.isIn(name));
      const values = valuesOf(recording, measure, column);
      let most = Number.NEGATIVE_INFINITY;
      for (let row = from; row < rows; row++) if (values[row] > most && isIn[codes[row]]) most = values[row];
      return most;
    });
  }

  /** Of the bins of all time that the rows from one on may have changed. */
  private mostStacked(measure: Measure, row: number): number {
    const { recording } = this.context;
    const series = this.seriesOf(measure);
    const times = recording.table(measure.table as 'resources').times('time');
    const bins = binsSince(recording, times, row, COARSE);
    const processes = this.summands(measure);
    return peakOf(
      stacked(
        measure.columns.map(({ column }) => {
          const values = this.values(measure, column);
          return summed(processes, bins[2], process => binned(series, values, process, ...bins)?.mean);
        })
      )
    );
  }
}

/** What gives short runs more samples. */
export const MORE_OFTEN =
  'For short runs take more: record(resources="50ms"), `--resources 50ms`, or JupyterLab’s setting “Samples of resources a second”.';

/** Which of the usual measures have no data, and why; '' if all have. */
export function absentWords(figures: ResourceFigures): string {
  if (!figures.measures.some(measure => figures.has(measure)))
    return `No samples of these processes. ${MORE_OFTEN}`;
  const gone = figures.expected.filter(measure => measure.usual && !figures.has(measure));
  const told = new Map<string, string[]>();
  for (const { missing, title } of gone) append(told, missing, title);
  return [...told].map(([missing, titles]) => `${titles.join(', ')}: ${missing}.`).join(' ');
}

function groupOf(process: string): Group {
  return process === 'scheduler' || process === 'client' ? process : 'workers';
}

const GPU = ', GPU ';

/** What a process is called: `worker 3`, `worker 3, GPU 0`, `scheduler`. */
export function processLabel({ tasks }: PanelContext, name: string): string {
  if (groupOf(name) !== 'workers') return name;
  const worker = workerOf(name);
  return workerLabel(tasks, worker) + name.slice(worker.length);
}

/** The worker that a series belongs to: that of a GPU has the device behind it. */
export function workerOf(name: string): string {
  const at = name.lastIndexOf(GPU);
  return at < 0 ? name : name.slice(0, at);
}

/** GPUs as processes. */
function devicesOf({ recording }: PanelContext): { codes: Uint32Array; names: string[] } {
  const table = recording.table('gpus');
  const processes = table.symbols('process');
  const index = table.numbers('index');
  const codes = processes.codes.map((code, row) => code * 256 + index[row]);
  const names: string[] = [];
  for (const code of codes) names[code] ??= `${processes.names[code >> 8]}${GPU}${code & 255}`;
  return { codes, names };
}
