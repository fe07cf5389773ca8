import { shortened } from '../core/format';
import type { Tasks } from '../core/tasks';
import type { TextWidth } from '../draw/text-width';

/** What a worker is called where there is room for a few words: `worker 3`, its name, or its address. */
export function workerLabel(tasks: Tasks, worker: string): string {
  if (worker === '') return 'no worker';
  const name = tasks.workerName(worker);
  return /^\d+$/.test(name) ? `worker ${name}` : shortened(name.replace(/^\w+:\/\//, ''), 40);
}

/** A label in the room there is: of `worker 3` the number stays, of a name or an address both its ends. */
export function fittedLabel(label: string, room: number, widths: TextWidth): string {
  if (widths.of(label) <= room) return label;
  return widths.fittedEnds(label.replace(/^worker (?=\d+$)/, ''), room);
}
