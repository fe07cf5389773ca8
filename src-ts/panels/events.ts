import { count, MISSING, moment } from '../core/format';
import { timeOf } from '../core/task-filter';
import { choice } from './element';
import type { Panel } from './panel';
import { PlainView } from './plain-view';
import { lookedFor, searchBox } from './search-box';
import type { TableOptions } from './table';
import { number, tableOf, text } from './things';
import { workerLabel } from './worker-label';

/** What happened besides tasks: warnings and errors of logs, workers that come and go, what users note. */
export const events: Panel = {
  id: 'events',
  title: 'Events',
  tables: ['events', 'workers'],
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

const SEVERITY: readonly string[] = ['debug', 'info', 'warning', 'error'];
const severityOf = ({ level }: { readonly level: string }): number => SEVERITY.indexOf(level);
const GRAVE = 2;

interface Event {
  readonly time: number;
  readonly level: string;
  readonly kind: string;
  readonly source: string;
  readonly message: string;
}

function captionOf(shown: number, all: number): string {
  if (all === 0) return 'Nothing happened besides tasks in what is chosen. Esc takes the last choice back.';
  return shown < all ? `${count(shown)} of ${count(all)} events` : 'What happened besides tasks';
}

class EventsView extends PlainView {
  readonly search = searchBox('Search events', 'Search events', () => this.layout());
  private least = '';
  readonly controls = [
    this.search,
    choice('Which events', LEVELS, '', level => {
      this.least = level;
      this.layout();
    })
  ];

  empty(): string | undefined {
    const { recording } = this.context;
    if (recording.table('events').rows > 0) return undefined;
    return recording.hasEnded
      ? 'Nothing happened besides tasks: no warnings, no worker that came or went.'
      : 'Nothing has happened besides tasks yet.';
  }

  protected override query(): string {
    return [this.least, lookedFor(this.search)].join();
  }

  protected content(): TableOptions {
    const { viewport } = this.context;
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
          time => (Number.isNaN(time) ? MISSING : moment(time, 3))
        ),
        { ...text('Level', ({ level }) => level), value: severityOf },
        text('Kind', ({ kind }) => kind),
        text('From', ({ source }) => source),
        text('What', ({ message }) => message)
      ]),
      choose: row => this.show(found[row].time),
      isFaint: row => isMixed && severityOf(found[row]) < GRAVE
    };
  }

  /** Events of the time and the workers that are chosen, in the order in which they happened. */
  private narrowed(): Event[] {
    const { recording, selection, tasks } = this.context;
    const filter = selection.filter('events');
    const { start, stop } = timeOf(recording, filter) ?? {
      start: Number.NEGATIVE_INFINITY,
      stop: Number.POSITIVE_INFINITY
    };
    const table = recording.table('events');
    const times = table.times('time');
    const found: Event[] = [];
    for (let row = 0; row < table.rows; row++) {
      const time = times[row];
      const source = table.text('source', row);
      const message = table.text('message', row);
      // What has no time belongs to none, and to all.
      if (time < start || time > stop || filter.workers?.has(source) === false) continue;
      found.push({
        time,
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

  /** Brings the time around an event into the middle of all charts. */
  private show(time: number): void {
    const { viewport } = this.context;
    if (Number.isNaN(time)) return;
    const { start, stop } = viewport.extent;
    const around = Math.min(AROUND * (stop - start), viewport.span / 2);
    viewport.show(time - around, time + around);
  }
}
