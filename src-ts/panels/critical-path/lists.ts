import { type CriticalPath, KINDS, type PathSum } from '../../core/critical-path';
import { count, duration, moment, share } from '../../core/format';
import type { Tasks } from '../../core/tasks';
import type { TableRows } from '../panel';
import { KIND_TITLES, kindsOf, NO_TASK, nameOf, restWords, waitedFor } from './words';

const COMPUTING = KINDS.indexOf('compute');

/** A share of the path that is worth a column, and one that is worth a figure. */
const COLUMN = 1e-3;
const FIGURE = 1e-4;

/** Seconds in a table; nothing where there is next to nothing, so that the others stand out. */
const some = (seconds: number, all: number): string => (seconds > FIGURE * all ? duration(seconds) : '');

/** The path by task name, with a column for each kind that there is. */
export function nameRows(sums: readonly PathSum[], tasks: Tasks, all: number): TableRows {
  const total = (kind: number): number => sums.reduce((sum, { kinds }) => sum + kinds[kind], 0);
  const kinds = KINDS.map((_, kind) => kind).filter(kind => total(kind) > COLUMN * all);
  const label = (row: number): string => tasks.names[sums[row].name] || NO_TASK;
  return {
    columns: [
      { title: 'Task name' },
      { title: 'On the path', numeric: true },
      { title: 'Share', numeric: true },
      { title: 'Steps', numeric: true },
      ...kinds.map(kind => ({ title: KIND_TITLES[KINDS[kind]], numeric: true }))
    ],
    length: sums.length,
    row: row => [
      label(row),
      duration(sums[row].seconds),
      share(sums[row].seconds / all),
      count(sums[row].steps),
      ...kinds.map(kind => some(sums[row].kinds[kind], all))
    ],
    value: (row, column) => {
      const { seconds, steps } = sums[row];
      const values = [label(row), seconds, seconds / all, steps];
      return column < values.length ? values[column] : sums[row].kinds[kinds[column - values.length]];
    }
  };
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
  const sums = (row: number): Float64Array => kindsOf(path, steps[row], seconds);
  const whole = (kinds: Float64Array): number => kinds.reduce((sum, each) => sum + each, 0);
  const start = (row: number): number => path.start[path.first[steps[row]]] - origin;
  return {
    columns: [
      { title: 'Task name' },
      { title: 'At', numeric: true },
      { title: 'On the path', numeric: true },
      { title: 'Share', numeric: true },
      { title: 'Computing', numeric: true },
      { title: 'Waited for' },
      { title: 'Other time' }
    ],
    length: steps.length,
    row: row => {
      const kinds = sums(row);
      return [
        nameOf(path, tasks, steps[row]) || NO_TASK,
        moment(start(row), 3),
        duration(whole(kinds)),
        share(whole(kinds) / all),
        some(kinds[COMPUTING], all),
        waitedFor(path, tasks, steps[row]),
        restWords(kinds, FIGURE * all)
      ];
    },
    value: (row, column) => {
      switch (column) {
        case 0:
          return nameOf(path, tasks, steps[row]) || NO_TASK;
        case 1:
          return start(row);
        case 2:
          return whole(sums(row));
        case 3:
          return whole(sums(row)) / all;
        case 4:
          return sums(row)[COMPUTING];
        case 5:
          return waitedFor(path, tasks, steps[row]);
        default:
          return restWords(sums(row), FIGURE * all);
      }
    }
  };
}

/** Steps of which anything is left. */
export function stepsLeft(path: CriticalPath, seconds: Float64Array): Uint32Array {
  const left: number[] = [];
  for (let step = 0; step < path.steps; step++) {
    let any = false;
    for (let tile = path.first[step]; tile < path.first[step + 1] && !any; tile++) any = seconds[tile] > 0;
    if (any) left.push(step);
  }
  return Uint32Array.from(left);
}
