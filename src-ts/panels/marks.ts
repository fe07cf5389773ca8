import type { Box, Pen } from '../draw/pen';
import type { Direction, Mark } from './panel';

/** Where an arrow key leads in a list of marks, from the one at a place; -1 is before the first. */
export function stepped(at: number, direction: Direction, length: number): number {
  if (at < 0 || direction === 'first') return 0;
  if (direction === 'last') return length - 1;
  return direction === 'up' || direction === 'left' ? at - 1 : at + 1;
}

/** A mark that only says what it is for. */
export function worded(id: Mark['id'], words: string, box: Box): Mark {
  return { id, box, card: () => ({ title: words, groups: [] }), words: () => words };
}

/** A thin line around what is pointed at, where it stands now. */
export function outline(pen: Pen, mark: Mark | undefined, color: string): void {
  if (!mark) return;
  const { x, y, width, height } = mark.box;
  pen.strokeStyle = color;
  pen.lineWidth = 1;
  pen.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
}
