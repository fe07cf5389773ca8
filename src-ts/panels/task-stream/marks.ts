import { type Lane, RUNNING } from '../../core/lane';
import type { Box } from '../../draw/pen';
import type { Card } from '../../draw/tooltip';
import type { Mark, PanelContext } from '../panel';
import { cardOf, wordsOf } from './card';
import { CHOSEN, FAILURE } from './cells';
import type { Choice } from './choice';
import { nameColor } from './colors';

/** An entry of a lane. */
export interface Place {
  readonly lane: Lane;
  readonly entry: number;
}

/** How far from a task, in pixels, the pointer may be. */
const NEAR = 3;
/** Most entries looked at under one pixel. */
const MOST = 4000;

/**
 * The entry that a person means at a moment: of those in the pixel a failed
 * one, else one of a chosen name, else the longest; if there is none, the
 * nearest.
 */
export function entryAt(
  lane: Lane,
  time: number,
  perPixel: number,
  choice: Choice
): { readonly entry: number; readonly others: number } | undefined {
  const from = time - perPixel / 2;
  const to = time + perPixel / 2;
  let best = -1;
  let score = -1;
  let count = 0;
  const { length } = lane;
  for (let entry = lane.firstAfter(from); entry < length && lane.start[entry] < to && count < MOST; entry++) {
    if (lane.stop[entry] < from || !choice.shows(lane, entry)) continue;
    count++;
    const took = Math.min(lane.stop[entry] - lane.start[entry], 1e9);
    const weight =
      (FAILURE[lane.status[entry]] > 0 ? 4e9 : choice.roles[lane.name[entry]] === CHOSEN ? 2e9 : 0) + took;
    if (weight > score) {
      score = weight;
      best = entry;
    }
  }
  if (best >= 0) return { entry: best, others: count - 1 };
  const near = lane.at(time, NEAR * perPixel);
  return near >= 0 && choice.shows(lane, near) ? { entry: near, others: 0 } : undefined;
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
