import type { EntryMask } from '../../core/entry-mask';
import { type Lane, LOST, OK, RUNNING } from '../../core/lane';
import { textOn } from '../../draw/palette';
import { type Box, type Pen, writeWith } from '../../draw/pen';
import type { TextWidth } from '../../draw/text-width';
import type { Scale } from '../../draw/viewport';
import type { PanelContext } from '../panel';
import { ERRED, FAILURE, HIDDEN, KILLED } from './cells';

/** What single tasks get where there is room for it. */
export interface Details {
  readonly context: PanelContext;
  readonly plot: Box;
  readonly scale: Scale;
  readonly lanes: readonly Lane[];
  readonly laneHeight: number;
  readonly roles: Uint8Array;
  readonly entries: EntryMask | undefined;
  /** Whether a task shows only its low bar at a place of a lane, in CSS pixels: it had given its thread back. */
  readonly isLow: (row: number, x: number) => boolean;
}

/** Narrowest task with a label, and with a sign; CSS pixels. */
const LABEL_FROM = 34;
const SIGN_FROM = 4;
/** From one line of a hatch to the next. */
const HATCH = 6;
/** A place that a label covers, from its task's left edge. */
const INTO_LABEL = 16;
/** Lowest lane with labels, and with signs. */
const LABEL_HEIGHT = 11;
const SIGN_HEIGHT = 5;
/** With more entries in sight, none is wide enough to be worth the search. */
const MOST_ENTRIES = 200_000;

/** Labels, signs of failure, open ends of running tasks and open starts of lost ones. */
export function drawDetails(pen: Pen, details: Details): void {
  const { lanes, scale, laneHeight, context } = details;
  if (laneHeight < SIGN_HEIGHT) return;
  let entries = 0;
  for (const lane of lanes) entries += lane.firstStartAfter(scale.stop) - lane.firstAfter(scale.start);
  if (entries > MOST_ENTRIES) return;
  const size = laneHeight >= 16 ? 11 : 10;
  const widths = writeWith(pen, context.surface.theme, size);
  const { selection } = context;
  const { workers } = selection.filter();
  const isDim: Dims = (worker, name) => workers?.has(worker) === false || !selection.isBright(name);
  for (let row = 0; row < lanes.length; row++) drawLane(pen, details, widths, isDim, lanes[row], row);
}

/** Whether tasks of a name on a worker step back. */
type Dims = (worker: string, name: string) => boolean;

function drawLane(
  pen: Pen,
  { context, plot, scale, laneHeight, roles, entries, isLow }: Details,
  widths: TextWidth,
  isDim: Dims,
  lane: Lane,
  row: number
): void {
  const { start, stop, name, status, row: rows } = lane;
  const last = lane.firstStartAfter(scale.stop);
  const narrowest = SIGN_FROM * scale.perPixel;
  const labelled = laneHeight >= LABEL_HEIGHT ? LABEL_FROM * scale.perPixel : Number.POSITIVE_INFINITY;
  const { end } = context.recording;
  for (let entry = lane.firstAfter(scale.start); entry < last; entry++) {
    const until = stop[entry] < end ? stop[entry] : end;
    if (until - start[entry] < narrowest) continue;
    // Most are as they should be, and too narrow for a label.
    if (status[entry] === OK && until - start[entry] < labelled) continue;
    if (roles[name[entry]] === HIDDEN || entries?.passes(rows[entry], status[entry]) === false) continue;
    const left = Math.max(0, scale.x(start[entry]));
    const right = Math.min(plot.width, scale.x(until));
    const box = {
      x: plot.x + left,
      y: plot.y + row * laneHeight,
      width: right - left,
      height: laneHeight - 1
    };
    const failed = drawSign(pen, FAILURE[status[entry]], box, context);
    if (status[entry] === RUNNING) drawOpen(pen, box, 'right', context);
    // Many may have been lost at once, on threads that nobody knows: their names would stand on each other.
    if (status[entry] === LOST) drawOpen(pen, box, 'left', context);
    else if (box.width >= LABEL_FROM && laneHeight >= LABEL_HEIGHT) {
      const low = isLow(row, left + INTO_LABEL);
      const words = context.tasks.names[name[entry]];
      drawLabel(pen, context, widths, words, isDim(lane.worker, words), box, failed, low);
    }
  }
}

/** Failures have a shape besides their colour. Returns whether the ground is dark. */
function drawSign(pen: Pen, failure: number, box: Box, { surface }: PanelContext): boolean {
  if (failure === 0) return false;
  const { theme } = surface;
  const notch = Math.min(6, box.height / 2, box.width / 2);
  pen.fillStyle = theme.backgroundText;
  if (failure === ERRED) {
    pen.beginPath();
    pen.moveTo(box.x, box.y);
    pen.lineTo(box.x + notch, box.y);
    pen.lineTo(box.x, box.y + notch);
    pen.closePath();
    pen.fill();
  } else if (failure === KILLED) {
    pen.strokeStyle = theme.backgroundText;
    pen.lineWidth = 1;
    pen.beginPath();
    // The lines of those that overlap are the same.
    const first = Math.ceil((box.x + box.height) / HATCH) * HATCH;
    for (let x = first; x < box.x + box.width; x += HATCH) {
      pen.moveTo(x, box.y);
      pen.lineTo(x - box.height, box.y + box.height);
    }
    pen.stroke();
  } else {
    for (let x = box.x + 1; x + 3 < box.x + Math.min(box.width, 22); x += 6) {
      pen.fillRect(x, box.y + box.height - 3, 3, 2);
    }
  }
  if (theme.dark) {
    pen.strokeStyle = theme.muted;
    pen.lineWidth = 1;
    pen.strokeRect(box.x + 0.5, box.y + 0.5, Math.max(1, box.width - 1), box.height - 1);
  }
  return true;
}

/** What still runs has no right edge, what began nobody knows when has no left one: it fades in steps. */
function drawOpen(pen: Pen, box: Box, side: 'left' | 'right', { surface }: PanelContext): void {
  pen.fillStyle = surface.theme.backgroundText;
  const step = Math.min(3, box.width / 8);
  for (let index = 0; index < 4; index++) {
    const width = step * (1 - index / 5);
    const x =
      side === 'left' ? box.x + (2 * index + 1) * step - width : box.x + box.width - (2 * index + 1) * step;
    pen.fillRect(x, box.y, width, box.height);
  }
}

function drawLabel(
  pen: Pen,
  context: PanelContext,
  widths: TextWidth,
  name: string,
  isDim: boolean,
  box: Box,
  failed: boolean,
  low: boolean
): void {
  const text = widths.fitted(name, box.width - 8);
  if (!text) return;
  const { colors, surface } = context;
  const { theme } = surface;
  const ground = failed ? ([0, 0, 0] as const) : colors.color(name, theme);
  pen.fillStyle = isDim ? theme.faint : low ? theme.muted : textOn(ground);
  pen.fillText(text, box.x + 4 + (failed ? 4 : 0), box.y + box.height / 2 + 0.5);
}
