import { amountsOf, type Bar, unitsOf } from '../../core/fine-metrics';
import { amount, nameOrNone, share, shortened } from '../../core/format';
import { sumOf } from '../../core/sum-of';
import { AXIS_HEIGHT, plotIn } from '../../draw/axis';
import { css } from '../../draw/palette';
import { type Box, type Pen, writeWith } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import { NARROW_TITLE } from '../chart-row';
import { choice, element, setHidden, setOptions, setWords } from '../element';
import { Fold } from '../fold';
import { LayerChart } from '../layer-chart';
import { FADED, outline, stepped, worded } from '../marks';
import { noneChosen, noneOf } from '../no-tasks';
import type { Direction, Mark, PanelContext, PanelView, TableRows } from '../panel';
import { number, tableOf, text } from '../things';
import { activityColor } from './colors';
import { Execution } from './execution';
import { type Group, groupsOf } from './groups';
import { activityWords } from './words';

const ROW = 20;
const HEAD = 26;
const GAP = 10;
/** Height of the chart over time. */
const CHART = 76;
/** Bars shown of a group before a person asks for more. */
const FEW = 12;

interface Line {
  readonly group: Group;
  /** Index of the bar; -1 is the group's heading, `bars.length` the line for the rest. */
  readonly bar: number;
  readonly y: number;
}

export class FineMetricsView implements PanelView {
  readonly controls: readonly HTMLElement[];
  private readonly unit: HTMLSelectElement;
  private readonly aside = element('span', { class: 'di-note', role: 'status' });
  private known = '';
  private groups: readonly Group[] = [];
  private lines: readonly Line[] = [];
  private readonly fold = new Fold(FEW);
  private readonly execution: Execution;
  private readonly chart: LayerChart;

  constructor(private readonly context: PanelContext) {
    this.execution = new Execution(context);
    this.chart = new LayerChart(context, this.execution);
    this.unit = choice('Unit', [], () => context.surface.invalidate('layout'));
    this.controls = [this.aside, this.unit];
  }

  get ownAxis(): boolean {
    return this.execution.most === 0;
  }

  empty(): string | undefined {
    if (this.context.recording.table('metrics').rows === 0) {
      return noneOf(
        this.context,
        'No fine performance metrics were recorded: only distributed workers have them, once a task has ended.'
      );
    }
    this.read();
    if (this.groups.length > 0) return undefined;
    return noneChosen(`Nothing was measured in ${this.unit.value} in`);
  }

  height(): number {
    return Math.max(80, this.placed().height);
  }

  layout(): void {
    this.read();
    this.lines = this.placed().lines;
  }

  plot(): Box {
    return plotIn(this.context.surface.width, NARROW_TITLE, CHART);
  }

  draw(pen: Pen): void {
    if (!this.ownAxis) this.chart.draw(pen, this.plot());
    const { theme } = this.context.surface;
    const own = new Set(this.context.selection.own('fine-metrics', 'name'));
    for (const line of this.lines) {
      if (line.bar < 0) this.drawHead(pen, line, theme);
      else if (line.bar < line.group.bars.length) this.drawBar(pen, line, own, theme);
      else this.drawRest(pen, line, theme);
    }
  }

  drawOverlay(pen: Pen, hovered: Mark | undefined): void {
    const line = this.lineOf(hovered);
    outline(pen, line && this.mark(line), this.context.surface.theme.muted);
  }

  pick(x: number, y: number): Mark | undefined {
    const line = this.lines.find(each => each.bar >= 0 && y >= each.y && y < each.y + ROW);
    if (line) return this.mark(line);
    return this.ownAxis ? undefined : this.chart.pick(x, y, this.plot());
  }

  move(from: Mark | undefined, direction: Direction): Mark | undefined {
    const lines = this.lines.filter(line => line.bar >= 0);
    const at = lines.findIndex(line => idOf(line) === from?.id);
    const next = lines[stepped(at, direction, lines.length)];
    return next && this.mark(next);
  }

  choose(mark: Mark | undefined, { additive }: { readonly additive: boolean }): void {
    const line = this.lineOf(mark);
    if (!line) return;
    const { selection, surface } = this.context;
    if (line.bar === line.group.bars.length) {
      this.fold.ask(line.bar, line.group.id);
      surface.invalidate('layout');
      return;
    }
    if (!line.group.named) return;
    selection.choose('fine-metrics', 'name', [line.group.bars[line.bar].label], additive);
  }

  private lineOf(mark: Mark | undefined): Line | undefined {
    return this.lines.find(line => idOf(line) === mark?.id);
  }

  rows(): TableRows {
    const unit = this.unit.value;
    return tableOf(amountsOf(this.context.recording, unit, this.context.selection.filter()), [
      text('Context', ({ context }) => context),
      text('Task name', ({ name }) => name),
      text('Activity', ({ activity }) => activity),
      number(
        unit,
        ({ value }) => value,
        value => this.said(value)
      )
    ]);
  }

