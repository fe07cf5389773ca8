import type { Lane } from '../../core/lane';
import type { Direction, Stage } from '../panel';
import type { Choice } from './choice';
import type { Place } from './marks';

/**
 * Where an arrow key leads from an entry: along its lane, or to what ran at
 * the same time in the next lane that has anything. Without an entry: the
 * first one in sight, in the lanes from `top` on. What is hidden, or not among
 * what is chosen, is passed over.
 */
export function neighbour(
  { tasks, viewport }: Stage,
  choice: Choice,
  place: Place | undefined,
  direction: Direction,
  top: number
): Place | undefined {
  const { lanes } = tasks;
  /** The first that is stopped at from an entry on, in steps of 1 or -1. */
  const stop = (lane: Lane, from: number, step: number): Place | undefined => {
    let entry = from;
    while (entry >= 0 && entry < lane.length && !choice.stopsAt(lane, entry)) entry += step;
    return entry >= 0 && entry < lane.length ? { lane, entry } : undefined;
  };
  /** That of the first lane that has any. */
  const first = (from: number, step: number, of: (lane: Lane) => Place | undefined): Place | undefined => {
    let found: Place | undefined;
    for (let row = from; row >= 0 && row < lanes.length && !found; row += step) found = of(lanes[row]);
    return found;
  };
  if (!place || direction === 'first') {
    // What began before the view may fill it.
    const inSight = (lane: Lane): Place | undefined => {
      const found = stop(lane, lane.firstAfter(viewport.start), 1);
      return found && lane.start[found.entry] < viewport.stop ? found : undefined;
    };
    return (
      first(top, 1, inSight) ?? first(top, 1, lane => stop(lane, lane.firstStartAfter(viewport.start), 1))
    );
  }
  const { lane, entry } = place;
  const step = direction === 'left' || direction === 'up' ? -1 : 1;
  if (direction === 'left' || direction === 'right') return stop(lane, entry + step, step) ?? place;
  if (direction === 'last') return stop(lane, lane.length - 1, -1) ?? place;
  const middle = (lane.start[entry] + Math.min(lane.stop[entry], tasks.recording.end)) / 2;
  const near = (other: Lane): Place | undefined => {
    const at = other.at(middle, Number.POSITIVE_INFINITY);
    return stop(other, at, -1) ?? stop(other, at, 1);
  };
  return first(lanes.indexOf(lane) + step, step, near) ?? place;
}
