import { BinCache, type Cached, type Window } from '../core/bin-cache';
import { clock, duration, plural, timeTicks } from '../core/format';
import { type Band, type Binned, band, binned, type Series, seriesOf, summed, valueAt } from '../core/series';
import { timeOf } from '../core/task-filter';
import { drawTimeGrid, gutterOf, MARGIN } from '../draw/axis';
import { css, mixed, slotColor } from '../draw/palette';
import type { Box, Pen } from '../draw/pen';
import { TextWidth } from '../draw/text-width';
import type { Theme } from '../draw/theme';
import type { Scale } from '../draw/viewport';
import {
  drawArea,
  drawBand,
  drawLine,
  drawRowFrame,
  isNarrow,
  NARROW_TITLE,
  type RowScale,
  rowScale
} from './chart-row';
import { choice } from './element';
import { drawHeat, heatHeight } from './heat';
import { isThere, MEASURES, type Measure, type MeasureColumn, valuesOf, wordsOf } from './measures';
import type { Mark, PanelContext, PanelView, TableRows } from './panel';
import { resourceTable } from './resource-table';

/** More processes than this are drawn as a band with the chosen ones on it. */
const MOST_LINES = 8;

const GAP = 12;
const HEIGHTS: Readonly<Record<Measure['style'], number>> = { line: 44, mirror: 58, stack: 56 };

type Group = 'workers' | 'scheduler' | 'client';
type Look = 'lines' | 'map';

interface Row {
  readonly measure: Measure;
  readonly series: Series;
  readonly scale: RowScale;
}

/** What is kept of one column, bin by bin. */
interface Drawn {
  readonly values: Binned;
  readonly band: Band | undefined;
  readonly sum: Float64Array | undefined;
}

export class ResourcesView implements PanelView {
  readonly controls: readonly HTMLElement[];
  private group: Group | undefined;
  private look: Look = 'lines';
  private readonly shown = new Set(MEASURES.filter(measure => measure.usual).map(measure => measure.id));
  private readonly cache = new BinCache<Drawn>();
  private known = '';
  private series = { resources: nothing(), gpus: nothing() };
  private there: readonly Measure[] = [];
  private most = new Map<string, number>();
  private rowsDrawn: readonly Row[] = [];
  private text: TextWidth | undefined;

  constructor(
    private readonly context: PanelContext,
    menu: (context: PanelContext, shown: Set<string>, changed: () => void) => HTMLElement
  ) {
    const changed = (): void => context.surface.invalidate('layout');
    this.controls = [
      choice<Group>(
        'Processes',
        [
          ['workers', 'Workers'],
          ['scheduler', 'Scheduler'],
          ['client', 'Client']
        ],
        'workers',
        group => {
          this.group = group;
          changed();
        }
      ),
      choice<Look>(
        'Drawn as',
        [
          ['lines', 'Lines'],
          ['map', 'Heat map']
        ],
        'lines',
        look => {
          this.look = look;
          changed();
        }
      ),
      menu(context, this.shown, changed)
    ];
  }

  empty(): string | undefined {
    const { recording } = this.context;
    if (recording.table('resources').rows + recording.table('gpus').rows > 0) return undefined;
    return 'No samples of CPU, memory or network were recorded (`resources=None`), or the run was too short for one.';
  }

  height(width: number): number {
    this.read();
    const rows = this.chosen();
    const title = isNarrow(gutterOf(width)) ? NARROW_TITLE : 0;
    const heights = rows.map(measure => title + this.rowHeight(measure) + GAP);
    return Math.max(28, heights.reduce((a, b) => a + b, 0) + (this.absent() && width > 0 ? 20 : 4));
  }

  layout(): void {
    this.read();
    const { surface } = this.context;
    const x = gutterOf(surface.width);
    const width = Math.max(1, surface.width - x - MARGIN);
    const title = isNarrow(x) ? NARROW_TITLE : 0;
    let y = 4;
    this.rowsDrawn = this.chosen().map(measure => {
      const height = this.rowHeight(measure);
      y += title;
      const box = { x, y, width, height };
      y += height + GAP;
      const mirrored = measure.style === 'mirror' && this.look === 'lines';
      return {
        measure,
        series: this.series[measure.table],
        scale: rowScale(box, this.mostShown(measure), mirrored)
      };
    });
  }

