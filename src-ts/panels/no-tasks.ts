import type { Recording } from '../core/recording';

/** Why there is nothing of tasks, and while a run goes on what to do. */
export function noTasks(recording: Recording): string {
  if (!recording.hasEnded) return 'No task has finished yet. Run a Dask computation.';
  return recording.about('stopped') === undefined || recording.isCut
    ? 'No finished task was recorded.'
    : 'No task ran while this was recorded.';
}
