import type { Recording } from '../core/recording';
import type { Stage } from './panel';

const NONE_ENDED = 'No finished task was recorded.';

/** Why there is nothing of tasks, and while a run goes on what to do. */
export function noTasks(recording: Recording): string {
  if (!recording.hasEnded) return 'No task has finished yet. Run a Dask computation.';
  return recording.about('stopped') === undefined || recording.isCut
    ? NONE_ENDED
    : 'No task ran while this was recorded.';
}

/** Why there is nothing of a table that is worked out of finished tasks; `coming` while it may still come. */
export function notExplained(
  { recording, tasks }: Stage,
  table: 'critical' | 'what_if',
  coming: string
): string | undefined {
  if (recording.table(table).rows > 0) return undefined;
  if (tasks.count === 0) return noTasks(recording);
  if (!recording.hasEnded) return coming;
  return recording.table('attempts').rows > 0 ? notWorkedOut('This') : NONE_ENDED;
}

/** Why there is nothing of something else: what was never recorded may still come while a run goes on. */
export function noneOf({ recording, tasks }: Stage, reason: string): string {
  if (recording.hasEnded) return reason;
  return tasks.count > 0 ? reason.replace('were recorded', 'have come yet') : noTasks(recording);
}

const NOT_CHOSEN = ' what is chosen. Esc takes the last choice back.';

/** Why a choice leaves nothing, and what to do; `what` lacks what is chosen: `No task ran in`. */
export function noneChosen(what: string): string {
  return what + NOT_CHOSEN;
}

/** Whether another choice, or what is set in the head, may show something. */
export function isOfChoice(reason: string): boolean {
  return reason.endsWith(NOT_CHOSEN);
}

/** Why something that is worked out once a run has ended is not in its file, and what to do. */
export function notWorkedOut(what: string): string {
  return `${what} has not been worked out for this file: dask_insight.open it, and save it or its report again.`;
}
