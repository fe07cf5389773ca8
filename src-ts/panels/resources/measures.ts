import { amount, bytes, MISSING } from '../../core/format';
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
  /** Why it is missing where it is, if there is a usual reason. */
  readonly missing: string;
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

/** A line a process from `resources`, shown when a person asks for it; `more` tells what is otherwise. */
function measure(
  id: string,
  title: string,
  unit: string,
  labels: { readonly [C in MeasureColumn]?: string },
  more: Partial<Measure> = {}
): Measure {
  const columns = Object.entries(labels).map(([column, label]) => ({
    column: column as MeasureColumn,
    label
  }));
  const plain = { table: 'resources', style: 'line', usual: false, missing: 'not recorded here' } as const;
  return { id, title, unit, columns, ...plain, ...more };
}

/** Of all together alone: of a process it is its CPU. */
export const TOTAL = 'total-cpu';

const NO_NVML = 'no NVML on these workers';

export const MEASURES: readonly Measure[] = [
  measure('cpu', 'CPU', '%', { cpu: 'CPU' }, { usual: true }),
  measure(TOTAL, 'Total CPU', '%', { cpu: 'total' }, { style: 'stack' }),
  measure(
    'tasks',
    'Tasks',
    'count',
    { executing: 'executing', ready: 'ready', waiting: 'waiting' },
    { style: 'stack', usual: true }
  ),
  measure(
    'network',
    'Network',
    'bytes/second',
    { net_read: 'received', net_write: 'sent' },
    { style: 'mirror', usual: true }
  ),
  measure(
    'disk',
    'Disk',
    'bytes/second',
    { disk_read: 'read', disk_write: 'written' },
    { style: 'mirror', usual: true }
  ),
  measure('gpu', 'GPU', '%', { utilization: 'GPU' }, { table: 'gpus', usual: true, missing: NO_NVML }),
  measure(
    'gpu-memory',
    'GPU memory',
    'bytes',
    { memory: 'GPU memory' },
    { table: 'gpus', usual: true, missing: NO_NVML }
  ),
  measure('lag', 'Loop lag', 'seconds', { lag: 'event loop lag' }, { usual: true }),
  measure(
    'gil',
    'GIL',
    '%',
    { gil: 'waiting for the GIL' },
    { missing: 'needs gilknocker on the workers; findings do not', scale: 100 }
  ),
  measure(
    'cpu-limit',
    'CPU limit',
    '%',
    { throttled: 'periods that reached it' },
    { missing: 'no limit on CPU time here', scale: 100 }
  ),
  measure('memory', 'Memory', 'bytes', { memory: 'process memory' }),
  measure('host-cpu', 'Host CPU', '%', { host_cpu: 'all programs' }),
  measure('host-memory', 'Host memory left', 'bytes', { host_free: 'memory left' }),
  measure('fds', 'Open files', 'count', { fds: 'file descriptors' }),
  measure('occupancy', 'Occupancy', 'seconds', { occupancy: 'expected work' }),
  measure(
    'transfers',
    'Transfers',
    'count',
    { transfers_in: 'incoming', transfers_out: 'outgoing' },
    { style: 'mirror' }
  )
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

/** A figure in words: `2.4 GiB/s`, `380 %`. */
export function wordsOf(measure: Measure, value: number): string {
  if (!Number.isFinite(value)) return MISSING;
  return measure.unit === 'bytes/second' ? `${bytes(value)}/s` : amount(value, measure.unit);
}
