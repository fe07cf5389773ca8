import { type CriticalPath, KINDS, type PathSum } from '../../core/critical-path';
import { count, duration, moment, share } from '../../core/format';
import { sumOf } from '../../core/sum-of';
import type { Tasks } from '../../core/tasks';
import type { TableRows } from '../panel';
import { number, tableOf, text } from '../things';
import { KIND_TITLES, kindsOf, NO_TASK, nameOf, restWords, waitedFor } from './words';

const COMPUTING = KINDS.indexOf('compute');

/** A share of the path that is worth a column, and one that is worth a figure. */
const COLUMN = 1e-3;
const FIGURE = 1e-4;

/** Seconds in a table; nothing where there is next to nothing, so that the others stand out. */
const some =
  (all: number) =>
  (seconds: number): string =>
    seconds > FIGURE * all ? duration(seconds) : '';

/** The path by task name, with a column for each kind that there is. */
export function nameRows(sums: readonly PathSum[], tasks: Tasks, all: number): TableRows {
  const total = (kind: number): number => sumOf(sums, ({ kinds }) => kinds[kind]);
  const kinds = KINDS.map((_, kind) => kind).filter(kind => total(kind) > COLUMN * all);
  return tableOf(sums, [
    text('Task name', ({ name }) => tasks.names[name] || NO_TASK),
    number('On the path', ({ seconds }) => seconds, duration),
    number('Share', ({ seconds }) => seconds / all, share),
    number('Steps', ({ steps }) => steps, count),
    ...kinds.map(kind => number<PathSum>(KIND_TITLES[KINDS[kind]], sum => sum.kinds[kind], some(all)))
  ]);
}

/** The path step by step, as far as anything of a step is left by the filter. */
export function stepRows(
  path: CriticalPath,
  tasks: Tasks,
  steps: Uint32Array,
  seconds: Float64Array,
  all: number
): TableRows {
  const { origin } = tasks.recording;
  const kinds = (step: number): Float64Array => kindsOf(path, step, seconds);
  const whole = (step: number): number => sumOf(kinds(step));
  return tableOf(steps, [
    text('Task name', step => nameOf(path, tasks, step) || NO_TASK),
    number(
      'At',
      step => path.start[path.first[step]] - origin,
      time => moment(time, 3)
    ),
    number('On the path', whole, duration),
    number('Share', step => whole(step) / all, share),
    number('Computing', step => kinds(step)[COMPUTING], some(all)),
    text('Waited for', step => waitedFor(path, tasks, step)),
    text('Other time', step => restWords(kinds(step), FIGURE * all))
  ]);
}

/** Steps of which anything is left. */
export function stepsLeft(path: CriticalPath, seconds: Float64Array): Uint32Array {
  const isLeft = (step: number): boolean =>
    seconds.subarray(path.first[step], path.first[step + 1]).some(each => each > 0);
  return Uint32Array.from({ length: path.steps }, (_, step) => step).filter(isLeft);
}
