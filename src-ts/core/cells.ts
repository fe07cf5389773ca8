import { duration, shortened } from './format';
import { madeFrom } from './made-from';
import type { Recording } from './recording';
import type { RowOf } from './schema';
import type { Selection, TimeRange } from './selection';

/** One run of a notebook cell; its stop is Infinity while it runs. */
export type CellRun = RowOf<'cells'>;

/** All runs of cells, in the order in which they began; a later row replaces an earlier one. */
export const cellsOf = madeFrom(['cells'], (recording): readonly CellRun[] => {
  return [...recording.table('cells').newest('execution').values()]
    .map(row => ({ ...row, stop: Number.isNaN(row.stop) ? Number.POSITIVE_INFINITY : row.stop }))
    .filter(({ start }) => Number.isFinite(start))
    .sort((a, b) => a.start - b.start);
});

/** The run of a cell that everything is narrowed to, whoever did that, if it is one. */
export function chosenCell(selection: Selection): number | undefined {
  const [cell, ...others] = selection.filter().cells ?? [];
  return others.length === 0 ? cell : undefined;
}

/** The run with an execution count. */
export function cellOf(recording: Recording, execution: number | undefined): CellRun | undefined {
  return cellsOf(recording).find(each => each.execution === execution);
}

/** The part of the recording's time in which a cell ran. */
export function timeOfCell({ start, stop }: CellRun, recording: Recording): TimeRange {
  return { start, stop: Math.max(start, Math.min(stop, recording.end)) };
}

/** A cell as a person knows it: its number and its first line of code, beyond magics. */
export function cellTitle({ execution, code }: CellRun): string {
  const lines = code.split('\n').map(line => line.trim());
  const first = lines.find(line => /^(?!#|%%)./.test(line)) ?? lines[0] ?? '';
  return `[${execution}] ${shortened(first, 48)}`;
}

/** The same, with how long it took. */
export function cellWords(run: CellRun): string {
  const took = Number.isFinite(run.stop) ? duration(run.stop - run.start) : 'running';
  const failed = run.status === 'error' ? ', failed' : '';
  return `${cellTitle(run)} (${took}${failed})`;
}

/** Executions that handed tasks to a scheduler. */
export const cellsWithTasks = madeFrom(['submissions'], (recording): ReadonlySet<number> => {
  const table = recording.table('submissions');
  const counts = table.numbers('tasks');
  const found = new Set<number>();
  table.numbers('execution').forEach((execution, row) => {
    if (execution > 0 && counts[row] > 0) found.add(execution);
  });
  return found;
});
