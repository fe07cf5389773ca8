import { type Box, holds, type Pen } from '../draw/pen';
import type { Viewport } from '../draw/viewport';
import type { Direction, Mark, PanelView } from './panel';

/** How much is left of the colour of a bar that steps back; its name and its figure are to be read as before. */
export const FADED = 0.35;

/** Where an arrow key leads in a list of marks, from the one at a place; -1 is before the first. */
export function stepped(at: number, direction: Direction, length: number): number {
  if (at < 0 || direction === 'first') return 0;
  if (direction === 'last') return length - 1;
  return direction === 'up' || direction === 'left' ? at - 1 : at + 1;
}

/** Steps across, in fiftieths of a plot, and down, in pixels. */
const WAYS: Readonly<Record<Direction, readonly [across: number, down: number]>> = {
  left: [-1, 0],
  right: [1, 0],
  up: [0, -1],
  down: [0, 1],
  first: [1, 0],
  last: [-1, 0]
};

/** Where an arrow key leads in a chart over time: to another moment, or to the next line that has another place. */
export function picked(
  view: Pick<PanelView, 'ownAxis'> & Required<Pick<PanelView, 'pick' | 'plot'>>,
  viewport: Viewport,
  from: Mark | undefined,
  direction: Direction
): Mark | undefined {
  const plot = view.plot();
  const step = plot.width / 50;
  const [across, down] = from ? WAYS[direction] : WAYS.down;
  const { x, y, width, height } = from?.box ?? { ...plot, y: plot.y - 1, height: 0 };
  let left = x + width / 2;
  if (from && direction === 'first') left = plot.x - 0.99 * step;
  if (from && direction === 'last') left = plot.x + plot.width + 0.99 * step;
  let top = y + height / 2;
  for (;;) {
    left += across * step;
    top += down;
    if (!holds(plot, left, top)) {
      if (from || left < plot.x + step) return from;
      // Nothing is known at that moment: before it something may be.
      left -= step;
      top = plot.y - 1;
      continue;
    }
    const found = view.pick(left, top);
    if (!found || (down && found.box.y === from?.box.y)) continue;
    if (!view.ownAxis) viewport.cursor = viewport.scale(plot.width).time(left - plot.x);
    return found;
  }
}

/** A mark that only says what a click on it does. */
export function worded(id: Mark['id'], words: string, box: Box): Mark {
  return { id, box, acts: true, card: () => ({ title: words, groups: [] }), words: () => words };
}

/** A thin line around what is pointed at, where it stands now. */
export function outline(pen: Pen, mark: Mark | undefined, color: string): void {
  if (!mark) return;
  const { x, y, width, height } = mark.box;
  pen.strokeStyle = color;
  pen.lineWidth = 1;
  pen.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
}
