import type { Recording } from '../core/recording';

/** Why there is nothing of tasks, and while a run goes on what to do. */
export function noTasks(recording: Recording): string {
  return recording.about('stopped') === undefined
    ? 'No task has finished yet. Run a Dask computation.'
    : 'No task ran while this was recorded.';
}
