import type { Lane } from '../../core/lane';
import type { Direction, Stage } from '../panel';
import type { Choice } from './choice';
import type { Place } from './marks';

/**
 * Where an arrow key leads from an entry: along its lane, or to what ran at
 * the same time in the next lane that has anything. Without an entry: the
 * first one in sight, in the lanes from `top` on. What is hidden is passed over.
 */
export function neighbour(
  { tasks, viewport }: Stage,
  choice: Choice,
  place: Place | undefined,
  direction: Direction,
  top: number
): Place | undefined {
  const { lanes } = tasks;
  /** The first that is shown from an entry on, in steps of 1 or -1. */
  const shown = (lane: Lane, from: number, step: number): Place | undefined => {
    let entry = from;
    while (entry >= 0 && entry < lane.length && !choice.shows(lane, entry)) entry += step;
    return entry >= 0 && entry < lane.length ? { lane, entry } : undefined;
  };
  /** That of the first lane that has any. */
  const first = (from: number, step: number, of: (lane: Lane) => Place | undefined): Place | undefined => {
    let found: Place | undefined;
    for (let row = from; row >= 0 && row < lanes.length && !found; row += step) found = of(lanes[row]);
    return found;
  };
  if (!place || direction === 'first') {
    return first(top, 1, lane => shown(lane, lane.firstStartAfter(viewport.start), 1));
  }
  const { lane, entry } = place;
  const step = direction === 'left' || direction === 'up' ? -1 : 1;
  if (direction === 'left' || direction === 'right') return shown(lane, entry + step, step) ?? place;
  if (direction === 'last') return shown(lane, lane.length - 1, -1) ?? place;
  const middle = (lane.start[entry] + Math.min(lane.stop[entry], tasks.recording.end)) / 2;
  const near = (other: Lane): Place | undefined => {
    const at = other.at(middle, Number.POSITIVE_INFINITY);
    return shown(other, at, -1) ?? shown(other, at, 1);
  };
  return first(lanes.indexOf(lane) + step, step, near) ?? place;
}
