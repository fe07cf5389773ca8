import { timeOfBudget } from '../core/budget-ahead';
import type { Stage } from '../panels/panel';

/** Share of the whole time that may lie around a run without a word: it is then shown with it. */
const LITTLE = 0.1;

/** Room at either end of a run, as a share of it. */
const ROOM = 1 / 32;

/**
 * Lets a recording that has ended open at what it is of: to import, to start a
 * cluster and to end it often take longer than all tasks. That stays in reach
 * (key 0), and the zero of all axes where it is.
 */
export function showRun({ recording, viewport }: Pick<Stage, 'recording' | 'viewport'>): void {
  const run = timeOfBudget(recording);
  if (!run) return;
  const { start, stop } = viewport.extent;
  const length = run.stop - run.start;
  if (stop - start - length < LITTLE * (stop - start)) return;
  viewport.followFrom(run.start - ROOM * length, run.stop + ROOM * length);
}
