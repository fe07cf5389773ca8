import { bytes, count, duration, MISSING } from '../../core/format';
import { type Lane, LOST, RUNNING } from '../../core/lane';
import type { PanelContext, TableRows } from '../panel';
import { keyOf, statusWords } from './card';
import { CHOSEN } from './cells';
import type { Choice } from './choice';

/** Most rows that a page can hold comfortably. */
const MOST = 20_000;

const COLUMNS = [
  { title: 'Name' },
  { title: 'Key' },
  { title: 'Status' },
  { title: 'Start, s', numeric: true },
  { title: 'Took', numeric: true },
  { title: 'Worker' },
  { title: 'Thread' },
  { title: 'Result', numeric: true }
] as const;

/** The tasks that can be seen, as rows, in the order of their start; the first `MOST`. */
export function rowsOf(context: PanelContext, choice: Choice): TableRows {
  const { tasks, recording, viewport, selection } = context;
  const { time, workers, names } = selection.filter();
  const from = time?.start ?? viewport.start;
  const to = time?.stop ?? viewport.stop;
  const found: { readonly lane: Lane; readonly entry: number; readonly start: number }[] = [];
  let total = 0;
  for (const lane of tasks.lanes) {
    if (workers && !workers.has(lane.worker)) continue;
    const last = lane.firstStartAfter(to);
    const most = found.length + MOST;
    for (let entry = lane.firstAfter(from); entry < last; entry++) {
      if (!choice.shows(lane, entry) || (names && choice.roles[lane.name[entry]] !== CHOSEN)) continue;
      total++;
      if (found.length < most) found.push({ lane, entry, start: lane.start[entry] });
    }
  }
  found.sort((a, b) => a.start - b.start);
  const shown = found.slice(0, MOST);
  const nbytes = recording.table('attempts').numbers('nbytes');

  const value = (index: number, column: number): number | string => {
    const { lane, entry, start } = shown[index];
    const isRunning = lane.status[entry] === RUNNING;
    const isLost = lane.status[entry] === LOST;
    switch (column) {
      case 0:
        return tasks.names[lane.name[entry]];
      case 1:
        return keyOf(tasks, tasks.taskOf(lane, entry));
      case 2:
        return statusWords(lane.status[entry]);
      case 3:
        return isLost ? Number.NaN : Math.round((start - recording.origin) * 1e6) / 1e6;
      case 4:
        return isLost
          ? Number.NaN
          : Math.round((Math.min(lane.stop[entry], recording.end) - start) * 1e6) / 1e6;
      case 5:
        return tasks.workerName(lane.worker);
      case 6:
        return lane.thread;
      default:
        return isRunning ? Number.NaN : nbytes[lane.row[entry]];
    }
  };
  const text = (index: number, column: number): string => {
    const found = value(index, column);
    if (typeof found === 'string') return found;
    if (!Number.isFinite(found)) return MISSING;
    if (column === 3) return found.toFixed(4);
    return column === 4 ? duration(found) : bytes(found);
  };
  return {
    columns: COLUMNS,
    length: shown.length,
    note: total > MOST ? `: the first ${count(MOST)} of ${count(total)} tasks in sight` : '',
    row: index => COLUMNS.map((_, column) => text(index, column)),
    value
  };
}
