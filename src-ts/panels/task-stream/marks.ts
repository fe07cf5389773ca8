import { type Lane, RUNNING } from '../../core/lane';
import type { Box } from '../../draw/pen';
import type { Card } from '../../draw/tooltip';
import type { Mark, PanelContext } from '../panel';
import { cardOf, wordsOf } from './card';
import { FAILURE, FIRST_NAME } from './cells';
import type { Choice } from './choice';
import { nameColor } from './colors';

/** An entry of a lane. */
export interface Place {
  readonly lane: Lane;
  readonly entry: number;
}

/**
 * The entry that a person means in a pixel: the longest of those with its filling, if there is none the nearest to its
 * middle. Times are those of the pixel's edges, and how far from a task the pointer may be.
 */
export function entryAt(
  lane: Lane,
  from: number,
  to: number,
  near: number,
  fill: number,
  choice: Choice
): { readonly entry: number; readonly others: number } | undefined {
  let best = -1;
  let longest = -1;
  let others = -1;
  const { length, start, stop, status, name } = lane;
  for (let entry = lane.firstAfter(from); entry < length && start[entry] < to; entry++) {
    if (stop[entry] <= from || !choice.shows(lane, entry)) continue;
    others++;
    const took = stop[entry] - start[entry];
    if (took > longest && fill === (FAILURE[status[entry]] || name[entry] + FIRST_NAME)) {
      longest = took;
      best = entry;
    }
  }
  if (best >= 0) return { entry: best, others };
  best = lane.at((from + to) / 2, near);
  return best >= 0 && choice.shows(lane, best) ? { entry: best, others: 0 } : undefined;
}

/** A task in the picture. */
export class TaskMark implements Mark {
  readonly id: string;
  readonly name: string;
  private readonly start: number;
  private readonly row: number;
  private readonly running: boolean;
  private readonly run: number;
  private readonly generation: number;

  constructor(
    private readonly context: PanelContext,
    private readonly place: Place,
    private readonly others: number,
    private readonly boxOf: (place: Place) => Box
  ) {
    const { lane, entry } = place;
    this.name = context.tasks.names[lane.name[entry]];
    this.start = lane.start[entry];
    this.row = lane.row[entry];
    this.running = lane.status[entry] === RUNNING;
    const table = context.recording.table(this.running ? 'running' : 'attempts');
    this.run = table.numbers('run')[this.row];
    this.generation = context.recording.generation;
    this.id = `${lane.worker} ${lane.thread} ${lane.status[entry]} ${lane.row[entry]}`;
  }

  /** Where the task is now: more may have come since the mark was made, its end too, or all have come anew. */
  current(): Place | undefined {
    const { tasks, recording } = this.context;
    const { lane } = this.place;
    const isSame = recording.generation === this.generation;
    const entry = isSame ? lane.find(this.start, this.row, this.running) : -1;
    return entry < 0 ? tasks.entryOf(tasks.attemptRow(this.run)) : { lane, entry };
  }

  get box(): Box {
    return this.boxOf(this.current() ?? this.place);
  }

  card(): Card {
    const { tasks, colors, surface } = this.context;
    return cardOf({
      tasks,
      ...this.place,
      color: nameColor(this.name, colors, surface.theme),
      others: this.others
    });
  }

  words(): string {
    return wordsOf(this.context.tasks, this.place.lane, this.place.entry);
  }
}
