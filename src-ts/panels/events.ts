import { append } from '../core/append';
import { count, MISSING, moment, plural } from '../core/format';
import { statusCode } from '../core/lane';
import type { Filter } from '../core/selection';
import { taskTest, timeOf } from '../core/task-filter';
import { choice } from './element';
import { noneChosen } from './no-tasks';
import type { Panel } from './panel';
import { PlainView } from './plain-view';
import { lookedFor, searchBox } from './search-box';
import type { TableOptions } from './table';
import { statusWords } from './task-stream/card';
import { number, tableOf, text } from './things';
import { workerLabel } from './worker-label';

/** Warnings and errors of logs, workers that come and go, what users note, and the exceptions that tasks raised. */
export const events: Panel = {
  id: 'events',
  title: 'Events',
  tables: ['events', 'workers', 'errors', 'attempts', 'graph', 'submissions'],
  overTime: false,
  create: context => new EventsView(context, events.tables)
};

/** Time that its choice brings into sight around an event, as a part of the whole. */
const AROUND = 0.05;

const LEVELS = [
  ['', 'All events'],
  ['warning', 'Warnings and errors'],
  ['error', 'Errors']
] as const;

const SEVERITY: readonly string[] = ['', 'debug', 'info', 'warning'];
/** All others are errors: old files have those of their loggers, as critical. */
const severityOf = ({ level }: { readonly level: string }): number => (SEVERITY.indexOf(level) + 5) % 5;
const GRAVE = 3;

interface Event {
  readonly time: number;
  readonly level: string;
  readonly kind: string;
  readonly source: string;
  readonly message: string;
  /** The attempts that it is about. */
  readonly runs?: readonly number[];
}

function captionOf(shown: number, all: number): string {
  if (all === 0) return noneChosen('Nothing happened besides tasks in');
  return shown < all
    ? `${count(shown)} of ${count(all)} events`
    : 'What happened besides tasks that ended well';
}

class EventsView extends PlainView {
  readonly search = searchBox('Search events', 'Search events', () => this.layout());
  private least = '';
  readonly controls = [
    this.search,
    choice('Which events', LEVELS, level => {
      this.least = level;
      this.layout();
    })
  ];

  empty(): string | undefined {
    const { recording } = this.context;
    if (recording.table('events').rows + recording.table('errors').rows > 0) return undefined;
    return recording.hasEnded
      ? 'Nothing happened besides tasks that ended well.'
      : 'Nothing has happened besides tasks yet.';
  }

  protected override query(): string {
    return [this.least, lookedFor(this.search)].join();
  }

  protected content(): TableOptions {
    const { viewport, selection } = this.context;
    const all = this.narrowed();
    const query = lookedFor(this.search);
    const least = severityOf({ level: this.least });
    const found = all.filter(
      event =>
        severityOf(event) >= least &&
        [event.kind, event.source, event.message].some(text => text.toLowerCase().includes(query))
    );
    const isMixed = found.some(event => severityOf(event) >= GRAVE);
    return {
      caption: captionOf(found.length, all.length),
      rows: tableOf(found, [
        number(
          'Time',
          ({ time }) => time - viewport.origin,
          time => (Number.isNaN(time) ? MISSING : moment(time, 3)),
          's'
        ),
        { ...text('Level', ({ level }) => level), value: severityOf },
        text('Kind', ({ kind }) => kind),
        text('From', ({ source }) => source),
        text('What', ({ message }) => message)
      ]),
      choose: row => {
        const { time, runs = [] } = found[row];
        selection.set({ source: 'events', column: 'run', value: runs });
        this.show(time);
      },
      isFaint: row => isMixed && severityOf(found[row]) < GRAVE
    };
  }

  /** What happened of what is chosen, in its order: events by their time and workers. */
  private narrowed(): Event[] {
    const { recording, selection, tasks } = this.context;
    const filter = selection.filter('events');
    const time = timeOf(recording, filter);
    // What has no time belongs to none, and to all.
    const isOut = (at: number, worker: string): boolean =>
      (time && (at < time.start || at > time.stop)) || filter.workers?.has(worker) === false;
    const table = recording.table('events');
    const times = table.times('time');
    const found = this.raised(filter, isOut);
    for (let row = 0; row < table.rows; row++) {
      const source = table.text('source', row);
      const message = table.text('message', row);
      if (isOut(times[row], source)) continue;
      found.push({
        time: times[row],
        level: table.text('level', row),
        kind: table.text('kind', row),
        source: source.includes('://') ? workerLabel(tasks, source) : source,
        // A sentence has said it; a topic has not: what it is about is an object in JSON.
        message: message.includes(' ')
          ? message
          : `${message} ${table.text('detail', row).replace(/["{}]/g, '')}`.trim()
      });
    }
    return found.sort((one, other) => (one.time || 0) - (other.time || 0));
  }

  /** Exceptions: one for those of a task name that say the same, and after which the same was done. */
  private raised(filter: Filter, isOut: (at: number, worker: string) => boolean): Event[] {
    const { recording, tasks } = this.context;
    const errors = recording.table('errors');
    const runs = errors.numbers('run');
    const attempts = recording.table('attempts');
    const ids = attempts.numbers('task');
    const times = attempts.times('done');
    const nameOf = tasks.namer();
    const passes = taskTest(tasks, filter);
    const alike = new Map<string, number[]>();
    for (let row = 0; row < errors.rows; row++) {
      const at = tasks.attemptRow(runs[row]);
      if (at < 0 || isOut(times[at], attempts.text('worker', at))) continue;
      const name = tasks.names[nameOf(ids[at])];
      if (filter.names?.has(name) === false || passes?.(runs[row], ids[at]) === false) continue;
      const ended = statusWords(statusCode(attempts.text('status', at)));
      append(alike, `${name} ${ended}: ${errors.text('exception', row).split('\n')[0]}`, at);
    }
    return [...alike].map(([message, rows]) => {
      const workers = new Set(rows.map(at => attempts.text('worker', at)));
      const [worker] = workers;
      return {
        time: times[rows[0]],
        level: 'error',
        kind: 'task',
        source: workers.size > 1 ? plural(workers.size, 'worker') : workerLabel(tasks, worker),
        message: rows.length > 1 ? `${count(rows.length)} × ${message}` : message,
        runs: rows.map(at => attempts.numbers('run')[at])
      };
    });
  }

  /** Brings the time around an event into the middle of all charts. */
  private show(time: number): void {
    const { viewport } = this.context;
    if (Number.isNaN(time)) return;
    const { start, stop } = viewport.extent;
    const around = Math.min(AROUND * (stop - start), viewport.span / 2);
    viewport.show(time - around, time + around);
  }
}