  plot(): Box {
    const { width, height } = this.context.surface;
    const x = gutterOf(width);
    const note = this.absent() ? 20 : 4;
    return { x, y: 0, width: Math.max(1, width - x - MARGIN), height: Math.max(1, height - note) };
  }

  draw(pen: Pen): void {
    const { surface, viewport } = this.context;
    const { theme } = surface;
    const plot = this.plot();
    const scale = viewport.scale(plot.width, surface.ratio);
    const marks = timeTicks(
      scale.start - viewport.origin,
      scale.stop - viewport.origin,
      Math.max(2, plot.width / 110)
    );
    drawTimeGrid(pen, plot, scale, viewport.origin, marks, theme);
    for (const row of this.rowsDrawn) {
      const mirrored = row.measure.style === 'mirror' && this.look === 'lines';
      const unit = this.look === 'map' ? '' : row.measure.unit;
      if (this.look === 'map') this.drawMapFrame(pen, row);
      else
        drawRowFrame(pen, row.scale, row.measure.title, unit, mirrored, theme, partsOf(row.measure, theme));
      pen.save();
      pen.beginPath();
      pen.rect(plot.x, row.scale.box.y - 1, plot.width, row.scale.box.height + 2);
      pen.clip();
      if (this.look === 'map') this.drawMap(pen, row, scale);
      else this.drawRow(pen, row, scale);
      pen.restore();
    }
    const absent = this.absent();
    if (absent) {
      pen.font = `12px ${theme.font}`;
      pen.textBaseline = 'middle';
      pen.fillStyle = theme.muted;
      if (this.text?.font !== pen.font) this.text = new TextWidth(pen.font);
      pen.fillText(this.text.fitted(absent, surface.width), 0, surface.height - 9);
    }
  }

  pick(x: number, y: number): Mark | undefined {
    const row = this.rowsDrawn.find(({ scale: { box } }) => y >= box.y - 4 && y <= box.y + box.height + 4);
    if (!row || x < row.scale.box.x || x > row.scale.box.x + row.scale.box.width) return undefined;
    const { viewport, surface } = this.context;
    const time = viewport.scale(row.scale.box.width, surface.ratio).time(x - row.scale.box.x);
    const process = this.nearest(row, time, y);
    return process < 0 ? undefined : this.mark(row, process, time, x);
  }

  choose(mark: Mark | undefined, { additive }: { readonly additive: boolean }): void {
    const { selection } = this.context;
    if (!mark || (this.group ?? 'workers') !== 'workers') return;
    const name = String(mark.id).split('\n')[1];
    const own = selection.own('resources', 'worker') ?? [];
    if (additive || (own.length === 1 && own[0] === name)) selection.toggle('resources', 'worker', name);
    else selection.set({ source: 'resources', column: 'worker', value: [name] });
  }

  drawOverlay(pen: Pen, hovered: Mark | undefined): void {
    if (!hovered || this.look === 'map') return;
    const [measure, name] = String(hovered.id).split('\n');
    const row = this.rowsDrawn.find(each => each.measure.id === measure);
    const process = row?.series.names.indexOf(name) ?? -1;
    if (!row || process < 0 || row.measure.style === 'stack') return;
    const { surface, viewport } = this.context;
    const { box } = row.scale;
    const scale = viewport.scale(box.width, surface.ratio);
    pen.save();
    pen.beginPath();
    pen.rect(box.x, box.y - 1, box.width, box.height + 2);
    pen.clip();
    pen.strokeStyle = surface.theme.accent;
    pen.lineWidth = 1.75;
    row.measure.columns.forEach(({ column }, at) => {
      const bins = this.bins(row, column, scale);
      const { low, high } = bins.value.values;
      drawLine(pen, row.scale, scale, bins, low, high, process * bins.bins, at === 1 ? -1 : 1);
    });
    pen.restore();
  }

