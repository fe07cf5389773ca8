import { plural } from '../../core/format';
import type { Tasks } from '../../core/tasks';

/** In words, what the picture cannot show. */
export function noteOf(tasks: Tasks): string {
  const kinds = [...tasks.unplaced].filter(([, count]) => count > 0);
  if (kinds.length === 0) return '';
  const total = kinds.reduce((sum, [, count]) => sum + count, 0);
  const listed = kinds.map(([status, count]) => `${plural(count, status, status)}`).join(', ');
  return `${plural(total, 'attempt')} never ran on a thread and ${total === 1 ? 'has' : 'have'} no place here: ${listed}.`;
}
