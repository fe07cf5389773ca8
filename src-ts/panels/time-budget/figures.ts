import { type BudgetRows, budgetRows, chosenRows, threadSeconds } from '../../core/budget';
import { type BudgetAhead, comingBudget } from '../../core/budget-ahead';
import { type BudgetGroup, budgetGroups, type Grouping } from '../../core/budget-groups';
import { type Layers, layersOf, namesOfLayer, threadsOverTime } from '../../core/budget-layers';
import { busyThreads, mostThreads } from '../../core/busy';
import { duration, figures } from '../../core/format';
import type { Recording } from '../../core/recording';
import { NOTHING } from '../../core/schema';
import type { Filter } from '../../core/selection';
import { sumOf } from '../../core/sum-of';
import { PARTS, timeBudget } from '../../core/time-budget';
import { css } from '../../draw/palette';
import type { Layered, Part } from '../layer-chart';
import { noneChosen, notWorkedOut } from '../no-tasks';
import type { PanelContext } from '../panel';
import { partColor } from './colors';
import { PAGE_WORDS, partWords } from './words';

/** A part of the whole as it is shown. */
export interface Shown extends Part {
  readonly id: string;
  readonly meaning: string;
  /** computing, overhead or idle. */
  readonly kind: string;
  /** The task name that was waited for, if there is one. */
  readonly name: string;
  readonly seconds: number;
}

/** What Python has worked out, within the selection. */
interface Told {
  readonly rows: BudgetRows;
  readonly layers: Layers;
  /** Thread-seconds of each row, and which rows are drawn over time. */
  readonly seconds: Float64Array;
  readonly mask: Float64Array;
  readonly filter: Filter;
  /** Most threads that there were at once. */
  readonly most: number;
  /** Short pieces are summed by bin, those of functions by few: a large recording. */
  readonly isSummed: boolean;
}

const SOURCE = 'time-budget';
const CUT =
  'Only the sums of the whole run are here: what tells them over time and of a choice stands in a damaged part.';
const NONE: Pick<Layers, 'list' | 'whole'> = { list: [], whole: 0 };

/** The time budget within the selection, from the rows that Python has made, else from the page's own sums. */
export class BudgetFigures implements Layered {
  readonly axis = { title: 'Threads', unit: 'count', label: 'threads', none: 'no thread', said: figures };
  /** Every part, in the order in which it is shown; those without time too. */
  parts: readonly Shown[] = [];
  /** Thread-seconds of all parts. */
  whole = 0;
  /** What the recording cannot tell, in words; '' if nothing. */
  note = '';
  /** What a choice leaves out or cannot tell, in words; '' if nothing. */
  ofChoice = '';
  /** What is told by task name only roughly, in words; '' if nothing. Where names are chosen it is in `ofChoice`. */
  rough = '';
  told: Told | undefined;
  /** Rows that Python has made are still to come: parts are known of the whole, not yet of a choice or over time. */
  isComing = false;
  /** There are rows, or will be, but nothing that they tell of single attempts, which are chosen. */
  isSilent = false;
  /** Changes with the above. */
  version = '';
  private groups: { readonly version: string; readonly list: readonly BudgetGroup[] } | undefined;

  constructor(private readonly context: PanelContext) {}

  /** Reads what is new; cheap where nothing is. */
  read(): void {
    const { recording, selection, tasks, surface } = this.context;
    const filter = this.filter();
    const ahead = comingBudget(recording);
    const known = ahead ? undefined : budgetRows(recording);
    const [coming, rows] = filter.runs ? [] : [ahead, known];
    const state =
      rows || coming
        ? recording.state('budget', 'submissions', 'spans')
        : `${recording.state('phases')} ${tasks.version}`;
    const version = [state, recording.isCut, selection.save(), surface.look].join();
    if (version === this.version) return;
    this.version = version;
    this.isComing = coming !== undefined && !recording.isCut;
    this.isSilent = filter.runs !== undefined && (ahead ?? known) !== undefined;
    this.note = '';
    this.ofChoice = '';
    this.rough = '';
    if (coming) this.readAhead(coming);
    else if (rows) this.readRows(rows, filter);
    else this.readPage(filter);
  }

  /** Thread time of the functions, workers, spans, cells or lines, most first. */
  groupsBy(by: Grouping): readonly BudgetGroup[] {
    const version = `${by} ${this.version}`;
    if (this.groups?.version !== version) {
      const { told } = this;
      const list = told
        ? budgetGroups(this.context.recording, told.rows, told.seconds, told.layers, by, told.filter.names)
        : [];
      this.groups = { version, list };
    }
    return this.groups.list;
  }

  /** Most threads that there were at once, where it is known. */
  get most(): number | undefined {
    return this.told?.most;
  }

  /** Threads in each part over time, in bins. */
  overTime(from: number, to: number, bins: number): Float64Array[] {
    const { told } = this;
    if (!told) return [];
    const threads = threadsOverTime(told.rows, told.mask, told.layers, from, to, bins);
    if (told.isSummed) {
      sharpen(threads, told.layers, busyThreads(this.context.tasks, told.filter, from, to, bins));
      limit(threads, told.layers, told.most);
    }
    return threads;
  }

  /** Task names of a part with their thread time, most first. */
  namesOf(part: number): readonly (readonly [name: string, seconds: number])[] {
    const { told } = this;
    return told ? namesOfLayer(told.rows, told.seconds, told.layers, part, told.filter.names) : [];
  }

