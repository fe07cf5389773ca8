import { BinCache, type Cached } from '../../core/bin-cache';
import { binned } from '../../core/series';
import { sumOf } from '../../core/sum-of';
import { timeOf } from '../../core/task-filter';
import { drawTimeGrid, gutterOf, plotIn } from '../../draw/axis';
import type { Box, Pen } from '../../draw/pen';
import type { Scale } from '../../draw/viewport';
import { clip, drawRowFrame, drawUnknown, isNarrow, NARROW_TITLE, rowScale } from '../chart-row';
import { choice, element, setWords } from '../element';
import { heatHeight, heatMark } from '../heat';
import { peakOf } from '../layers';
import { outline, picked } from '../marks';
import type { Direction, Mark, PanelContext, PanelView, TableRows } from '../panel';
import { timeMarks } from '../time-axis';
import { resourceMark } from './card';
import { drawMap, drawProcess, drawRow, layersOf, partsOf, type Row } from './draw-row';
import { Drawn } from './drawn';
import { ALL, absentWords, type Group, MORE_OFTEN, processLabel, ResourceFigures, workerOf } from './figures';
import { MEASURES, type Measure, type MeasureColumn, TOTAL } from './measures';
import { measureMenu } from './menu';
import { resourceTable } from './table';

const GAP = 12;
const HEIGHTS: Readonly<Record<Measure['style'], number>> = { line: 44, mirror: 58, stack: 56 };

type Look = 'lines' | 'map';

export class ResourcesView implements PanelView {
  readonly controls: readonly HTMLElement[];
  /** Of which measures nothing is there. */
  readonly below = element('div', { class: 'di-note' });
  private readonly group: HTMLSelectElement;
  private look: Look = 'lines';
  private readonly shown = new Set(MEASURES.filter(measure => measure.usual).map(measure => measure.id));
  private readonly cache = new BinCache<Drawn>();
  private readonly figures: ResourceFigures;
  private rowsDrawn: readonly Row[] = [];

  constructor(private readonly context: PanelContext) {
    this.figures = new ResourceFigures(context);
    const changed = (): void => context.surface.invalidate('layout');
    this.group = choice<Group>(
      'Processes',
      [
        ['workers', 'Workers'],
        ['scheduler', 'Scheduler'],
        ['client', 'Client']
      ],
      group => {
        this.figures.chosenGroup = group;
        changed();
      }
    );
    this.controls = [
      this.group,
      choice<Look>(
        'Drawn as',
        [
          ['lines', 'Lines'],
          ['map', 'Heat map']
        ],
        look => {
          this.look = look;
          changed();
        }
      ),
      measureMenu(this.figures, this.shown, changed)
    ];
  }

  empty(): string | undefined {
    const { recording } = this.context;
    if (recording.table('resources').rows + recording.table('gpus').rows > 0) return undefined;
    return recording.hasEnded
      ? `No samples of CPU, memory or network. ${MORE_OFTEN}`
      : 'No samples of CPU, memory or network have come yet.';
  }

  height(width: number): number {
    this.figures.read();
    const title = this.titleHeight(gutterOf(width));
    const rows = sumOf(this.chosen(), measure => title + this.rowHeight(measure) + GAP);
    return Math.max(8, rows + 4);
  }

  shows(): string {
    return `of the ${this.figures.chosenGroup}`;
  }

  layout(): void {
    const { figures } = this;
    figures.read();
    // Where there are no workers, another group is shown.
    this.group.value = figures.chosenGroup;
    this.cache.renew(figures.version);
    setWords(this.below, absentWords(figures));
    const plot = this.plot();
    const title = this.titleHeight(plot.x);
    let y = 4;
    this.rowsDrawn = this.chosen().map(measure => {
      const height = this.rowHeight(measure);
      const box = { ...plot, y: y + title, height };
      y += title + height + GAP;
      const scale = rowScale(box, this.mostShown(measure), this.isMirrored(measure));
      return { measure, series: figures.seriesOf(measure), scale };
    });
  }

  plot(): Box {
    const { width, height } = this.context.surface;
    return plotIn(width, 0, Math.max(1, height - 4));
  }

  boxes(): readonly Box[] {
    return this.rowsDrawn.map(({ scale }) => scale.box);
  }

  draw(pen: Pen): void {
    const { surface, viewport } = this.context;
    const { theme } = surface;
    const plot = this.plot();
    const scale = viewport.scale(plot.width, surface.ratio);
    drawTimeGrid(pen, plot, scale, viewport.origin, timeMarks(scale, viewport.origin), theme);
    this.rowsDrawn = this.rowsDrawn.map(row => this.raised(row, scale));
    for (const row of this.rowsDrawn) {
      const { measure } = row;
      const { box } = row.scale;
      const kept = this.bins(row, measure.columns[0].column, scale);
      if (this.look === 'map') drawMap(pen, row, this.labelOf(row), scale, kept, theme);
      else {
        const parts = partsOf(measure, theme);
        drawRowFrame(pen, row.scale, measure.title, measure.unit, theme, this.isMirrored(measure), parts);
        clip(pen, box);
        drawRow(pen, row, scale, this.bins, new Set(this.figures.chosen(row.series)), theme);
        pen.restore();
      }
      drawUnknown(pen, box, scale, kept, kept.value.known, theme);
    }
  }