  private read(): void {
    const { recording, selection } = this.context;
    const units = unitsOf(recording);
    setOptions(
      this.unit,
      units.map(unit => [unit, unit])
    );
    setHidden(this.unit, units.length <= 1);
    const known = [recording.state('metrics', 'clocks'), this.unit.value, selection.save()].join();
    if (known === this.known) return;
    this.known = known;
    const { runs, lines } = selection.filter();
    setWords(this.aside, runs || lines ? 'Not measured by attempt or line of code.' : '');
    this.groups = groupsOf(recording, this.unit.value, selection);
    this.execution.read(this.unit.value);
    this.chart.renew(known);
  }

  private placed(): { readonly lines: readonly Line[]; readonly height: number } {
    const lines: Line[] = [];
    let y = this.ownAxis ? 0 : NARROW_TITLE + CHART + AXIS_HEIGHT + GAP;
    for (const group of this.groups) {
      lines.push({ group, bar: -1, y });
      y += HEAD;
      const { length } = group.bars;
      const drawn = this.fold.drawn(length, group.id);
      for (let bar = 0; bar < drawn; bar++, y += ROW) lines.push({ group, bar, y });
      if (this.fold.isLong(length)) {
        lines.push({ group, bar: length, y });
        y += ROW;
      }
      y += GAP;
    }
    return { lines, height: y };
  }

  /** Counts are whole, also of a part of the time in which they were made. */
  private said(value: number): string {
    const unit = this.unit.value;
    return amount(unit === 'count' ? Math.round(value) : value, unit);
  }

  private drawHead(pen: Pen, { group, y }: Line, theme: Theme): void {
    writeWith(pen, theme);
    pen.fillStyle = theme.muted;
    pen.fillText(`${group.title}, ${this.said(totalOf(group.bars))}`, 0, y + HEAD / 2 + 2);
  }

  private drawBar(pen: Pen, { group, bar: at, y }: Line, own: ReadonlySet<string>, theme: Theme): void {
    const bar = group.bars[at];
    const { width } = this.context.surface;
    const labels = Math.round(Math.min(200, width * 0.36));
    const values = 76;
    const room = Math.max(10, width - labels - values);
    const most = group.bars[0].total || 1;
    const faded = group.named && own.size > 0 && !own.has(bar.label);
    const text = writeWith(pen, theme);
    pen.fillStyle = faded ? theme.muted : theme.text;
    pen.fillText(text.fittedEnds(titleOf(group, bar), labels - 10), 0, y + ROW / 2);
    pen.globalAlpha = faded ? FADED : 1;
    let x = labels;
    for (const part of bar.parts) {
      const length = (Math.max(0, part.value) / most) * room;
      pen.fillStyle = css(activityColor(part.label, theme));
      pen.fillRect(x, y + 4, Math.max(length, part === bar.parts[0] ? 1 : 0), ROW - 8);
      x += length;
    }
    pen.globalAlpha = 1;
    pen.fillStyle = theme.muted;
    const end = Math.max(x, labels + 1) + 6;
    pen.fillText(text.fitted(this.said(bar.total), width - end), end, y + ROW / 2);
  }

  private drawRest(pen: Pen, { group, y }: Line, theme: Theme): void {
    const { length } = group.bars;
    const hidden = group.bars.slice(this.fold.drawn(length, group.id));
    writeWith(pen, theme);
    pen.fillStyle = theme.accent;
    const words = this.fold.isOpen(length, group.id)
      ? this.fold.words(length, 'bar', group.id)
      : `${hidden.length} more, ${this.said(totalOf(hidden))}`;
    pen.fillText(words, 0, y + ROW / 2);
  }

  private mark(line: Line): Mark {
    const { group, bar: at, y } = line;
    const box: Box = { x: 0, y, width: this.context.surface.width, height: ROW };
    if (at === group.bars.length) {
      return worded(idOf(line), this.fold.words(at, 'bar', group.id), box);
    }
    const bar = group.bars[at];
    const label = titleOf(group, bar);
    const total = totalOf(group.bars);
    const parts = bar.parts.filter(part => part.label !== bar.label);
    const own = this.said(bar.total) + (total > 0 ? ` (${share(bar.total / total)})` : '');
    return {
      id: idOf(line),
      box,
      card: () => ({
        title: label,
        groups: [
          [
            { label: group.title, value: own },
            ...(label === bar.label || !bar.label ? [] : [{ label: 'Dask’s name', value: bar.label }])
          ],
          parts.slice(0, 12).map(part => ({
            label: shortened(activityWords(part.label), 34),
            value: `${this.said(part.value)} (${share(part.value / bar.total)})`
          }))
        ]
      }),
      words: () => `${group.title}: ${label}, ${own}`
    };
  }
}

function totalOf(bars: readonly Bar[]): number {
  return sumOf(bars, ({ total }) => total);
}

function titleOf({ id }: Group, { label }: Bar): string {
  return nameOrNone(id === 'activity' ? activityWords(label) : label);
}

/** By what it is, not by where: bars change their places as a run goes on. */
function idOf({ group, bar }: Line): string {
  return JSON.stringify([group.id, group.bars[bar]?.label ?? bar < 0]);
}