  /** All clauses but the panel's own; its own stretch of time counts, for it is drawn over all time anyway. */
  private filter(): Filter {
    const { selection } = this.context;
    return { ...selection.filter(SOURCE), time: selection.filter().time };
  }

  private readRows(rows: BudgetRows, filter: Filter): void {
    const { recording, tasks } = this.context;
    const mask = chosenRows(recording, rows, filter);
    const seconds = threadSeconds(rows, mask, filter.time);
    const layers = layersOf(rows, seconds);
    this.show(layers);
    const most = Math.max(1, mostThreads(tasks, filter.workers));
    this.told = { rows, layers, seconds, mask, filter, most, isSummed: isSummed(rows, layers) };
    this.rough = roughly(rows, filter);
    this.ofChoice = [
      nothingLeft(layers.whole),
      leftOut(recording, rows, filter, layers.whole),
      filter.names ? this.rough : ''
    ]
      .filter(Boolean)
      .join(' ');
  }

  /** What is chosen cannot be told without the rows. */
  private readAhead({ sums, seconds }: BudgetAhead): void {
    const isWhole = this.context.selection.clauses.length === 0;
    this.show(isWhole ? layersOf(sums, seconds) : NONE);
    this.told = undefined;
    this.note = this.context.recording.isCut ? CUT : '';
  }

  private show({ list, whole }: Pick<Layers, 'list' | 'whole'>): void {
    const { colors, surface } = this.context;
    const waited = list.some(({ part, name }) => part === 'inputs' && name !== '');
    this.parts = list.map(({ part, name, kind, seconds }) => ({
      id: `${part}\n${name}`,
      ...partWords(part, name, waited),
      kind,
      name,
      seconds,
      color: css(partColor(part, name, colors, surface.theme))
    }));
    this.whole = whole;
  }

  private readPage(filter: Filter): void {
    const { tasks, colors, surface, recording } = this.context;
    const { parts, offered } = timeBudget(tasks, filter);
    this.told = undefined;
    this.whole = offered;
    this.parts = PARTS.map(part => ({
      id: part,
      ...PAGE_WORDS[part],
      kind: part === 'idle' ? 'idle' : part === 'computing' || part === 'other' ? 'computing' : 'overhead',
      name: '',
      seconds: parts[part],
      color: css(partColor(part, '', colors, surface.theme))
    }));
    if (filter.runs) this.ofChoice = 'Why threads were idle is not known of single attempts.';
    else this.note = whyNot(recording.hasEnded);
  }
}

/** Why idle time has no causes here, in words. */
function whyNot(ended: boolean): string {
  if (!ended) return 'Why threads were idle is being worked out.';
  return notWorkedOut('Why threads were idle');
}

/** Says that there is no bar, and what to do. */
function nothingLeft(whole: number): string {
  return whole > 0 ? '' : noneChosen('No thread time is in');
}

const NONE_OF: ReadonlySet<string> = new Set(['']);

/** Says what a choice of tasks leaves out that belongs to none. */
function leftOut(recording: Recording, rows: BudgetRows, filter: Filter, whole: number): string {
  const chosen = (['names', 'spans', 'cells', 'lines'] as const).find(each => filter[each]);
  if (!chosen) return '';
  const others = { ...filter, [chosen]: chosen === 'names' || chosen === 'spans' ? NONE_OF : undefined };
  const outside = chosenRows(recording, rows, others);
  if (others[chosen] === undefined) {
    for (let row = 0; row < rows.length; row++) outside[row] *= Number(rows.submission[row] === NOTHING);
  }
  const sum = sumOf(threadSeconds(rows, outside, filter.time));
  if (sum < 0.005 * (whole + sum)) return '';
  const what = { names: 'task', spans: 'span', cells: 'cell', lines: 'line' }[chosen];
  return `Left out: ${duration(sum)} of thread time for which no one ${what} is known.`;
}

/** Says how time is told by name where the rows know that of the whole run only. */
function roughly({ shares }: BudgetRows, { time, workers }: Filter): string {
  if (shares.names.length === 0 || (!time && !workers)) return '';
  return 'Some of this time is shared out among names as in the whole run.';
}

/** Whether time of functions stands for several threads in a row. */
function isSummed({ thread }: BudgetRows, { list, of }: Layers): boolean {
  const several = Uint8Array.from(thread.names, name => Number(name === ''));
  return thread.codes.some((code, row) => several[code] === 1 && list[of[row]].kind === 'computing');
}

/**
 * Gives the time of functions the shape that it has: the page knows it exactly,
 * the rows only by few bins. Whole and parts stay what they are.
 */
function sharpen(threads: readonly Float64Array[], { list }: Layers, busy: Float64Array): void {
  const computing = threads.filter((_, layer) => list[layer].kind === 'computing');
  for (let bin = 0; bin < busy.length; bin++) {
    const told = sumOf(computing, values => values[bin]);
    if (told <= 0) continue;
    for (const values of computing) values[bin] *= busy[bin] / told;
  }
}

/** Takes from what is no function time what would be more threads than there are: its bins are not those drawn. */
function limit(threads: readonly Float64Array[], { list }: Layers, most: number): void {
  const computing = threads.filter((_, layer) => list[layer].kind === 'computing');
  const other = threads.filter((_, layer) => list[layer].kind !== 'computing');
  for (let bin = 0; bin < (threads[0]?.length ?? 0); bin++) {
    const told = sumOf(other, values => values[bin]);
    const left = Math.max(0, most - sumOf(computing, values => values[bin]));
    if (told > left) for (const values of other) values[bin] *= left / told;
  }
}
