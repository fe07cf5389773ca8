import type { Lane } from '../../core/lane';
import { RUNNING } from '../../core/lane';
import type { Filter } from '../../core/selection';
import type { PanelContext } from '../panel';
import { CHOSEN, HIDDEN, PLAIN } from './cells';
import type { LegendHooks } from './legend';

const SOURCE = 'task-stream';

/** Which tasks are shown in full, stepped back or hidden, from the selection and the legend. */
export class Choice implements LegendHooks {
  /** By index into `Tasks.names`. */
  roles = new Uint8Array(0);
  /** Filter by entry, where spans or single attempts are chosen. */
  entries: ((lane: Lane) => Uint8Array | undefined) | undefined;
  /** Grows when the above change. */
  version = 0;

  private readonly hidden = new Set<string>();
  private chosen: ReadonlySet<string> | undefined;
  private key = '';

  constructor(
    private readonly context: PanelContext,
    private readonly changed: () => void
  ) {}

  /** No name is chosen and no filter goes by entry. */
  get plain(): boolean {
    return this.chosen === undefined && this.entries === undefined;
  }

  /** Works out anew what the selection means. */
  update(): void {
    const { tasks, selection } = this.context;
    const filter = selection.filter();
    const { names, spans, runs } = filter;
    const byEntry = spans !== undefined || runs !== undefined;
    const key = JSON.stringify([
      tasks.names.length,
      [...this.hidden],
      names && [...names],
      spans && [...spans],
      runs && [...runs],
      byEntry && tasks.version
    ]);
    if (key === this.key) return;
    this.key = key;
    this.version++;
    this.chosen = names;
    this.roles = Uint8Array.from(tasks.names, name =>
      this.hidden.has(name) ? HIDDEN : names?.has(name) ? CHOSEN : PLAIN
    );
    this.entries = byEntry ? entryFilter(this.context, filter) : undefined;
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
    if (hidden) this.hidden.add(name);
    else this.hidden.delete(name);
    this.changed();
  }

  choose(name: string, additive: boolean): void {
    const { selection } = this.context;
    if (additive) {
      selection.toggle(SOURCE, 'name', name);
      return;
    }
    const own = selection.own(SOURCE, 'name');
    const again = own?.length === 1 && own[0] === name;
    selection.set({ source: SOURCE, column: 'name', value: again ? [] : [name] });
  }

  chooseAll(names: readonly string[]): void {
    this.context.selection.set({ source: SOURCE, column: 'name', value: names });
  }
}

/** For each entry of a lane, whether it is of the chosen spans and attempts. */
function entryFilter(
  { tasks, recording }: PanelContext,
  { spans, runs }: Filter
): (lane: Lane) => Uint8Array {
  const made = new Map<Lane, Uint8Array>();
  const graph = recording.table('graph');
  const spanColumn = graph.symbols('span');
  const isSpan = Uint8Array.from(spanColumn.names, name => Number(spans?.has(name) ?? true));
  const passes = (lane: Lane, entry: number): boolean => {
    const table = lane.status[entry] === RUNNING ? recording.table('running') : recording.table('attempts');
    const row = lane.row[entry];
    if (runs && !runs.has(table.numbers('run')[row])) return false;
    if (!spans) return true;
    const known = tasks.graphRow(table.numbers('task')[row]);
    return known >= 0 && isSpan[spanColumn.codes[known]] === 1;
  };
  return lane => {
    let mask = made.get(lane);
    if (!mask || mask.length < lane.length) {
      mask = new Uint8Array(lane.length).map((_, entry) => (passes(lane, entry) ? PLAIN : HIDDEN));
      made.set(lane, mask);
    }
    return mask;
  };
}
