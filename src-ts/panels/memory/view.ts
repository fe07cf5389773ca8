import { BinCache, type Cached } from '../../core/bin-cache';
import { Bursts } from '../../core/bursts';
import { bytes } from '../../core/format';
import type { Means } from '../../core/series';
import { stretchesOf, stretchKind } from '../../core/stretches';
import { timeOf } from '../../core/task-filter';
import { AXIS_HEIGHT, plotIn } from '../../draw/axis';
import { type Box, holds, type Pen } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import type { Scale } from '../../draw/viewport';
import { drawUnknown, type RowScale, rowScale } from '../chart-row';
import { choice, element, setHidden, setWords } from '../element';
import { drawHeat, heatHeight, heatMark } from '../heat';
import { peakOf, stacked } from '../layers';
import { outline, picked } from '../marks';
import { noneChosen, noneOf } from '../no-tasks';
import type { Direction, Mark, PanelContext, PanelView, Sign, TableRows } from '../panel';
import { drawTimes } from '../time-axis';
import { AlignedRuns } from './aligned';
import { ByName } from './by-name';
import { memoryMark, memoryTable } from './card';
import { MEASURES, type MemoryColumn, MemoryFigures } from './figures';
import { drawStack, drawStackLegend } from './stack';

type Look = 'cluster' | 'workers' | 'names';
type Runs = 'whole' | 'aligned';

const NO_MEASURES = 'No memory measures were recorded: only a distributed scheduler has them.';
const HEIGHT = 132;
const LEGEND = 20;

export class MemoryView implements PanelView {
  readonly controls: readonly HTMLElement[];
  readonly below = element('p', { class: 'di-note' });
  private look: Look = 'cluster';
  private runs: Runs = 'whole';
  private readonly looks: HTMLSelectElement;
  private readonly alignment: HTMLSelectElement;
  private readonly cache = new BinCache<readonly Means[]>();
  private readonly figures: MemoryFigures;
  private readonly bursts: Bursts;
  private readonly aligned = new AlignedRuns();
  private readonly byName: ByName;
  private scale: RowScale = rowScale({ x: 0, y: 0, width: 1, height: 1 }, 1);

  constructor(private readonly context: PanelContext) {
    this.figures = new MemoryFigures(context);
    this.bursts = new Bursts(context.tasks);
    this.byName = new ByName(context);
    const changed = (): void => context.surface.invalidate('layout');
    this.alignment = choice<Runs>(
      'Time axis',
      [
        ['whole', 'Whole recording'],
        ['aligned', 'Runs from their start']
      ],
      runs => {
        this.runs = runs;
        changed();
      }
    );
    this.looks = choice<Look>(
      'Memory of',
      [
        ['cluster', 'Sum of workers'],
        ['workers', 'Each worker'],
        ['names', 'Results by task name']
      ],
      look => {
        this.look = look;
        changed();
      }
    );
    this.alignment.hidden = true;
    this.controls = [this.alignment, this.looks];
  }

  get ownAxis(): boolean {
    return this.runs === 'aligned';
  }

  empty(): string | undefined {
    this.figures.read();
    if (this.figures.included.length > 0 || (this.showsNames && this.byName.some)) return undefined;
    if (this.hasMeasures) return noneChosen('No memory sample of');
    return noneOf(this.context, NO_MEASURES);
  }

  height(): number {
    this.figures.read();
    return LEGEND + (this.isMap ? heatHeight(this.figures.series.names.length) : HEIGHT) + AXIS_HEIGHT;
  }

  layout(): void {
    const { figures, context } = this;
    figures.read();
    this.bursts.update();
    const kind = stretchKind(context.tasks, this.bursts);
    setHidden(this.alignment, kind === undefined);
    if (kind === undefined) this.runs = 'whole';
    this.alignment.value = this.runs;
    setHidden(this.looks, this.ownAxis || !this.hasMeasures);
    const box = this.plot();
    if (this.showsNames) this.byName.read();
    const lack = this.hasMeasures ? '' : noneOf(context, NO_MEASURES);
    setWords(this.below, this.showsNames ? `${lack} ${this.byName.note}`.trim() : '');
    if (this.showsNames) return;
    if (kind && this.ownAxis) {
      this.aligned.layout(stretchesOf(kind, context.tasks, this.bursts), figures, box);
      return;
    }
    this.cache.renew(figures.version);
    this.scale = rowScale(box, this.look === 'cluster' ? figures.mostOfSum() : figures.mostOfOne());
  }

  plot(): Box {
    const { width, height } = this.context.surface;
    return plotIn(width, LEGEND, Math.max(1, height - LEGEND - AXIS_HEIGHT));
  }

