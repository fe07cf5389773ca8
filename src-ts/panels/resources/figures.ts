import { append } from '../../core/append';
import { binned, type Series, seriesOf, summed, valueAt } from '../../core/series';
import { COARSE, peakOf, stacked } from '../layers';
import type { PanelContext } from '../panel';
import { workerLabel } from '../worker-label';
import {
  isThere,
  MEASURES,
  type Measure,
  type MeasureColumn,
  SCHEDULER_MEASURES,
  valuesOf
} from './measures';

/** In place of a process: all of them together. */
export const ALL = -1;

/** Whose figures are looked at. */
export type Group = 'workers' | 'scheduler' | 'client';

/** The samples of one group of processes, and what of the measures there is. */
export class ResourceFigures {
  series = { resources: nothing(), gpus: nothing() };
  /** Measures of which anything was recorded of that group. */
  there: readonly Measure[] = [];
  /** Changes with the data and with the group. */
  version = '';
  private group: Group | undefined;
  private usual: Group = 'workers';
  private most = new Map<string, number>();
  private scaled = new Map<MeasureColumn, Float32Array>();

  constructor(private readonly context: PanelContext) {}

  /** Without a choice: the workers, or the first process there is where nothing is known of workers. */
  get chosenGroup(): Group {
    return this.group ?? this.usual;
  }

  set chosenGroup(group: Group) {
    this.group = group;
  }

  /** Reads what is new; cheap where nothing is. */
  read(): void {
    const { recording } = this.context;
    const state = recording.state('resources', 'gpus');
    if (this.version === [state, this.chosenGroup].join()) return;
    const table = recording.table('resources');
    const processes = table.symbols('process');
    // While a run goes on, those of the workers may come later.
    const groups = new Set(processes.names.map(groupOf));
    this.usual = groups.has('workers') ? 'workers' : ([...groups][0] ?? 'workers');
    this.version = [state, this.chosenGroup].join();
    const isIn = (name: string): boolean => groupOf(name) === this.chosenGroup;
    this.series = {
      resources: seriesOf(processes.codes, processes.names, table.times('time'), isIn),
      gpus: gpuSeries(this.context, isIn)
    };
    this.scaled.clear();
    const measures = this.chosenGroup === 'scheduler' ? SCHEDULER_MEASURES : MEASURES;
    this.there = measures.filter(measure => isThere(recording, measure, this.seriesOf(measure).rows));
    this.most = new Map(this.there.map(measure => [measure.id, this.findMost(measure)]));
  }

  has({ id }: Measure): boolean {
    return this.there.some(each => each.id === id);
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
    let made = this.scaled.get(column);
    if (!made) {
      made = Float32Array.from(values, value => value * scale);
      this.scaled.set(column, made);
    }
    return made;
  }

  /** A figure of a process at a moment, or the sum of those that are known; NaN where nothing is. */
  at(measure: Measure, column: MeasureColumn, process: number, time: number): number {
    const series = this.seriesOf(measure);
    const values = this.values(measure, column);
    if (process !== ALL) return valueAt(series, values, process, time);
    const known = series.names
      .map((_, each) => valueAt(series, values, each, time))
      .filter(value => !Number.isNaN(value));
    return known.length > 0 ? known.reduce((sum, value) => sum + value) : Number.NaN;
  }

  /** The largest figure of any process; of layers, the largest sum, of what was `seen` too. */
  mostOf({ id }: Measure, seen = 0): number {
    const most = Math.max(this.most.get(id) ?? 1, seen);
    this.most.set(id, most);
    return most;
  }

  mostOfColumn(measure: Measure, column: MeasureColumn): number {
    const values = this.values(measure, column);
    let most = 0;
    for (const row of this.seriesOf(measure).rows) if (values[row] > most) most = values[row];
    return most;
  }

  private findMost(measure: Measure): number {
    if (measure.style === 'stack') return this.mostStacked(measure);
    const most = Math.max(...measure.columns.map(({ column }) => this.mostOfColumn(measure, column)));
    // Close to whole cores the axis shows that it is no more.
    const whole = Math.ceil(most / 100) * 100;
    return measure.unit === '%' && most > 0.8 * whole ? whole : most;
  }

  private mostStacked(measure: Measure): number {
    const { origin, end } = this.context.recording;
    const series = this.seriesOf(measure);
    const all = series.names.map((_, process) => process);
    const sums = measure.columns.map(({ column }) =>
      summed(binned(series, this.values(measure, column), origin, end, COARSE), all)
    );
    return peakOf(stacked(sums));
  }
}

/** What gives short runs more samples. */
export const MORE_OFTEN = 'record(resources="50ms") takes them more often, for short runs.';

/** Which of the usual measures have no data, and why; '' if all have. */
export function absentWords(figures: ResourceFigures): string {
  if (figures.there.length === 0) return `No samples of these processes. ${MORE_OFTEN}`;
  const gone = figures.expected.filter(measure => measure.usual && !figures.has(measure));
  const told = new Map<string, string[]>();
  for (const { missing, title } of gone) append(told, missing, title);
  return [...told].map(([missing, titles]) => `${titles.join(', ')}: ${missing}.`).join(' ');
}

function groupOf(process: string): Group {
  return process === 'scheduler' || process === 'client' ? process : 'workers';
}

function nothing(): Series {
  return seriesOf([], [], []);
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

function gpuSeries({ recording }: PanelContext, isIn: (name: string) => boolean): Series {
  const table = recording.table('gpus');
  const processes = table.symbols('process');
  const index = table.numbers('index');
  const codes = Uint32Array.from(processes.codes, (code, row) => code * 256 + index[row]);
  const names: string[] = [];
  for (const code of codes) names[code] ??= `${processes.names[code >> 8]}${GPU}${code & 255}`;
  return seriesOf(codes, names, table.times('time'), name => isIn(workerOf(name)));
}