  rows(): TableRows {
    const time = timeOf(this.context.recording, this.context.selection.filter());
    return resourceTable(this.context.recording, this.chosen(), this.series, time);
  }

  private drawRow(pen: Pen, row: Row, scale: Scale): void {
    const { theme } = this.context.surface;
    const { measure } = row;
    if (measure.style === 'stack') {
      this.drawStack(pen, row, scale);
      return;
    }
    measure.columns.forEach(({ column }, at) => {
      const sign = at === 1 ? -1 : 1;
      const bins = this.bins(row, column, scale);
      const chosen = this.chosenProcesses(row);
      if (bins.value.band) {
        drawBand(
          pen,
          row.scale,
          scale,
          bins,
          bins.value.band,
          chosen.size > 0 ? theme.faint : theme.muted,
          sign
        );
      }
      for (let process = 0; process < row.series.names.length; process++) {
        const emphasized = chosen.has(process);
        if (bins.value.band && !emphasized) continue;
        pen.strokeStyle = emphasized ? theme.accent : chosen.size > 0 ? theme.faint : theme.muted;
        pen.lineWidth = emphasized ? 1.5 : 1;
        const { low, high } = bins.value.values;
        drawLine(pen, row.scale, scale, bins, low, high, process * bins.bins, sign);
      }
    });
  }

  private drawStack(pen: Pen, row: Row, scale: Scale): void {
    const { theme } = this.context.surface;
    const fills = layersOf(theme);
    let below: Float64Array | undefined;
    row.measure.columns.forEach(({ column }, at) => {
      const bins = this.bins(row, column, scale);
      const sum = bins.value.sum;
      if (!sum) return;
      const floor = below ?? new Float64Array(sum.length);
      const above = sum.map((value, bin) => (Number.isNaN(value) ? value : floor[bin] + value));
      pen.fillStyle = fills[at];
      drawArea(pen, row.scale, scale, bins, floor, above);
      below = above.map((value, bin) => (Number.isNaN(value) ? floor[bin] : value));
    });
  }

  private drawMapFrame(pen: Pen, row: Row): void {
    const { theme } = this.context.surface;
    pen.font = `12px ${theme.font}`;
    pen.textBaseline = 'top';
    pen.textAlign = 'left';
    pen.fillStyle = theme.text;
    const { box } = row.scale;
    const narrow = isNarrow(box.x);
    pen.fillText(row.measure.title, narrow ? box.x : 0, narrow ? box.y - NARROW_TITLE : box.y);
    pen.fillStyle = theme.muted;
    if (narrow) return;
    const { measure } = row;
    const words = `up to ${wordsOf(measure, row.scale.most)}`;
    if (measure.columns.length > 1) pen.fillText(measure.columns[0].label, 0, box.y + 15);
    pen.fillText(words, 0, box.y + (measure.columns.length > 1 ? 30 : 15));
  }

  private drawMap(pen: Pen, row: Row, scale: Scale): void {
    const bins = this.bins(row, row.measure.columns[0].column, scale);
    const { surface } = this.context;
    drawHeat(
      pen,
      row.scale.box,
      scale,
      bins,
      bins.value.values.mean,
      row.series.names.length,
      row.scale.most,
      surface.theme
    );
  }

  /** Reads what is new; cheap where nothing is. */
  private read(): void {
    const { recording } = this.context;
    const group = this.group ?? 'workers';
    const known = [recording.state('resources', 'gpus'), group].join();
    this.cache.renew(known);
    if (known === this.known) return;
    this.known = known;
    const isIn = (name: string): boolean =>
      (name === 'scheduler' || name === 'client' ? name : 'workers') === group;
    const processes = recording.table('resources').symbols('process');
    this.series = {
      resources: seriesOf(processes.codes, processes.names, recording.table('resources').times('time'), isIn),
      gpus: gpuSeries(this.context, isIn)
    };
    if (this.series.resources.names.length === 0 && this.group === undefined && processes.names.length > 0) {
      const [first] = processes.names;
      this.group = first === 'scheduler' || first === 'client' ? first : 'workers';
      if (this.group !== 'workers') this.read();
    }
    this.there = MEASURES.filter(measure => isThere(recording, measure));
    this.most = new Map(this.there.map(measure => [measure.id, this.mostOf(measure)]));
  }

