import { bytes, count, duration, share } from '../core/format';
import { figuresOfProcesses } from '../core/of-processes';
import { timeOf } from '../core/task-filter';
import { NOTHING_RAN, sumTasks } from '../core/task-sums';
import { activeTime } from '../core/time-budget';
import { presence, type Worker, workersOf } from '../core/workers-of';
import { noneOf } from './no-tasks';
import type { Panel } from './panel';
import { PlainView } from './plain-view';
import type { TableOptions } from './table';
import { number, rowsOf, some, text } from './things';

/** Every worker with what it did, as a table. */
export const workers: Panel = {
  id: 'workers',
  title: 'Workers',
  tables: ['workers', 'attempts', 'executions', 'running', 'phases', 'memory', 'resources', 'about'],
  overTime: false,
  create: context => new WorkersView(context, workers.tables)
};

/** What is shown of a worker. */
type Listed = Omit<Worker, 'cluster' | 'pid' | 'namespace'>;

class WorkersView extends PlainView {
  empty(): string | undefined {
    const { recording, tasks } = this.context;
    if (recording.table('workers').rows > 0 || tasks.lanes.length > 0) return undefined;
    return noneOf(this.context, 'No worker was there while this was recorded.');
  }

  protected content(): TableOptions {
    const { tasks, selection, viewport, recording } = this.context;
    const filter = selection.filter('workers');
    const filtered = timeOf(recording, filter);
    const time = filtered ?? activeTime(tasks);
    const sums = new Map(sumTasks(tasks, filter, 'worker').map(sum => [sum.label, sum]));
    const isNow = !recording.hasEnded && !filtered;
    const most = figuresOfProcesses(recording, 'memory', time);
    const now = (column: 'memory' | 'cpu', whole = 1): ((worker: Listed) => number) => {
      const found = figuresOfProcesses(recording, column, 'now');
      return ({ worker, left }) => (left > 0 ? Number.NaN : (found.get(worker) ?? Number.NaN) / whole);
    };
    const listed = this.listed();
    const chosen = new Set(selection.own('workers', 'worker'));
    const rows = listed.map(worker => {
      const sum = sums.get(worker.worker) ?? NOTHING_RAN;
      const offered = worker.threads * presence(worker, time);
      return { ...worker, sum, busy: offered > 0 ? Math.min(1, sum.time / offered) : Number.NaN };
    });
    const { origin } = viewport;
    const isOne = new Set(rows.map(({ host }) => host)).size < 2;
    const table = rowsOf(rows, [
      { ...text('Worker', ({ worker }) => worker), words: ({ worker }) => worker || '(unknown)' },
      text('Name', ({ name }) => name),
      number('Threads', ({ threads }) => threads, some),
      number('Attempts', ({ sum }) => sum.count, count),
      number('Time', ({ sum }) => sum.time, duration),
      number('Busy', ({ busy }) => busy, share),
      ...(isNow ? [number('CPU', now('cpu', 100), share), number('Memory', now('memory'), bytes)] : []),
      number('Most memory', ({ worker }) => most.get(worker) ?? Number.NaN, bytes),
      number('Limit', ({ memory_limit }) => memory_limit, bytes),
      number('Failed', ({ sum }) => sum.failed, some),
      number(
        'Joined',
        ({ joined }) => joined - origin,
        after => (after <= 0 ? 'at start' : duration(after)),
        's'
      ),
      number(
        'Left',
        ({ left }) => left - origin,
        after => (Number.isNaN(after) ? '' : duration(after)),
        's'
      ),
      // An address may hold it, and where there is but one it tells no worker from another.
      text('Host', ({ worker, host }) => (isOne || worker.includes(host) ? '' : host))
    ]);
    return {
      caption: 'Workers by computing time',
      sort: table.columns.findIndex(({ title }) => title === 'Time'),
      rows: table,
      choose: row => selection.toggle('workers', 'worker', rows[row].worker),
      isChosen: row => chosen.has(rows[row].worker)
    };
  }

  /** The newest row of each worker; threads of local schedulers have none, their lanes tell of them. */
  private listed(): Listed[] {
    const { recording, tasks } = this.context;
    const found = new Map<string, Listed>(workersOf(recording));
    for (const { worker } of tasks.lanes) {
      if (found.has(worker)) continue;
      const threads = tasks.lanes.filter(lane => lane.worker === worker).length;
      const there = { joined: Number.NEGATIVE_INFINITY, left: Number.NaN, memory_limit: Number.NaN };
      found.set(worker, { worker, name: '', host: '', threads, ...there });
    }
    return [...found.values()];
  }
}
