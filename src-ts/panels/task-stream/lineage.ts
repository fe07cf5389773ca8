import { OK } from '../../core/lane';
import type { Tasks } from '../../core/tasks';
import { type Box, clipTo, type Pen } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import type { Place } from './marks';

/** Inputs, and tasks that need the result, that are looked at; of those so many are shown. */
const LOOKED_AT = 500;
const SHOWN = 24;

/** What a task waited for, and what waited for it. */
export interface Lineage {
  /** The one that came last first: that is what held the task up. */
  readonly inputs: readonly Place[];
  /** The one that began first first. */
  readonly dependents: readonly Place[];
}

export function lineageOf(tasks: Tasks, place: Place): Lineage {
  const { recording } = tasks;
  const edges = recording.table('edges');
  const needed = edges.numbers('dependency');
  const needing = edges.numbers('task');
  const task = tasks.taskOf(place.lane, place.entry);
  const inputs = tasks.inputRows(task, LOOKED_AT).map(row => needed[row]);
  const dependents = tasks.dependentRows(task, LOOKED_AT).map(row => needing[row]);
  return {
    inputs: placed(tasks, inputs, ({ lane, entry }) => -lane.stop[entry]),
    dependents: placed(tasks, dependents, ({ lane, entry }) => lane.start[entry])
  };
}

/** Where tasks ran: the attempt that gave the result, else the newest. */
function placed(tasks: Tasks, ids: readonly number[], order: (place: Place) => number): Place[] {
  const places: Place[] = [];
  for (const id of new Set(ids)) {
    const found = tasks
      .attemptRows(id)
      .map(row => tasks.entryOf(row))
      .filter(each => each !== undefined);
    const best = found.find(({ lane, entry }) => lane.status[entry] === OK) ?? found[0];
    if (best) places.push(best);
  }
  return places.sort((a, b) => order(a) - order(b)).slice(0, SHOWN);
}

/** Lines from the ends of inputs to where a task begins, and on from its end; `boxOf` may lie out of sight. */
export function drawLineage(
  pen: Pen,
  plot: Box,
  { inputs, dependents }: Lineage,
  own: Box,
  boxOf: (place: Place) => Box,
  theme: Theme
): void {
  if (inputs.length + dependents.length === 0) return;
  clipTo(pen, plot);
  const lines = [
    ...dependents.map(each => ({ from: own, to: boxOf(each), color: theme.muted })),
    ...inputs.map(each => ({ from: boxOf(each), to: own, color: theme.text })).reverse()
  ];
  const held = inputs.length > 0 ? lines.length - 1 : -1;
  for (const [width, over] of [
    [3, theme.backgroundText],
    [1, '']
  ] as const) {
    lines.forEach(({ from, to, color }, index) => {
      pen.strokeStyle = over || color;
      pen.lineWidth = index === held ? width + 1 : width;
      pen.beginPath();
      pen.moveTo(from.x + from.width, from.y + from.height / 2);
      pen.lineTo(to.x, to.y + to.height / 2);
      pen.stroke();
      const other = from === own ? to : from;
      pen.strokeRect(other.x, other.y, other.width, other.height);
    });
  }
  pen.restore();
}
