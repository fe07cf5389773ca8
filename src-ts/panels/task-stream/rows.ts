import { bytes, count, duration, MISSING } from '../../core/format';
import { type Lane, LOST, RUNNING } from '../../core/lane';
import type { PanelContext, TableRows } from '../panel';
import { number, tableOf, text } from '../things';
import { keyOf, statusWords } from './card';
import { CHOSEN } from './cells';
import type { Choice } from './choice';

/** Most rows that a page can hold comfortably. */
const MOST = 20_000;

/** The tasks that can be seen, as rows, in the order of their start; the first `MOST`. */
export function rowsOf(context: PanelContext, choice: Choice): TableRows {
  const { tasks, recording, viewport, selection } = context;
  const { time, workers, names } = selection.filter();
  const from = time?.start ?? viewport.start;
  const to = time?.stop ?? viewport.stop;
  const found: { readonly lane: Lane; readonly entry: number; readonly start: number }[] = [];
  /** Of what starts then or later enough has been found. */
  let late = Number.POSITIVE_INFINITY;
  let total = 0;
  const keepFirst = (): void => {
    found.sort((a, b) => a.start - b.start);
    if (found.length < MOST) return;
    found.length = MOST;
    late = found[MOST - 1].start;
  };
  for (const lane of tasks.lanes) {
    if (workers && !workers.has(lane.worker)) continue;
    const last = lane.firstStartAfter(to);
    for (let entry = lane.firstAfter(from); entry < last; entry++) {
      if (!choice.shows(lane, entry) || (names && choice.roles[lane.name[entry]] !== CHOSEN)) continue;
      total++;
      const start = lane.start[entry];
      if (start < late && found.push({ lane, entry, start }) === 2 * MOST) keepFirst();
    }
  }
  keepFirst();
  const nbytes = recording.table('attempts').numbers('nbytes');
  const seconds = ({ lane, entry }: (typeof found)[number], value: number): number =>
    lane.status[entry] === LOST ? Number.NaN : Math.round(value * 1e6) / 1e6;
  const table = tableOf(found, [
    text('Name', ({ lane, entry }) => tasks.names[lane.name[entry]]),
    text('Key', ({ lane, entry }) => keyOf(tasks, tasks.taskOf(lane, entry))),
    text('Status', ({ lane, entry }) => statusWords(lane.status[entry])),
    number(
      'Start, s',
      each => seconds(each, each.start - recording.origin),
      start => (Number.isNaN(start) ? MISSING : start.toFixed(4))
    ),
    number('Took', each => seconds(each, each.lane.stopBy(each.entry, recording.end) - each.start), duration),
    text('Worker', ({ lane }) => tasks.workerName(lane.worker)),
    text('Thread', ({ lane }) => lane.thread),
    number(
      'Result',
      ({ lane, entry }) => (lane.status[entry] === RUNNING ? Number.NaN : nbytes[lane.row[entry]]),
      bytes
    )
  ]);
  const cut = total > MOST && `the first ${count(MOST)} of ${count(total)} tasks in sight`;
  const note = [cut, choice.hiddenWords].filter(Boolean).join(', ');
  return { ...table, note: note && `: ${note}` };
}
