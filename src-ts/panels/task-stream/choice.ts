import { EntryMask } from '../../core/entry-mask';
import { plural } from '../../core/format';
import type { Lane } from '../../core/lane';
import type { PanelContext } from '../panel';
import { CHOSEN, HIDDEN, PLAIN } from './cells';
import type { LegendHooks } from './legend';

const SOURCE = 'task-stream';

/** Which tasks are shown in full, stepped back or hidden, from the selection and the legend. */
export class Choice implements LegendHooks {
  /** By index into `Tasks.names`. */
  roles = new Uint8Array(0);
  /** Filter by entry, where spans, cells or single attempts are chosen. */
  entries: EntryMask | undefined;
  /** Grows when the above change; not with roles of further names, which nothing that is drawn has. */
  version = 0;

  private hidden: ReadonlySet<string> = new Set();
  private session: unknown;
  private chosen: ReadonlySet<string> | undefined;
  /** What the above were made of. */
  private made: readonly unknown[] = [];

  constructor(
    private readonly context: PanelContext,
    private readonly changed: () => void
  ) {}

  /** No name is chosen and no filter goes by entry. */
  get plain(): boolean {
    return this.chosen === undefined && this.entries === undefined;
  }

  /** In words, how many names are hidden; nothing where none is. */
  get hiddenWords(): string {
    const { length } = this.context.tasks.names.filter(name => this.hidden.has(name));
    return length > 0 ? `${plural(length, 'name')} hidden` : '';
  }

  /** Works out anew what the selection means. What is hidden in one session says nothing of another. */
  update(): void {
    const { tasks, selection, recording } = this.context;
    const session = recording.about('started') ?? this.session;
    if (session !== this.session) this.hidden = new Set();
    this.session = session;
    if (this.entries?.update()) this.version++;
    const filter = selection.filter();
    const { names, spans, runs, cells, lines } = filter;
    const byEntry = [spans, runs, cells, lines];
    const made = [recording.generation, this.hidden, names, ...byEntry];
    if (made.some((each, at) => each !== this.made[at])) {
      this.made = made;
      this.version++;
      this.chosen = names;
      this.entries = byEntry.some(Boolean) ? new EntryMask(tasks, filter) : undefined;
    } else if (this.roles.length === tasks.names.length) return;
    this.roles = Uint8Array.from(tasks.names, name =>
      this.hidden.has(name) ? HIDDEN : names?.has(name) ? CHOSEN : PLAIN
    );
  }

  /** Whether an entry is in the picture. */
  shows({ name, row, status }: Lane, entry: number): boolean {
    return this.roles[name[entry]] !== HIDDEN && this.entries?.passes(row[entry], status[entry]) !== false;
  }

  /** Whether the arrow keys stop at an entry: where names are chosen, at theirs. */
  stopsAt(lane: Lane, entry: number): boolean {
    return this.shows(lane, entry) && (!this.chosen || this.roles[lane.name[entry]] === CHOSEN);
  }

  isBright(name: string): boolean {
    return this.chosen === undefined || this.chosen.has(name);
  }

  isChosen(name: string): boolean {
    return this.chosen?.has(name) ?? false;
  }

  isHidden(name: string): boolean {
    return this.hidden.has(name);
  }

  hide(name: string, hidden: boolean): void {
    const others = [...this.hidden].filter(each => each !== name);
    this.hidden = new Set(hidden ? [...others, name] : others);
    this.changed();
  }

  choose(name: string, additive: boolean): void {
    this.context.selection.choose(SOURCE, 'name', [name], additive);
  }

  showAll(): void {
    this.hidden = new Set();
    this.changed();
  }

  chooseAll(names: readonly string[]): void {
    this.context.selection.set({ source: SOURCE, column: 'name', value: names });
  }
}
