import { cellsOf, timeOfCell } from './cells';
import { RUNNING } from './lane';
import type { Recording } from './recording';
import { chosenFlags, type Filter, type TimeRange } from './selection';
import type { Tasks } from './tasks';

/**
 * Tells whether an attempt of a task belongs to the chosen attempts, spans,
 * notebook cells and lines; undefined if none are chosen. Valid until the next
 * append.
 */
export function taskTest(tasks: Tasks, filter: Filter): ((run: number, task: number) => boolean) | undefined {
  const { runs, spans } = filter;
  const isSubmission = submissionsOf(tasks.recording, filter);
  if (!runs && !spans && !isSubmission) return undefined;
  const graph = tasks.recording.table('graph');
  const span = graph.symbols('span');
  const isSpan = spans && chosenFlags(span.names, spans);
  const submitted = graph.numbers('submission');
  return (run, task) => {
    if (runs && !runs.has(run)) return false;
    if (!isSpan && !isSubmission) return true;
    const row = tasks.graphRow(task);
    if (row < 0) return false;
    if (isSpan && isSpan[span.codes[row]] === 0) return false;
    return !isSubmission || isSubmission.has(submitted[row]);
  };
}

/** The same for entries of lanes, by their row and status. */
export function entryTest(
  tasks: Tasks,
  filter: Filter
): ((row: number, status: number) => boolean) | undefined {
  const test = taskTest(tasks, filter);
  if (!test) return undefined;
  const runOf = idsOf(tasks.recording, 'run');
  const taskOf = idsOf(tasks.recording, 'task');
  return (row, status) => test(runOf(row, status), taskOf(row, status));
}

/** Gives the attempt, or the task, of an entry of a lane by its row and status; valid until the next append. */
export function idsOf(recording: Recording, column: 'run' | 'task'): (row: number, status: number) => number {
  const [ended, running] = (['attempts', 'running'] as const).map(of => recording.table(of).numbers(column));
  return (row, status) => (status === RUNNING ? running : ended)[row];
}

/** The submissions that the chosen notebook cells and lines of code have made; undefined if none are chosen. */
export function submissionsOf(
  recording: Recording,
  { cells, lines }: Pick<Filter, 'cells' | 'lines'>
): ReadonlySet<number> | undefined {
  if (!cells && !lines) return undefined;
  const table = recording.table('submissions');
  const ids = table.numbers('submission');
  const executions = table.numbers('execution');
  const numbers = table.numbers('line');
  const found = new Set<number>();
  for (let row = 0; row < table.rows; row++) {
    const isLine = lines?.has(`${table.text('file', row)}:${numbers[row]}`) ?? true;
    if (isLine && (cells?.has(executions[row]) ?? true)) found.add(ids[row]);
  }
  return found;
}

/**
 * The time that a filter leaves: the chosen one, and for what knows no tasks
 * the time in which the chosen cells ran. Undefined if nothing narrows it.
 */
export function timeOf(recording: Recording, { time, cells }: Filter): TimeRange | undefined {
  if (!cells) return time;
  const ran = cellsOf(recording)
    .filter(({ execution }) => cells.has(execution))
    .map(run => timeOfCell(run, recording));
  if (ran.length === 0) return time;
  const start = Math.max(time?.start ?? Number.NEGATIVE_INFINITY, Math.min(...ran.map(each => each.start)));
  const stop = Math.min(time?.stop ?? Number.POSITIVE_INFINITY, Math.max(...ran.map(each => each.stop)));
  return { start, stop: Math.max(start, stop) };
}
