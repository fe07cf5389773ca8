import { count, plural } from '../../core/format';
import { sumOf } from '../../core/sum-of';
import type { Tasks } from '../../core/tasks';

/** In words, what the picture cannot show. */
export function noteOf(tasks: Tasks): string {
  return [unplaced(tasks), sharing(tasks)].filter(Boolean).join(' ');
}

/** Of a large cluster. */
function sharing({ lanes }: Tasks): string {
  const shared = lanes.filter(({ unused }) => unused > 1);
  const threads = sumOf(shared, ({ unused }) => unused);
  return threads > 0
    ? `Threads that ran no task share a lane a worker: ${count(threads)} in ${plural(shared.length, 'lane')}.`
    : '';
}

function unplaced(tasks: Tasks): string {
  const kinds = [...tasks.unplaced].filter(([, each]) => each > 0);
  if (kinds.length === 0) return '';
  const total = sumOf(kinds, ([, each]) => each);
  const listed = kinds.map(([status, each]) => plural(each, status, status)).join(', ');
  return `${plural(total, 'attempt')} never ran on a thread and ${total === 1 ? 'has' : 'have'} no place here: ${listed}.`;
}
