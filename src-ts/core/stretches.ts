import type { Bursts } from './bursts';
import { cellsOf, cellsWithTasks, cellTitle, timeOfCell } from './cells';
import { duration, shortened } from './format';
import type { Recording } from './recording';
import type { TimeRange } from './selection';
import { type Span, spansOf } from './spans';
import type { Tasks } from './tasks';

/** A part of a recording that a person thinks of as one run, to be laid beside others. */
export interface Stretch extends TimeRange {
  readonly label: string;
}

/** What the runs of a recording are told apart by. */
export type StretchKind = 'cells' | 'spans' | 'pauses';

/**
 * What parts a recording into several runs: notebook cells that handed in
 * tasks, else the person's own spans, else pauses in which no task ran.
 * Undefined where there is one run only.
 */
export function stretchKind(tasks: Tasks, bursts: Bursts): StretchKind | undefined {
  const { recording } = tasks;
  if (cellsWithTasks(recording).size > 1) return 'cells';
  if (topSpans(recording).length > 1) return 'spans';
  return bursts.list.length > 1 ? 'pauses' : undefined;
}

/** The runs, in the order of their start. */
export function stretchesOf(kind: StretchKind, tasks: Tasks, bursts: Bursts): Stretch[] {
  const found = { cells: byCell, spans: bySpan, pauses: byPause }[kind](tasks, bursts);
  return found.sort((a, b) => a.start - b.start);
}

const LONGEST = 40;

function byCell({ recording }: Tasks): Stretch[] {
  const withTasks = cellsWithTasks(recording);
  return cellsOf(recording)
    .filter(({ execution }) => withTasks.has(execution))
    .map(run => ({ ...timeOfCell(run, recording), label: cellTitle(run) }));
}

function topSpans(recording: Recording): Span[] {
  return spansOf(recording).filter(({ depth, path }) => depth === 0 && path !== 'default');
}

/** Spans have no times of their own: they lasted from their first task to their last. */
function bySpan(tasks: Tasks): Stretch[] {
  const { recording } = tasks;
  const spans = topSpans(recording);
  const topOf = new Map(spans.flatMap((span, at) => span.within.map(id => [id, at] as const)));
  const { codes, names } = recording.table('graph').symbols('span');
  const topOfCode = names.map(name => topOf.get(name) ?? -1);
  const times = spans.map(() => ({ start: Number.POSITIVE_INFINITY, stop: Number.NEGATIVE_INFINITY }));
  const attempted = recording.table('attempts').numbers('task');
  const running = recording.table('running').numbers('task');
  for (const lane of tasks.lanes) {
    const { length } = lane;
    for (let entry = 0; entry < length; entry++) {
      const runs = lane.stop[entry] === Number.POSITIVE_INFINITY;
      const row = tasks.graphRow((runs ? running : attempted)[lane.row[entry]]);
      const top = row < 0 ? -1 : topOfCode[codes[row]];
      if (top < 0) continue;
      const time = times[top];
      time.start = Math.min(time.start, lane.start[entry]);
      time.stop = Math.max(time.stop, runs ? recording.end : lane.stop[entry]);
    }
  }
  const seen = new Map<string, number>();
  return spans.flatMap(({ path }, at) => {
    if (times[at].start > times[at].stop) return [];
    const again = (seen.get(path) ?? 0) + 1;
    seen.set(path, again);
    return [{ ...times[at], label: shortened(again > 1 ? `${path} (${again})` : path, LONGEST) }];
  });
}

function byPause({ recording }: Tasks, bursts: Bursts): Stretch[] {
  return bursts.list.map(({ start, stop }) => ({
    start,
    stop,
    label: `at ${duration(start - recording.origin)}`
  }));
}