  drawOverlay(pen: Pen, hovered: Mark | undefined): void {
    const { surface, viewport } = this.context;
    if (this.look === 'map') {
      outline(pen, hovered, surface.theme.text);
      return;
    }
    if (!hovered) return;
    const [measure, name] = String(hovered.id).split('\n');
    const row = this.rowsDrawn.find(each => each.measure.id === measure);
    const process = row?.series.names.indexOf(name) ?? -1;
    if (!row || process < 0 || row.measure.style === 'stack') return;
    clip(pen, row.scale.box);
    pen.strokeStyle = surface.theme.accent;
    pen.lineWidth = 1.75;
    drawProcess(pen, row, viewport.scale(row.scale.box.width, surface.ratio), this.bins, process);
    pen.restore();
  }

  pick(x: number, y: number): Mark | undefined {
    const row = this.rowsDrawn.find(({ scale: { box } }) => y >= box.y - 4 && y <= box.y + box.height + 4);
    if (!row || x < row.scale.box.x || x > row.scale.box.x + row.scale.box.width) return undefined;
    const { viewport, surface } = this.context;
    const { box } = row.scale;
    const scale = viewport.scale(box.width, surface.ratio);
    const time = scale.time(x - box.x);
    const markOf = (process: number, box: Box): Mark => {
      const place = { time, origin: viewport.origin, x, box };
      return resourceMark(this.context, this.figures, row, this.chosen('map'), process, place);
    };
    if (this.look === 'map') {
      const kept = this.bins(row, row.measure.columns[0].column, scale);
      return heatMark(box, y, time, kept, kept.value.known, markOf);
    }
    const process = this.nearest(row, time, y);
    return process === undefined ? undefined : markOf(process, box);
  }

  move(from: Mark | undefined, direction: Direction): Mark | undefined {
    return picked(this, this.context.viewport, from, direction);
  }

  choose(mark: Mark | undefined, { additive }: { readonly additive: boolean }): void {
    if (!mark || this.figures.chosenGroup !== 'workers') return;
    const name = workerOf(String(mark.id).split('\n')[1]);
    if (name) this.context.selection.choose('resources', 'worker', [name], additive);
  }

  rows(): TableRows {
    const { recording, selection } = this.context;
    const time = timeOf(recording, selection.filter());
    return resourceTable(this.context, this.chosen('map'), this.figures, time);
  }

  private readonly bins = (row: Row, column: MeasureColumn, scale: Scale): Cached<Drawn> => {
    const { measure, series } = row;
    // Layers are of the same bins, all of them; of a map there is one column alone.
    return this.cache.get(
      `${this.look} ${measure.id}.${column}`,
      scale,
      this.context.viewport.moving,
      (from, to, bins) => {
        const values = this.figures.values(measure, column);
        const as = this.look === 'lines' && measure.style === 'stack' ? 'stack' : this.look;
        return new Drawn(
          as === 'stack' ? this.figures.summands(measure) : [...series.names.keys()],
          as,
          bins,
          process => binned(series, values, process, from, to, bins)
        );
      }
    );
  };

  /** Layers of finer bins may reach higher than the axis that was made of the whole time. */
  private raised(row: Row, time: Scale): Row {
    const { measure, scale } = row;
    if (this.look === 'map' || measure.style !== 'stack') return row;
    const most = this.figures.mostOf(measure, peakOf(layersOf(row, time, this.bins)));
    return { ...row, scale: rowScale(scale.box, most) };
  }

  private isMirrored(measure: Measure): boolean {
    return measure.style === 'mirror' && this.look === 'lines';
  }

  private mostShown(measure: Measure): number {
    const { figures } = this;
    if (this.look === 'lines') return figures.mostOf(measure);
    return figures.mostOfColumn(measure, measure.columns[0].column);
  }

  /** What is shown; in a map, as of each process, there is no total. */
  private chosen(look = this.look): readonly Measure[] {
    const { figures, shown } = this;
    return figures.measures.filter(
      each => shown.has(each.id) && figures.has(each) && (look === 'lines' || each.id !== TOTAL)
    );
  }

  private rowHeight(measure: Measure): number {
    if (this.look === 'lines') return HEIGHTS[measure.style];
    return heatHeight(this.figures.seriesOf(measure).names.length);
  }

  /** Beside a map stand its processes, so that what it is of stands over it. */
  private titleHeight(gutter: number): number {
    return isNarrow(gutter) || this.look === 'map' ? NARROW_TITLE : 0;
  }

  private labelOf({ series }: Row): (process: number) => string {
    return process => processLabel(this.context, series.names[process]);
  }

  /** The process whose line is nearest; layers are of several together. Undefined if nothing is known then. */
  private nearest({ measure, series, scale }: Row, time: number, y: number): number | undefined {
    const summed = this.figures.summed(series);
    const processes =
      measure.style === 'stack' ? (summed.length > 1 ? [ALL] : summed) : [...series.names.keys()];
    let best: number | undefined;
    let distance = Number.POSITIVE_INFINITY;
    measure.columns.forEach(({ column }, at) => {
      const sign = this.isMirrored(measure) && at === 1 ? -1 : 1;
      for (const process of processes) {
        const away = Math.abs(scale.y(sign * this.figures.at(measure, column, process, time)) - y);
        if (!(away < distance)) continue;
        distance = away;
        best = process;
      }
    });
    return best;
  }
}
