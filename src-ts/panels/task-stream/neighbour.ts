import type { Direction, Stage } from '../panel';
import type { Place } from './marks';

/**
 * Where an arrow key leads from an entry: along its lane, or to what ran at
 * the same time in the next lane that has anything. Without an entry: the
 * first one in sight, in the lanes from `top` on.
 */
export function neighbour(
  { tasks, viewport }: Stage,
  place: Place | undefined,
  direction: Direction,
  top: number
): Place | undefined {
  const { lanes } = tasks;
  if (!place || direction === 'first') {
    const lane = lanes.slice(top).find(each => each.firstStartAfter(viewport.start) < each.length);
    return lane && { lane, entry: lane.firstStartAfter(viewport.start) };
  }
  const { lane, entry } = place;
  if (direction === 'left' || direction === 'right') {
    const next = entry + (direction === 'left' ? -1 : 1);
    return next >= 0 && next < lane.length ? { lane, entry: next } : place;
  }
  if (direction === 'last') return { lane, entry: lane.length - 1 };
  const step = direction === 'up' ? -1 : 1;
  const middle = (lane.start[entry] + Math.min(lane.stop[entry], tasks.recording.end)) / 2;
  for (let row = lanes.indexOf(lane) + step; row >= 0 && row < lanes.length; row += step) {
    const found = lanes[row].at(middle, Number.POSITIVE_INFINITY);
    if (found >= 0) return { lane: lanes[row], entry: found };
  }
  return place;
}
