import type { Lane } from '../../core/lane';
import type { Tasks } from '../../core/tasks';
import { type Pen, writeWith } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import { fittedLabel, workerLabel } from '../worker-label';

/** Lanes of one worker that stand together. */
export interface Group {
  readonly worker: string;
  readonly label: string;
  /** Index of its first lane, and of the one after its last. */
  readonly from: number;
  readonly to: number;
}

/** The workers, in the order of their lanes. */
export function groupsOf(tasks: Tasks): Group[] {
  const { lanes } = tasks;
  const groups: Group[] = [];
  for (let lane = 0; lane < lanes.length; lane++) {
    const { worker } = lanes[lane];
    const last = groups[groups.length - 1];
    if (last?.worker === worker) groups[groups.length - 1] = { ...last, to: lane + 1 };
    else groups.push({ worker, label: workerLabel(tasks, worker), from: lane, to: lane + 1 });
  }
  return groups;
}

/** Room that a worker's name needs, CSS pixels. */
const LINE = 12;

export interface LabelPlace {
  readonly groups: readonly Group[];
  readonly lanes: readonly Lane[];
  /** First lane shown, and the one after the last. */
  readonly from: number;
  readonly to: number;
  readonly laneHeight: number;
  /** Right end of the labels, and the right end of the lanes. CSS pixels. */
  readonly right: number;
  readonly end: number;
}

/** Names of workers left of their lanes, threads where there is room, a line between workers. */
export function drawLaneLabels(pen: Pen, place: LabelPlace, theme: Theme): void {
  const { groups, from, to, laneHeight, right, end } = place;
  const widths = writeWith(pen, theme, 11);
  const withThreads = laneHeight >= 13 && right > 90;
  let free = Number.NEGATIVE_INFINITY;
  for (const group of groups) {
    if (group.to <= from || group.from >= to) continue;
    const top = (Math.max(group.from, from) - from) * laneHeight;
    const bottom = (Math.min(group.to, to) - from) * laneHeight;
    const isFirst = group.from <= from;
    if (!isFirst && (bottom - top >= 4 || groups.length < 60)) {
      pen.fillStyle = theme.grid;
      pen.fillRect(0, top - (laneHeight >= 3 ? 1 : 0), end, 1);
    }
    const many = group.to - group.from > 1;
    const room = right - 10 - (withThreads && many ? 26 : 0);
    const y =
      bottom - top > 3 * LINE && many ? top + Math.max(LINE / 2 + 2, laneHeight / 2) : (top + bottom) / 2;
    if (y - LINE / 2 >= free) {
      const text = fittedLabel(group.label, room, widths);
      pen.fillStyle = theme.muted;
      pen.textAlign = 'left';
      if (text) pen.fillText(text, 2, y);
      free = y + LINE / 2;
    }
    if (withThreads && many) drawThreads(pen, group, place, theme);
  }
  pen.textAlign = 'left';
}

function drawThreads(
  pen: Pen,
  group: Group,
  { from, to, laneHeight, right, lanes }: LabelPlace,
  theme: Theme
): void {
  pen.fillStyle = theme.muted;
  pen.textAlign = 'right';
  for (let lane = Math.max(group.from, from); lane < Math.min(group.to, to); lane++) {
    pen.fillText(
      threadLabel(lanes[lane], lane - group.from + 1),
      right - 8,
      (lane - from + 0.5) * laneHeight
    );
  }
}

/** Its number among those of its worker; how many there are where it stands for several. */
function threadLabel({ thread, unused }: Lane, number: number): string {
  if (unused > 1) return `${unused}×`;
  return thread === '' ? '?' : String(number);
}
