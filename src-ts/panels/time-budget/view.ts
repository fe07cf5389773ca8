import { type Grouping, groupingsOf } from '../../core/budget-groups';
import type { Stop } from '../../core/recording';
import { AXIS_HEIGHT, plotIn } from '../../draw/axis';
import type { Box, Pen } from '../../draw/pen';
import { textWidth } from '../../draw/text-width';
import { choice, element, setHidden, setOptions, setWords } from '../element';
import { Fold } from '../fold';
import { LayerChart } from '../layer-chart';
import { outline, stepped } from '../marks';
import { noTasks } from '../no-tasks';
import type { Direction, Mark, PanelContext, PanelView, TableRows } from '../panel';
import { workerLabel } from '../worker-label';
import { type Bar, drawBar, frameSegment, placeBar, segmentAt } from './bar';
import { BudgetFigures } from './figures';
import { type BudgetMark, lineMark, moreMark, partMark, placeOf } from './marks';
import {
  boxOf,
  drawLines,
  type Line,
  type Lines,
  labelsOf,
  lineAt,
  linesHeight,
  partOfLine,
  placeLines
} from './rows';
import { groupsTable, partsTable } from './table';

const SOURCE = 'time-budget';
/** Height of the chart, and the least where the place has a height of its own. */
const CHART = 76;
const LEAST = 40;
const GAP = 8;
/** Lines of a breakdown before a person asks for more. */
const FEW = 12;

type By = 'time' | Grouping;

const TITLES: Readonly<Record<By, string>> = {
  time: 'Over time',
  function: 'By task name',
  worker: 'By worker',
  cluster: 'By cluster',
  span: 'By span',
  cell: 'By cell',
  line: 'By line of code'
};

/** Column of the selection that a row of a breakdown is chosen by. */
const CLAUSES = {
  function: 'name',
  worker: 'worker',
  cluster: 'worker',
  span: 'span',
  cell: 'cell',
  line: 'line'
} as const;

export class TimeBudgetView implements PanelView {
  readonly controls: readonly HTMLElement[];
  readonly below = element('p', { class: 'di-budget-note' });
  /** In the head, where it takes no room: nothing moves under a pointer that has just chosen something. */
  private readonly aside: HTMLElement;
  private readonly select: HTMLSelectElement;
  private readonly figures: BudgetFigures;
  private readonly chart: LayerChart;
  private by: By = 'time';
  private readonly fold = new Fold(FEW);
  private bar: Bar = { segments: [], labels: [], lines: 0, height: 0 };
  /** Lines of labels where nothing is chosen; a choice has as many. */
  private resting: { readonly width: number; readonly lines: number } | undefined;
  private lines: Lines = { list: [], more: '', y: 0 };
  private readonly stop: Stop;

  constructor(private readonly context: PanelContext) {
    this.figures = new BudgetFigures(context);
    this.chart = new LayerChart(context, this.figures);
    // Of a run that goes on it changes all the time: it is not read out.
    this.aside = element('span', { class: 'di-note', role: context.live ? undefined : 'status' });
    this.select = choice<By>('Shared out', [['time', TITLES.time]], by => {
      this.by = by;
      context.surface.invalidate('layout');
    });
    this.controls = [this.aside, this.select];
    this.stop = context.recording.onAppend(({ table }) => {
      // What is half there does not wait for a pause between pictures.
      const matters = table === 'budget' || context.recording.isCut;
      if (matters && this.figures.isComing) context.surface.invalidate('layout');
    });
  }

  get ownAxis(): boolean {
    return this.shown !== 'time' || !this.hasChart;
  }

  /** The chart does; a list is as long as it is. */
  get fills(): boolean {
    return !this.ownAxis;
  }

  empty(): string | undefined {
    const { tasks, recording } = this.context;
    return tasks.count > 0 || recording.table('budget').rows > 0 ? undefined : noTasks(recording);
  }

  height(width: number): number {
    this.place(width);
    if (!this.hasChart) return this.bar.height;
    return (
      this.bar.height + GAP + (this.shown === 'time' ? CHART + AXIS_HEIGHT : linesHeight(this.lines) + 4)
    );
  }

  layout(): void {
    this.place(this.context.surface.width);
    this.offer();
    this.context.surface.element.setAttribute('aria-busy', String(this.figures.isComing));
    this.chart.renew(this.figures.version);
    setWords(this.below, this.figures.note);
    setHidden(this.below, this.figures.note === '');
    const ofChoice = this.figures.ofChoice || (this.shown === 'function' ? this.figures.rough : '');
    setWords(this.aside, ofChoice);
    this.aside.title = ofChoice;
  }

  plot(): Box {
    const { width, height } = this.context.surface;
    const y = this.bar.height + GAP;
    const room = Math.max(LEAST, height - y - AXIS_HEIGHT);
    return plotIn(width, y, this.shown === 'time' ? room : CHART);
  }

  draw(pen: Pen): void {
    const { surface, selection } = this.context;
    const { theme, width } = surface;
    drawBar(pen, this.bar, theme);
    if (!this.hasChart) return;
    if (this.shown !== 'time') {
      const chosen = new Set((selection.own(SOURCE, CLAUSES[this.shown]) ?? []).map(String));
      drawLines(pen, this.lines, this.figures.parts, chosen, width, theme);
      return;
    }
    this.chart.draw(pen, this.plot());
  }