  private mostOf(measure: Measure): number {
    const series = this.series[measure.table];
    if (measure.style === 'stack') return this.mostStacked(measure, series);
    return Math.max(...measure.columns.map(({ column }) => this.mostOfColumn(measure, column)));
  }

  private mostShown(measure: Measure): number {
    if (this.look === 'lines') return this.most.get(measure.id) ?? 1;
    return this.mostOfColumn(measure, measure.columns[0].column);
  }

  private mostOfColumn(measure: Measure, column: MeasureColumn): number {
    const values = this.values(measure, column);
    let most = 0;
    for (const row of this.series[measure.table].rows) if (values[row] > most) most = values[row];
    return most;
  }

  private mostStacked(measure: Measure, series: Series): number {
    const { recording } = this.context;
    const all = series.names.map((_, process) => process);
    const total = new Float64Array(400);
    for (const { column } of measure.columns) {
      const bins = binned(
        series,
        this.values(measure, column),
        recording.origin,
        recording.end,
        total.length
      );
      summed(bins, all).forEach((value, bin) => {
        if (!Number.isNaN(value)) total[bin] += value;
      });
    }
    return total.reduce((a, b) => Math.max(a, b), 0);
  }

  private values(measure: Measure, column: MeasureColumn): ArrayLike<number> {
    const values = valuesOf(this.context.recording, measure, column);
    const { scale } = measure;
    return scale === undefined ? values : Float32Array.from(values, value => value * scale);
  }

  private bins(row: Row, column: MeasureColumn, scale: Scale): Cached<Drawn> {
    const window: Window = { ...scale, stop: scale.stop, moving: this.context.viewport.moving };
    return this.cache.get(`${row.measure.table}.${column}`, window, (from, to, bins) => {
      const values = binned(row.series, this.values(row.measure, column), from, to, bins);
      const all = row.series.names.map((_, process) => process);
      return {
        values,
        band: all.length > MOST_LINES && row.measure.style !== 'stack' ? band(values, all) : undefined,
        sum: row.measure.style === 'stack' ? summed(values, all) : undefined
      };
    });
  }

  private chosen(): readonly Measure[] {
    return this.there.filter(
      measure => this.shown.has(measure.id) && this.series[measure.table].names.length > 0
    );
  }

  private rowHeight(measure: Measure): number {
    if (this.look === 'lines') return HEIGHTS[measure.style];
    return heatHeight(this.series[measure.table].names.length);
  }

  /** Which of the usual measures have no data, and why. */
  private absent(): string {
    const gone = MEASURES.filter(measure => measure.usual && !this.there.includes(measure));
    const plain = gone.filter(measure => measure.missing === undefined).map(({ title }) => title);
    const told = new Map(
      gone.map(({ title, missing }) => [missing, title]).reverse() as [string | undefined, string][]
    );
    told.delete(undefined);
    const words = [...told].map(([missing, title]) => `${title}: ${missing}.`);
    if (plain.length > 0) words.unshift(`Not recorded here: ${plain.join(', ')}.`);
    return words.join(' ');
  }

  private chosenProcesses(row: Row): Set<number> {
    const workers = this.context.selection.filter().workers;
    const chosen = new Set<number>();
    if (!workers) return chosen;
    row.series.names.forEach((name, process) => {
      if (workers.has(workerOf(name))) chosen.add(process);
    });
    return chosen;
  }

