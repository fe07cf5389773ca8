import type { NumberArray } from './batch';
import { chosenShares, type NameShares, sharesOf } from './budget-shares';
import { madeFrom } from './made-from';
import type { Recording, Symbols } from './recording';
import { chosenFlags, type Filter, type TimeRange } from './selection';
import { submissionsOf } from './task-filter';

/**
 * The time budget as Python has worked it out: where the time of all worker
 * threads went, in rows that leave nothing out. What follows the selection is
 * only summed here.
 */
export interface BudgetRows {
  readonly length: number;
  readonly start: Float64Array;
  readonly stop: Float64Array;
  /** Threads that a row took, on average between its start and its stop. */
  readonly threads: NumberArray;
  readonly part: Symbols;
  /** Task name that ran, or was waited for. */
  readonly name: Symbols;
  readonly span: Symbols;
  readonly worker: Symbols;
  /** '' where a row stands for several threads, or for unused ones. */
  readonly thread: Symbols;
  readonly submission: NumberArray;
  /** Whose the time is that rows tell without a name. */
  readonly shares: NameShares;
}

/** What has been worked out; undefined where nothing has. Valid until the next append. */
export const budgetRows = madeFrom(['budget'], (recording): BudgetRows | undefined => {
  const table = recording.table('budget');
  if (table.rows === 0) return undefined;
  const rows = {
    length: table.rows,
    start: table.times('start'),
    stop: table.times('stop'),
    threads: table.numbers('threads'),
    part: table.symbols('part'),
    name: table.symbols('name'),
    span: table.symbols('span'),
    worker: table.symbols('worker'),
    thread: table.symbols('thread'),
    submission: table.numbers('submission')
  };
  return { ...rows, shares: sharesOf(rows) };
});

/**
 * The part of each row, 0 to 1, that belongs to chosen task names, workers, spans, notebook cells and lines of code.
 * Single attempts are in no row.
 */
export function chosenRows(recording: Recording, rows: BudgetRows, filter: Filter): Float64Array {
  const mask = filter.names ? ofNames(rows, filter.names) : new Float64Array(rows.length).fill(1);
  const narrow = ({ codes, names }: Symbols, chosen: ReadonlySet<string> | undefined): void => {
    if (!chosen) return;
    const wanted = chosenFlags(names, chosen);
    for (let row = 0; row < mask.length; row++) mask[row] *= wanted[codes[row]];
  };
  narrow(rows.worker, filter.workers);
  narrow(rows.span, filter.spans);
  const submissions = submissionsOf(recording, filter);
  if (submissions) {
    for (let row = 0; row < mask.length; row++) mask[row] *= Number(submissions.has(rows.submission[row]));
  }
  return mask;
}

function ofNames({ name, shares }: BudgetRows, chosen: ReadonlySet<string>): Float64Array {
  const isChosen = chosenFlags(name.names, chosen);
  const parts = chosenShares(shares, isChosen);
  return Float64Array.from(name.codes, (code, row) => parts[shares.of[row]] ?? isChosen[code]);
}

/** Thread-seconds of the part of each row that a mask has, within a stretch of time. */
export function threadSeconds(rows: BudgetRows, mask: Float64Array, time?: TimeRange): Float64Array {
  const { start, stop, threads, length } = rows;
  const { start: from, stop: to } = time ?? {
    start: Number.NEGATIVE_INFINITY,
    stop: Number.POSITIVE_INFINITY
  };
  const seconds = new Float64Array(length);
  for (let row = 0; row < length; row++) {
    if (mask[row] === 0) continue;
    const lasted = Math.min(stop[row], to) - Math.max(start[row], from);
    if (lasted > 0) seconds[row] = lasted * threads[row] * mask[row];
  }
  return seconds;
}

/** From the first moment that is shared out to the last. */
export function budgetTime(rows: BudgetRows): TimeRange {
  let start = Number.POSITIVE_INFINITY;
  let stop = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < rows.length; row++) {
    if (rows.start[row] < start) start = rows.start[row];
    if (rows.stop[row] > stop) stop = rows.stop[row];
  }
  return start < stop ? { start, stop } : { start: 0, stop: 0 };
}