  draw(pen: Pen): void {
    const { surface, viewport } = this.context;
    const { theme } = surface;
    if (this.ownAxis) {
      this.aligned.draw(pen, theme);
      return;
    }
    const box = this.plot();
    const scale = viewport.scale(box.width, surface.ratio);
    if (this.showsNames) {
      this.byName.draw(pen, box, theme);
      return;
    }
    drawTimes(pen, box, scale, viewport.origin, theme);
    const { figures, look } = this;
    if (look === 'workers') {
      this.drawMap(pen, scale, theme);
    } else {
      const layers = stacked(MEASURES.map(({ column }) => this.bins(column, scale).value[0] as Float64Array));
      this.scale = rowScale(box, figures.mostOfSum(peakOf(layers)));
      drawStackLegend(pen, this.scale, figures.limitOf(figures.included), theme);
      drawStack(pen, this.scale, scale, figures, this.bins('managed', scale), layers, theme);
    }
    const known = this.bins(look === 'workers' ? 'process' : 'managed', scale);
    drawUnknown(pen, box, scale, known, known.value, theme);
  }

  drawOverlay(pen: Pen, hovered: Mark | undefined): void {
    const { theme } = this.context.surface;
    if (hovered && this.ownAxis) this.aligned.drawOverlay(pen, hovered, theme);
    else if (this.isMap) outline(pen, hovered, theme.text);
  }

  pick(x: number, y: number): Mark | undefined {
    const { viewport, surface } = this.context;
    if (this.ownAxis) return this.aligned.pick(x, y, surface.theme);
    const box = this.plot();
    if (this.showsNames) return this.byName.pick(x, y, box, viewport.scale(box.width, surface.ratio));
    if (!holds(box, x, y)) return undefined;
    const scale = viewport.scale(box.width, surface.ratio);
    const time = scale.time(x - box.x);
    const { figures } = this;
    const markOf = (processes: readonly number[], box: Box): Mark =>
      memoryMark(figures, processes, time, viewport.origin, x, box);
    if (!this.isMap) return markOf(figures.included, box);
    const bins = this.bins('process', scale);
    return heatMark(box, y, time, bins, bins.value, (process, line) => markOf([process], line));
  }

  move(from: Mark | undefined, direction: Direction): Mark | undefined {
    return picked(this, this.context.viewport, from, direction);
  }

  /** A run narrows the other panels to its time, a worker to itself. */
  choose(mark: Mark | undefined, { additive }: { readonly additive: boolean }): void {
    if (!mark) return;
    const { selection } = this.context;
    if (this.ownAxis) {
      const run = this.aligned.runOf(mark);
      if (run)
        selection.set({ source: 'memory', column: 'time', value: { start: run.start, stop: run.stop } });
      return;
    }
    if (this.showsNames) {
      const name = this.byName.nameOf(mark);
      if (name) selection.choose('memory', 'name', [name], additive);
      return;
    }
    if (this.look === 'cluster') return;
    const name = String(mark.id).split('\n')[0];
    selection.choose('memory', 'worker', [name], additive);
  }

  private get hasMeasures(): boolean {
    return this.context.recording.table('memory').rows > 0;
  }

  private get isMap(): boolean {
    return this.look === 'workers' && !this.ownAxis && this.hasMeasures;
  }

  private get showsNames(): boolean {
    return !this.ownAxis && (this.look === 'names' || !this.hasMeasures);
  }

  signs(): Sign[] {
    const { theme } = this.context.surface;
    if (this.showsNames) return this.byName.signs(theme);
    return this.ownAxis ? this.aligned.signs(theme) : [];
  }

  rows(): TableRows {
    const { recording, selection } = this.context;
    if (this.showsNames) return this.byName.rows();
    return memoryTable(this.figures, recording, timeOf(recording, selection.filter()));
  }

  private drawMap(pen: Pen, scale: Scale, theme: Theme): void {
    const bins = this.bins('process', scale);
    const title = `Process memory, up to ${bytes(this.scale.most)}`;
    const label = (at: number): string => this.figures.titleOf([at]);
    drawHeat(pen, this.scale, title, label, scale, bins, bins.value, theme);
  }

  /** Process memory is of each worker, all else of those together that are looked at. */
  private bins(column: MemoryColumn, scale: Scale): Cached<readonly Means[]> {
    const { figures } = this;
    return this.cache.get(column, scale, this.context.viewport.moving, (...window) =>
      column === 'process'
        ? figures.series.names.map((_, worker) => figures.means(column, worker, ...window))
        : [figures.sum(column, ...window)]
    );
  }
}
