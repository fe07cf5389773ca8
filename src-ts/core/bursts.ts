import type { Lane } from './lane';
import { RUNNING } from './lane';
import type { TimeRange } from './selection';
import type { Tasks } from './tasks';

/** Time without any task that parts one burst of work from the next, seconds. */
export const IDLE = 1;

interface Burst {
  start: number;
  stop: number;
}

/** Stretches of time in which tasks ran, with idle time between; follows the tasks as they come. */
export class Bursts {
  /** In the order of time; while a task runs, all since it began is one. Valid until the next `update`. */
  list: readonly TimeRange[] = [];
  private found: Burst[] = [];
  private versions = new Map<Lane, number>();
  private generation: number;

  constructor(private readonly tasks: Tasks) {
    this.generation = tasks.recording.generation;
    this.update();
  }

  /** Takes what has arrived since. */
  update(): void {
    const { tasks } = this;
    if (this.generation !== tasks.recording.generation) {
      this.generation = tasks.recording.generation;
      this.found = [];
      this.versions = new Map();
    }
    let running = Number.POSITIVE_INFINITY;
    for (const lane of tasks.lanes) {
      // What runs is the first that reaches beyond all time.
      if (lane.running) running = Math.min(running, lane.start[lane.firstAfter(Number.MAX_VALUE)]);
      const since = lane.since(this.versions.get(lane) ?? 0);
      if (since === Number.POSITIVE_INFINITY) continue;
      this.versions.set(lane, lane.version);
      this.takeFrom(lane, since);
    }
    this.list = joinedSince(this.found, running);
  }

  private takeFrom(lane: Lane, since: number): void {
    const { length, start, stop, status } = lane;
    let at = lane.firstStartAfter(since);
    while (at > 0 && start[at - 1] >= since) at--;
    for (; at < length; at++) this.add(start[at], status[at] === RUNNING ? start[at] : stop[at]);
  }

  private add(start: number, stop: number): void {
    const { found } = this;
    let from = found.length;
    while (from > 0 && found[from - 1].stop >= start - IDLE) from--;
    let to = from;
    let first = start;
    let last = stop;
    while (to < found.length && found[to].start <= stop + IDLE) {
      first = Math.min(first, found[to].start);
      last = Math.max(last, found[to].stop);
      to++;
    }
    if (to === from + 1) {
      found[from].start = first;
      found[from].stop = last;
    } else {
      found.splice(from, to - from, { start: first, stop: last });
    }
  }
}

/** Bursts, as one from a moment on. */
function joinedSince(bursts: readonly TimeRange[], time: number): readonly TimeRange[] {
  const first = bursts.findIndex(({ stop }) => stop >= time);
  if (first < 0) return bursts;
  return [...bursts.slice(0, first), { start: bursts[first].start, stop: bursts[bursts.length - 1].stop }];
}
