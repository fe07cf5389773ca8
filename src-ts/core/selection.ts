import type { Stop } from './recording';

/** A span of time, seconds since the epoch. */
export interface TimeRange {
  readonly start: number;
  readonly stop: number;
}

/** What each column of a clause may be narrowed to. */
export interface ClauseValues {
  /** A range of time. */
  time: TimeRange;
  /** Task names (Dask's prefixes). */
  name: readonly string[];
  /** Workers, as the `worker` columns have them. */
  worker: readonly string[];
  /** Ids of spans. */
  span: readonly string[];
  /** Ids of attempts. */
  run: readonly number[];
  /** Runs of notebook cells, by their execution counts. */
  cell: readonly number[];
  /** Lines of the client's code that started computations, as `file:line`. */
  line: readonly string[];
}

export type ClauseColumn = keyof ClauseValues;

/** One narrowing, and who made it. */
export type Clause = {
  readonly [C in ClauseColumn]: {
    readonly source: string;
    readonly column: C;
    readonly value: ClauseValues[C];
  };
}[ClauseColumn];

/** All clauses but one's own, combined: undefined means that nothing narrows that column. */
export interface Filter {
  readonly time: TimeRange | undefined;
  readonly names: ReadonlySet<string> | undefined;
  readonly workers: ReadonlySet<string> | undefined;
  readonly spans: ReadonlySet<string> | undefined;
  readonly runs: ReadonlySet<number> | undefined;
  readonly cells: ReadonlySet<number> | undefined;
  readonly lines: ReadonlySet<string> | undefined;
}

/** 1 for each name that is chosen, else 0; without a choice 1 for all. */
export function chosenFlags(names: readonly string[], chosen: ReadonlySet<string> | undefined): Uint8Array {
  return Uint8Array.from(names, name => Number(chosen?.has(name) ?? true));
}

const MOST_UNDO = 100;

/** Who makes the clauses that come from Python. What a person chooses takes their place. */
export const PYTHON = 'python';

/**
 * What the person has chosen, shared by all panels.
 *
 * A source has at most one clause a column. Clauses of several sources on one
 * column narrow each other. Every panel asks for `filter(itsOwnId)`: all
 * clauses but its own.
 */
export class Selection {
  private list: readonly Clause[] = [];
  private past: (readonly Clause[])[] = [];
  private future: (readonly Clause[])[] = [];
  /** Clauses that were set in one step, by each of them: they are taken back in one. */
  private readonly together = new WeakMap<Clause, readonly Clause[]>();
  private readonly callbacks = new Set<() => void>();
  private readonly highlightCallbacks = new Set<() => void>();
  private pointed: string | undefined;
  /** What was made of the clauses that there are. */
  private readonly filters = new Map<string | undefined, Filter>();
  private saved: string | undefined;

  /** All clauses, oldest first. */
  get clauses(): readonly Clause[] {
    return this.list;
  }

  /** Sets a source's clause on a column, replacing the one it had there, and Python's. An empty list clears them. */
  set(clause: Clause): void {
    const { source, column, value } = clause;
    const next = Array.isArray(value) && value.length === 0 ? [] : [clause];
    this.exchange(each => each.column === column && [source, PYTHON].includes(each.source), next);
  }

  /** Puts clauses in place of all that narrow a column, whoever made them, as one step. */
  only(column: ClauseColumn, clauses: readonly Clause[]): void {
    this.exchange(each => each.column === column, clauses);
  }

  /** Puts clauses in place of all that a source has, as one step. Without any: takes them back. */
  put(source: string, clauses: readonly Clause[]): void {
    for (const clause of clauses) this.together.set(clause, clauses);
    const columns = clauses.map(({ column }) => column);
    this.exchange(
      each => each.source === source || (each.source === PYTHON && columns.includes(each.column)),
      clauses
    );
  }

  /**
   * Chooses values of a column alone, or takes them back where a source has just these. `additive`: adds them to
   * those that it has, or takes them away from these.
   */
  choose<C extends Exclude<ClauseColumn, 'time'>>(
    source: string,
    column: C,
    values: ClauseValues[C],
    additive: boolean
  ): void {
    const own = new Set<string | number>(this.own(source, column) ?? this.own(PYTHON, column));
    const chosen = new Set<string | number>(values);
    const others = [...own].filter(each => !chosen.has(each));
    const isOwn = values.every(each => own.has(each));
    const kept = additive ? others : [];
    const value = isOwn && (additive || others.length === 0) ? kept : [...kept, ...chosen];
    this.set({ source, column, value } as unknown as Clause);
  }

  /** Adds or removes one value. */
  toggle<C extends Exclude<ClauseColumn, 'time'>>(
    source: string,
    column: C,
    value: ClauseValues[C][number]
  ): void {
    this.choose(source, column, [value] as unknown as ClauseValues[C], true);
  }