  drawOverlay(pen: Pen, hovered: Mark | undefined): void {
    if (!hovered) return;
    const { theme } = this.context.surface;
    const { subject } = hovered as BudgetMark;
    if (subject.kind === 'part') {
      const found = this.bar.segments.find(({ part }) => part.id === subject.part?.id);
      if (found) frameSegment(pen, found, theme);
      return;
    }
    outline(pen, hovered, theme.muted);
  }

  pick(x: number, y: number): Mark | undefined {
    if (y < this.bar.height) {
      const segment = segmentAt(this.bar, x, y);
      return segment && partMark(this.figures, segment.part, segment.box);
    }
    if (!this.figures.told) return undefined;
    if (this.shown !== 'time') {
      const line = lineAt(this.lines, y);
      return line && this.lineMark(line, x);
    }
    const mark = this.chart.pick(x, y, this.plot());
    return (
      mark && ({ ...mark, subject: { kind: 'part', part: this.figures.parts[mark.part] } } as BudgetMark)
    );
  }

  move(from: Mark | undefined, direction: Direction): Mark | undefined {
    const marks = [
      ...this.bar.segments.map(({ part, box }) => partMark(this.figures, part, box)),
      ...(this.shown === 'time' ? [] : this.lines.list.map(line => this.lineMark(line, -1)))
    ];
    if (this.shown !== 'time' && this.lines.more) marks.push(this.lineMark('more', -1));
    const at = from ? marks.map(placeOf).indexOf(placeOf(from as BudgetMark)) : -1;
    return marks[stepped(at, direction, marks.length)];
  }

  choose(mark: Mark | undefined, { additive }: { readonly additive: boolean }): void {
    const subject = (mark as BudgetMark | undefined)?.subject;
    if (subject?.kind === 'more') {
      if (this.shown !== 'time') this.fold.ask(this.figures.groupsBy(this.shown).length, this.shown);
      this.context.surface.invalidate('layout');
    } else if (subject?.kind === 'row') {
      this.chooseRow(subject.line, additive);
    } else if (subject?.part?.name) {
      this.chooseValues('name', [subject.part.name], additive);
    }
  }

  rows(): TableRows {
    const { figures } = this;
    if (this.shown === 'time') return partsTable(figures.parts, figures.whole);
    const groups = figures.groupsBy(this.shown);
    return groupsTable(
      TITLES[this.shown].slice(3),
      groups,
      this.labels(this.shown),
      figures.parts,
      figures.whole
    );
  }

  dispose(): void {
    this.stop();
  }

  /** Something stands under the bar, or will in a moment, or did before a choice. */
  private get hasChart(): boolean {
    const { told, isComing, isSilent } = this.figures;
    return told !== undefined || isComing || isSilent;
  }

  /** What is shown under the bar. */
  private get shown(): By {
    return this.figures.told ? this.by : 'time';
  }

  private place(width: number): void {
    const { figures } = this;
    figures.read();
    const lines = this.resting?.width === width ? this.resting.lines : undefined;
    const { selection, surface } = this.context;
    const isChosen = selection.clauses.length > 0;
    const text = textWidth(`12px ${surface.theme.font}`);
    this.bar = placeBar(figures.parts, figures.whole, width, text, isChosen ? lines : undefined);
    if (!isChosen) this.resting = { width, lines: this.bar.lines };
    if (this.shown === 'time') return;
    const groups = figures.groupsBy(this.shown);
    const { length } = groups;
    const shown = groups.slice(0, this.fold.drawn(length, this.shown));
    const more = this.fold.isLong(length) ? this.fold.words(length, 'row', this.shown) : '';
    this.lines = placeLines(shown, more, this.labels(this.shown), this.bar.height + GAP);
  }

  private labels(by: Grouping): Map<string, string> {
    const { recording, tasks } = this.context;
    return labelsOf(recording, this.figures.groupsBy(by), by, worker => workerLabel(tasks, worker));
  }

  /** Offers what there is to share the time out by. */
  private offer(): void {
    const { told } = this.figures;
    setHidden(this.select, !this.hasChart);
    if (!told) return;
    const offered: By[] = ['time', ...groupingsOf(this.context.recording, told.rows)];
    setOptions(
      this.select,
      offered.map(by => [by, TITLES[by]])
    );
    this.by = this.select.value as By;
  }

  private chooseRow({ group }: Line, additive: boolean): void {
    if (this.shown === 'time' || group.key === '') return;
    this.chooseValues(CLAUSES[this.shown], group.ids, additive);
  }

  private chooseValues(
    column: (typeof CLAUSES)[Grouping],
    texts: readonly string[],
    additive: boolean
  ): void {
    const { selection } = this.context;
    if (column === 'cell') selection.choose(SOURCE, column, texts.map(Number), additive);
    else selection.choose(SOURCE, column, texts, additive);
  }

  private lineMark(line: Line | 'more', x: number): BudgetMark {
    const { width } = this.context.surface;
    if (line === 'more') return moreMark(this.lines.more, boxOf(this.lines.y, width));
    const part = partOfLine(this.lines, line, x, width);
    return lineMark(this.figures, line, part, boxOf(line.y, width));
  }
}
