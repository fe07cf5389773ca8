import { amount, bytes, figures, MISSING, THIN } from '../../core/format';
import type { Recording } from '../../core/recording';

/** A figure that is sampled of every process, or of every GPU. */
export interface Measure {
  readonly id: string;
  readonly title: string;
  /** As `format.amount` and `format.amountTicks` take it. */
  readonly unit: string;
  readonly table: 'resources' | 'gpus';
  /**
   * One line a process; or one up and one down; or layers over one another,
   * summed over the processes.
   */
  readonly style: 'line' | 'mirror' | 'stack';
  readonly columns: readonly { readonly column: MeasureColumn; readonly label: string }[];
  /** Shown unless a person says otherwise. */
  readonly usual: boolean;
  /** Why it may be missing, where there is a usual reason. */
  readonly missing?: string;
  /** What stored values are multiplied by. */
  readonly scale?: number;
}

export type MeasureColumn =
  | 'cpu'
  | 'memory'
  | 'net_read'
  | 'net_write'
  | 'disk_read'
  | 'disk_write'
  | 'host_cpu'
  | 'host_free'
  | 'fds'
  | 'lag'
  | 'gil'
  | 'throttled'
  | 'executing'
  | 'ready'
  | 'waiting'
  | 'occupancy'
  | 'transfers_in'
  | 'transfers_out'
  | 'utilization';

export const MEASURES: readonly Measure[] = [
  {
    id: 'cpu',
    title: 'CPU',
    unit: '%',
    table: 'resources',
    style: 'line',
    columns: [{ column: 'cpu', label: 'CPU' }],
    usual: true
  },
  {
    id: 'tasks',
    title: 'Tasks',
    unit: 'count',
    table: 'resources',
    style: 'stack',
    columns: [
      { column: 'executing', label: 'executing' },
      { column: 'ready', label: 'ready' },
      { column: 'waiting', label: 'waiting' }
    ],
    usual: true
  },
  {
    id: 'network',
    title: 'Network',
    unit: 'bytes/second',
    table: 'resources',
    style: 'mirror',
    columns: [
      { column: 'net_read', label: 'received' },
      { column: 'net_write', label: 'sent' }
    ],
    usual: true
  },
  {
    id: 'disk',
    title: 'Disk',
    unit: 'bytes/second',
    table: 'resources',
    style: 'mirror',
    columns: [
      { column: 'disk_read', label: 'read' },
      { column: 'disk_write', label: 'written' }
    ],
    usual: true
  },
  {
    id: 'gpu',
    title: 'GPU',
    unit: '%',
    table: 'gpus',
    style: 'line',
    columns: [{ column: 'utilization', label: 'GPU' }],
    usual: true,
    missing: 'no NVML on these workers'
  },
  {
    id: 'gpu-memory',
    title: 'GPU memory',
    unit: 'bytes',
    table: 'gpus',
    style: 'line',
    columns: [{ column: 'memory', label: 'GPU memory' }],
    usual: true,
    missing: 'no NVML on these workers'
  },
  {
    id: 'lag',
    title: 'Loop lag',
    unit: 'seconds',
    table: 'resources',
    style: 'line',
    columns: [{ column: 'lag', label: 'event loop lag' }],
    usual: true
  },
  {
    id: 'gil',
    title: 'GIL',
    unit: '%',
    table: 'resources',
    style: 'line',
    columns: [{ column: 'gil', label: 'waiting for the GIL' }],
    usual: false,
    missing: 'needs gilknocker on the workers; findings do not',
    scale: 100
  },
  {
    id: 'cpu-limit',
    title: 'CPU limit',
    unit: '%',
    table: 'resources',
    style: 'line',
    columns: [{ column: 'throttled', label: 'periods that reached it' }],
    usual: false,
    missing: 'no limit on CPU time here',
    scale: 100
  },
  {
    id: 'memory',
    title: 'Memory',
    unit: 'bytes',
    table: 'resources',
    style: 'line',
    columns: [{ column: 'memory', label: 'process memory' }],
    usual: false
  },
  {
    id: 'host-cpu',
    title: 'Host CPU',
    unit: '%',
    table: 'resources',
    style: 'line',
    columns: [{ column: 'host_cpu', label: 'all programs' }],
    usual: false
  },
  {
    id: 'host-memory',
    title: 'Host memory left',
    unit: 'bytes',
    table: 'resources',
    style: 'line',
    columns: [{ column: 'host_free', label: 'memory left' }],
    usual: false
  },
  {
    id: 'fds',
    title: 'Open files',
    unit: 'count',
    table: 'resources',
    style: 'line',
    columns: [{ column: 'fds', label: 'file descriptors' }],
    usual: false
  },
  {
    id: 'occupancy',
    title: 'Occupancy',
    unit: 'seconds',
    table: 'resources',
    style: 'line',
    columns: [{ column: 'occupancy', label: 'expected work' }],
    usual: false
  },
  {
    id: 'transfers',
    title: 'Transfers',
    unit: 'count',
    table: 'resources',
    style: 'mirror',
    columns: [
      { column: 'transfers_in', label: 'incoming' },
      { column: 'transfers_out', label: 'outgoing' }
    ],
    usual: false
  }
];

const AT_SCHEDULER: Readonly<Record<string, string>> = {
  executing: 'processing',
  ready: 'queued',
  waiting: 'no worker'
};

/** The same of the scheduler, which counts tasks by states of its own. */
export const SCHEDULER_MEASURES: readonly Measure[] = MEASURES.map(measure => ({
  ...measure,
  columns: measure.columns.map(({ column, label }) => ({ column, label: AT_SCHEDULER[column] ?? label }))
}));

/** Values of a measure's column, one a row of its table. */
export function valuesOf(recording: Recording, measure: Measure, column: MeasureColumn): ArrayLike<number> {
  const table = recording.table(measure.table as 'resources');
  return table.numbers(column as 'cpu');
}

/** Whether any figure of a measure stands in some rows of its table. */
export function isThere(recording: Recording, measure: Measure, rows: Uint32Array): boolean {
  return measure.columns.some(({ column }) => {
    if (!recording.table(measure.table as 'resources').has(column as 'cpu')) return false;
    const values = valuesOf(recording, measure, column);
    return rows.some(row => !Number.isNaN(values[row]));
  });
}

/** A figure in words: `2.4 GiB/s`, `380 %`. */
export function wordsOf(measure: Measure, value: number): string {
  if (measure.unit === '%') return Number.isFinite(value) ? `${figures(value)}${THIN}%` : MISSING;
  if (measure.unit === 'bytes/second') return Number.isFinite(value) ? `${bytes(value)}/s` : MISSING;
  return amount(value, measure.unit);
}