  /** Takes back a source's clause on one column, or all of its clauses, or (without arguments) everything. */
  clear(source?: string, column?: ClauseColumn): void {
    this.exchange(
      each => (source ?? each.source) === each.source && (column ?? each.column) === each.column,
      []
    );
  }

  /** Takes back what was chosen last, as `Esc` does: a clause, or those that were put in one step. False if there was none. */
  escape(): boolean {
    const newest = this.list.at(-1);
    if (!newest) return false;
    const step = this.together.get(newest) ?? [newest];
    this.replace(this.list.filter(each => !step.includes(each)));
    return true;
  }

  /** Drops everything that was ever chosen: there is nothing to undo. */
  forget(): void {
    this.past = [];
    this.future = [];
    this.list = [];
    this.highlight = undefined;
    this.tell();
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }

  undo(): boolean {
    return this.step(this.past, this.future);
  }

  redo(): boolean {
    return this.step(this.future, this.past);
  }

  private step(from: (readonly Clause[])[], to: (readonly Clause[])[]): boolean {
    const list = from.pop();
    if (!list) return false;
    to.push(this.list);
    this.list = list;
    this.tell();
    return true;
  }

  /** The value of a source's own clause. */
  own<C extends ClauseColumn>(source: string, column: C): ClauseValues[C] | undefined {
    const clause = this.list.find(each => each.source === source && each.column === column);
    return clause?.value as ClauseValues[C] | undefined;
  }

  /** All clauses but those of one source, combined; the same until they change. Without a source: all of them. */
  filter(except?: string): Filter {
    const made = this.filters.get(except) ?? this.combined(except);
    this.filters.set(except, made);
    return made;
  }

  private combined(except: string | undefined): Filter {
    const others = this.list.filter(each => each.source !== except);
    const values = <C extends ClauseColumn>(column: C): ClauseValues[C][] =>
      others.filter(each => each.column === column).map(each => each.value as ClauseValues[C]);
    return {
      time: overlap(values('time')),
      names: common(values('name')),
      workers: common(values('worker')),
      spans: common(values('span')),
      runs: common(values('run')),
      cells: common(values('cell')),
      lines: common(values('line'))
    };
  }

  /** The task name that the pointer is on, anywhere; it is shown, and filters nothing. */
  get highlight(): string | undefined {
    return this.pointed;
  }

  set highlight(name: string | undefined) {
    if (name === this.pointed) return;
    this.pointed = name;
    for (const callback of [...this.highlightCallbacks]) callback();
  }

  /** Whether a task name is in full colour: the one that the pointer is on alone, else all that are chosen. */
  isBright(name: string): boolean {
    if (this.pointed !== undefined) return name === this.pointed;
    return this.filter().names?.has(name) ?? true;
  }

  /** Clauses as text, such as an address holds. */
  save(): string {
    this.saved ??= JSON.stringify(this.list);
    return this.saved;
  }

  /** Tells of every change of the highlight. */
  onHighlight(callback: () => void): Stop {
    this.highlightCallbacks.add(callback);
    return () => this.highlightCallbacks.delete(callback);
  }

  /** Tells of every change of the clauses. */
  subscribe(callback: () => void): Stop {
    this.callbacks.add(callback);
    return () => this.callbacks.delete(callback);
  }

  /** Puts clauses in place of some, unless they are the same. */
  private exchange(isOld: (clause: Clause) => boolean, next: readonly Clause[]): void {
    if (sameValue(this.list.filter(isOld), next)) return;
    this.replace([...this.list.filter(each => !isOld(each)), ...next]);
  }

  /** Puts other clauses in place of all that are there. */
  replace(list: readonly Clause[]): void {
    this.past.push(this.list);
    if (this.past.length > MOST_UNDO) this.past.shift();
    this.future = [];
    this.list = list;
    this.tell();
  }

  private tell(): void {
    this.filters.clear();
    this.saved = undefined;
    for (const callback of [...this.callbacks]) callback();
  }
}

function sameValue(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function overlap(ranges: readonly TimeRange[]): TimeRange | undefined {
  if (ranges.length === 0) return undefined;
  const start = Math.max(...ranges.map(range => range.start));
  return { start, stop: Math.max(start, Math.min(...ranges.map(range => range.stop))) };
}

function common<T>(lists: readonly (readonly T[])[]): ReadonlySet<T> | undefined {
  if (lists.length === 0) return undefined;
  const [first, ...rest] = lists.map(setOf);
  return rest.length === 0 ? first : new Set([...first].filter(value => rest.every(set => set.has(value))));
}

/** The values of a clause, which never change. */
const SETS = new WeakMap<readonly unknown[], ReadonlySet<unknown>>();

function setOf<T>(list: readonly T[]): ReadonlySet<T> {
  const set = SETS.get(list) ?? new Set(list);
  SETS.set(list, set);
  return set as ReadonlySet<T>;
}
