import { LOST, statusCode } from './lane';
import type { TaskIndex } from './task-index';

/** When and where an attempt ran, from all that is known; NaN and '' where nothing is. */
export interface Run {
  readonly start: number;
  readonly stop: number;
  readonly worker: string;
  readonly thread: string;
}

/**
 * When and where an attempt ran, by its row in `attempts`. What its worker
 * tells of when it began and ended is better than what `attempts` has: that is
 * written at once, and may be an estimate.
 */
export function runOf(tasks: TaskIndex, row: number): Run {
  const { recording } = tasks;
  const attempts = recording.table('attempts');
  const run = attempts.numbers('run')[row];
  const executions = recording.table('executions');
  const running = recording.table('running');
  const seen = tasks.executionRow(run);
  const begun = tasks.runningRow(run);
  const start = firstKnown(
    seen < 0 ? Number.NaN : executions.times('start')[seen],
    attempts.times('start')[row],
    seen < 0 ? Number.NaN : executions.times('executing')[seen],
    begun < 0 ? Number.NaN : running.times('start')[begun]
  );
  const done = attempts.times('done')[row];
  const stop = firstKnown(
    seen < 0 ? Number.NaN : executions.times('stop')[seen],
    attempts.times('stop')[row],
    seen < 0 ? Number.NaN : executions.times('ended')[seen],
    done
  );
  const worker = attempts.text('worker', row) || (seen < 0 ? '' : executions.text('worker', seen));
  const thread =
    attempts.text('thread', row) ||
    (seen < 0 ? '' : executions.text('thread', seen)) ||
    (begun < 0 ? '' : running.text('thread', begun));
  return { start, stop, worker, thread };
}

/**
 * An attempt as it stands in a lane; `sure` where nothing that arrives later can move it.
 * One that is lost stands there from when it was assigned.
 */
export interface Placed extends Run {
  readonly status: number;
  readonly sure: boolean;
}

/** Where an attempt belongs; the word of its status if it never ran on a thread, as far as is known. */
export function placeOf(tasks: TaskIndex, row: number): Placed | string {
  const attempts = tasks.recording.table('attempts');
  const status = attempts.text('status', row);
  const { start, stop, worker, thread } = runOf(tasks, row);
  if (Number.isNaN(start) && !['killed', 'erred', 'ok'].includes(status)) return status;
  const end = firstKnown(stop, attempts.times('done')[row]);
  const isLost = status === 'killed' && Number.isNaN(start);
  const begin = firstKnown(start, isLost ? attempts.times('assigned')[row] : Number.NaN, end);
  if (Number.isNaN(begin)) return status;
  return {
    start: Math.min(begin, end),
    stop: Math.max(begin, end),
    worker,
    thread,
    status: isLost ? LOST : statusCode(status),
    sure: !isLost && tasks.executionRow(attempts.numbers('run')[row]) >= 0
  };
}

function firstKnown(...values: number[]): number {
  return values.find(value => !Number.isNaN(value)) ?? Number.NaN;
}
