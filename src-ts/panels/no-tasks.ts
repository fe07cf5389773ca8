import type { Recording } from '../core/recording';
import type { Stage } from './panel';

/** Why there is nothing of tasks, and while a run goes on what to do. */
export function noTasks(recording: Recording): string {
  if (!recording.hasEnded) return 'No task has finished yet. Run a Dask computation.';
  return recording.about('stopped') === undefined || recording.isCut
    ? 'No finished task was recorded.'
    : 'No task ran while this was recorded.';
}

/** Why there is nothing of something else: what was never recorded may still come while a run goes on. */
export function noneOf({ recording, tasks }: Stage, reason: string): string {
  if (recording.hasEnded) return reason;
  return tasks.count > 0 ? reason.replace('were recorded', 'have come yet') : noTasks(recording);
}