  private nearest(row: Row, time: number, y: number): number {
    const { measure, series, scale } = row;
    if (this.look === 'map') {
      const place = Math.floor(((y - scale.box.y) / scale.box.height) * series.names.length);
      return Math.min(series.names.length - 1, Math.max(0, place));
    }
    let best = -1;
    let distance = Number.POSITIVE_INFINITY;
    measure.columns.forEach(({ column }, at) => {
      const values = this.values(measure, column);
      for (let process = 0; process < series.names.length; process++) {
        const value = valueAt(series, values, process, time);
        if (Number.isNaN(value)) continue;
        const away = Math.abs(scale.y((measure.style === 'mirror' && at === 1 ? -1 : 1) * value) - y);
        if (away < distance) {
          distance = away;
          best = process;
        }
      }
    });
    return best;
  }

  private mark(row: Row, process: number, time: number, x: number): Mark {
    const { viewport } = this.context;
    const name = row.series.names[process];
    const { box } = row.scale;
    const lines = (measure: Measure) =>
      measure.columns.map(({ column, label }) => {
        const series = this.series[measure.table];
        const values = this.values(measure, column);
        return { label, value: wordsOf(measure, valueAt(series, values, series.names.indexOf(name), time)) };
      });
    const others = this.chosen().filter(
      measure => measure !== row.measure && measure.table === row.measure.table
    );
    return {
      id: `${row.measure.id}\n${name}\n${Math.round(x)}`,
      box: { x: x - 6, y: box.y, width: 12, height: box.height },
      card: () => ({
        title: name,
        groups: [
          lines(row.measure),
          row.series.names.length > 1 ? [this.among(row, time)] : [],
          others.flatMap(lines),
          [
            {
              label: 'at',
              value: `${duration(time - viewport.origin)} (${clock(time)})`,
              tone: 'muted' as const
            }
          ]
        ]
      }),
      words: () =>
        `${name}: ${lines(row.measure)
          .map(({ label, value }) => `${label} ${value}`)
          .join(', ')}`
    };
  }

  /** The middle of all processes at a moment, to compare with. */
  private among(row: Row, time: number): { label: string; value: string } {
    const values = this.values(row.measure, row.measure.columns[0].column);
    const known = row.series.names
      .map((_, process) => valueAt(row.series, values, process, time))
      .filter(value => !Number.isNaN(value))
      .sort((a, b) => a - b);
    const half = known.length >> 1;
    const middle = known.length % 2 ? known[half] : (known[half - 1] + known[half]) / 2;
    return {
      label: `median of ${plural(known.length, 'process', 'processes')}`,
      value: wordsOf(row.measure, middle)
    };
  }
}

/** Colours of stacked layers, from the bottom. */
function layersOf(theme: Theme): readonly string[] {
  const [first, second, third] = [31, 19, 7].map(slot => slotColor(slot, theme.dark, theme.contrast));
  return [css(first), css(mixed(theme.background, second, 0.45)), css(mixed(theme.background, third, 0.2))];
}

function partsOf(measure: Measure, theme: Theme): { readonly label: string; readonly color?: string }[] {
  if (measure.style === 'line') return [];
  const colors = measure.style === 'stack' ? layersOf(theme) : [];
  return measure.columns.map(({ label }, at) => ({ label, color: colors[at] }));
}

function nothing(): Series {
  return seriesOf([], [], []);
}

const GPU = ', GPU ';

/** The worker that a series belongs to: that of a GPU has the device behind it. */
function workerOf(name: string): string {
  const at = name.lastIndexOf(GPU);
  return at < 0 ? name : name.slice(0, at);
}

function gpuSeries({ recording }: PanelContext, isIn: (name: string) => boolean): Series {
  const table = recording.table('gpus');
  const processes = table.symbols('process');
  const index = table.numbers('index');
  const codes = Uint32Array.from(processes.codes, (code, row) => code * 256 + index[row]);
  const names: string[] = [];
  for (const code of codes) names[code] ??= `${processes.names[code >> 8]}${GPU}${code & 255}`;
  return seriesOf(codes, names, table.times('time'), name => isIn(workerOf(name)));
}
