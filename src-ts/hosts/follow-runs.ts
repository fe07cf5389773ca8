import { Bursts } from '../core/bursts';
import { cellOf, chosenCell } from '../core/cells';
import type { Stop } from '../core/recording';
import type { TimeRange } from '../core/selection';
import type { Stage } from '../panels/panel';

/** Idle time after which work counts as something new, seconds. */
const PAUSE = 5;

/**
 * Lets a followed picture show the latest run: it begins when tasks run again
 * after a pause, and stands a while after the last of them, however long the
 * kernel then waits for the next. Whoever shows everything (key 0) keeps
 * everything until the next run begins. A recording that has ended is shown whole.
 * Where a run of a cell is chosen, the picture is of that, and stands once it has ended.
 */
export function followRuns({ tasks, viewport, recording, selection }: Stage): Stop {
  const bursts = new Bursts(tasks);
  let known = Number.NaN;
  let session: unknown;
  const renew = (): void => {
    const cell = cellOf(recording, chosenCell(selection));
    if (cell) {
      if (viewport.anchored) viewport.followFrom(cell.start, cell.stop);
      return;
    }
    if (recording.about('stopped') !== undefined) {
      viewport.followFrom(Number.NEGATIVE_INFINITY);
      return;
    }
    bursts.update();
    const started = recording.about('started');
    // Another session may be on another clock.
    if (started !== session) known = Number.NaN;
    session = started;
    const run = latest(bursts.list, recording.begin);
    if (!run) return;
    // What comes late may have begun a little sooner, in the same run.
    const isNew = !(run.start - known < PAUSE);
    known = run.start;
    if (!isNew && !viewport.anchored) return;
    const isRunning = tasks.lanes.some(lane => lane.running > 0);
    const rest = Math.max(PAUSE, run.stop - run.start);
    viewport.followFrom(run.start, isRunning ? Number.POSITIVE_INFINITY : run.stop + rest);
  };
  renew();
  const stops = [
    tasks.onChange(renew),
    recording.onAppend(({ table }) => {
      if (table === 'about' || table === 'cells') renew();
    }),
    selection.subscribe(renew)
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** The bursts since the last pause as one; undefined if there are none. */
function latest(bursts: readonly TimeRange[], begin: number): TimeRange | undefined {
  let first = bursts.length - 1;
  if (first < 0) return undefined;
  while (first > 0 && bursts[first].start - bursts[first - 1].stop < PAUSE) first--;
  const { start } = bursts[first];
  // A run that began with the recording is shown with what came right before it.
  const from = first === 0 && start - begin < PAUSE ? begin : start;
  return { start: from, stop: bursts[bursts.length - 1].stop };
}
