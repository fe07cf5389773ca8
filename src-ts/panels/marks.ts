import type { Box, Pen } from '../draw/pen';
import type { Direction } from './panel';

/** Where an arrow key leads in a list of marks, from the one at a place; -1 is before the first. */
export function stepped(at: number, direction: Direction, length: number): number {
  if (at < 0 || direction === 'first') return 0;
  if (direction === 'last') return length - 1;
  return direction === 'up' || direction === 'left' ? at - 1 : at + 1;
}

/** A thin line around what is under the pointer. */
export function outline(pen: Pen, { x, y, width, height }: Box, color: string): void {
  pen.strokeStyle = color;
  pen.lineWidth = 1;
  pen.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
}
