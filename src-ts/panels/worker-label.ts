import { shortened } from '../core/format';
import { OF_CLUSTER } from '../core/lanes';
import type { Tasks } from '../core/tasks';
import type { Pen } from '../draw/pen';
import { type TextWidth, textWidth } from '../draw/text-width';

/** What a worker is called where there is room for a few words: `worker 3`, its name, or its address. */
export function workerLabel(tasks: Tasks, worker: string): string {
  if (worker === '') return 'no worker';
  const name = tasks.workerName(worker);
  const [own] = name.split(OF_CLUSTER);
  return /^\d+$/.test(own) ? `worker ${name}` : shortened(name.replace(/^\w+:\/\//, ''), 40);
}

/** Labels of so many lines, which are so high each, from `top` down: of as many as have room. */
export function drawLabels(
  pen: Pen,
  count: number,
  label: (at: number) => string,
  room: number,
  top: number,
  each: number
): void {
  const text = textWidth(pen.font);
  // Names stand as far apart as they are high.
  const step = Math.max(1, Math.ceil(13 / each));
  for (let at = step >> 1; at < count; at += step)
    pen.fillText(fittedLabel(label(at), room, text), 0, top + (at + 0.5) * each);
}

/**
 * A label in the room there is: of `worker 3` the number stays, of `worker 3 · cluster 2` both numbers, of a name or an
 * address both its ends.
 */
export function fittedLabel(label: string, room: number, widths: TextWidth): string {
  if (widths.of(label) <= room) return label;
  const short = label.replace(/^worker (?=\d)/, '');
  if (widths.of(short) <= room) return short;
  return widths.fittedEnds(short.replace(OF_CLUSTER, '·'), room);
}
