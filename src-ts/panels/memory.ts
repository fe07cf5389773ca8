import { BinCache, type Cached, type Window } from '../core/bin-cache';
import { bytes, clock, duration, plural, timeTicks } from '../core/format';
import type { Recording } from '../core/recording';
import { type Binned, binned, firstAfter, type Series, seriesOf, summed, valueAt } from '../core/series';
import { timeOf } from '../core/task-filter';
import { drawTimeAxis, drawTimeGrid, gutterOf, MARGIN } from '../draw/axis';
import { css, type Rgb, slotColor } from '../draw/palette';
import type { Box, Pen } from '../draw/pen';
import { TextWidth } from '../draw/text-width';
import type { Theme } from '../draw/theme';
import type { Scale } from '../draw/viewport';
import { drawArea, drawLine, drawRowFrame, isNarrow, type RowScale, rowScale } from './chart-row';
import { choice } from './element';
import { drawHeat, heatHeight } from './heat';
import type { Mark, Panel, PanelContext, PanelView, TableRows } from './panel';

/** Dask's memory of workers over time, its measures stacked, with the limit above. */
export const memory: Panel = {
  id: 'memory',
  title: 'Memory',
  tables: ['memory', 'workers'],
  overTime: true,
  create: context => new MemoryView(context)
};

type MeasureName = 'managed' | 'unmanaged_old' | 'unmanaged_recent' | 'spilled';

/** From the bottom; `spilled` is on disk and stands apart, hatched by its outline. */
const MEASURES: readonly { readonly column: MeasureName; readonly label: string }[] = [
  { column: 'managed', label: 'managed' },
  { column: 'unmanaged_old', label: 'unmanaged, old' },
  { column: 'unmanaged_recent', label: 'unmanaged, recent' },
  { column: 'spilled', label: 'spilled to disk' }
];

type Look = 'cluster' | 'workers';

const HEIGHT = 132;
const AXIS = 22;
const LEGEND = 20;

interface Drawn {
  readonly values: Binned;
  readonly sum: Float64Array;
}

class MemoryView implements PanelView {
  readonly controls: readonly HTMLElement[];
  private look: Look = 'cluster';
  private readonly cache = new BinCache<Drawn>();
  private known = '';
  private series: Series = seriesOf([], [], []);
  private limits = new Map<string, number>();
  private scale: RowScale = rowScale({ x: 0, y: 0, width: 1, height: 1 }, 1);
  private included: readonly number[] = [];
  private text: TextWidth | undefined;

  constructor(private readonly context: PanelContext) {
    this.controls = [
      choice<Look>(
        'Memory of',
        [
          ['cluster', 'Sum of workers'],
          ['workers', 'Each worker']
        ],
        'cluster',
        look => {
          this.look = look;
          context.surface.invalidate('layout');
        }
      )
    ];
  }

  empty(): string | undefined {
    if (this.context.recording.table('memory').rows > 0) return undefined;
    return 'No memory measures were recorded: only a distributed scheduler has them.';
  }

  height(): number {
    this.read();
    const rows = this.look === 'cluster' ? HEIGHT : heatHeight(this.series.names.length);
    return LEGEND + rows + AXIS;
  }

  layout(): void {
    this.read();
    const { selection, recording } = this.context;
    const workers = selection.filter().workers;
    const all = this.series.names.map((_, process) => process);
    const wanted = all.filter(process => !workers || workers.has(this.series.names[process]));
    this.included = wanted.length > 0 ? wanted : all;
    this.cache.renew([this.known, this.included.join()].join(';'));
    const plot = this.plot();
    const box = { ...plot, y: LEGEND, height: plot.height - LEGEND };
    const most = this.look === 'cluster' ? this.mostOfSum(recording) : this.mostOfOne();
    this.scale = rowScale(box, most);
  }

  plot(): Box {
    const { width, height } = this.context.surface;
    const x = gutterOf(width);
    return { x, y: 0, width: Math.max(1, width - x - MARGIN), height: Math.max(1, height - AXIS) };
  }

  draw(pen: Pen): void {
    const { surface, viewport } = this.context;
    const { theme } = surface;
    const { box } = this.scale;
    const scale = viewport.scale(box.width, surface.ratio);
    const from = scale.start - viewport.origin;
    const marks = timeTicks(from, scale.stop - viewport.origin, Math.max(2, box.width / 110));
    drawTimeGrid(pen, box, scale, viewport.origin, marks, theme);
    const axis = { x: box.x, y: box.y + box.height, width: box.width, height: AXIS };
    drawTimeAxis(pen, axis, scale, viewport.origin, marks, theme);
    this.drawLegend(pen, theme);
    if (this.look === 'cluster') this.drawStack(pen, scale, theme);
    else this.drawMap(pen, scale, theme);
  }

  pick(x: number, y: number): Mark | undefined {
    const { box } = this.scale;
    if (x < box.x || x > box.x + box.width || y < box.y || y > box.y + box.height) return undefined;
    const { viewport, surface } = this.context;
    const time = viewport.scale(box.width, surface.ratio).time(x - box.x);
    if (this.look === 'cluster') return this.mark(this.included, this.titleOf(this.included), time, x);
    const place = Math.floor(((y - box.y) / box.height) * this.series.names.length);
    const process = Math.min(this.series.names.length - 1, Math.max(0, place));
    return this.mark([process], this.series.names[process], time, x);
  }

  choose(mark: Mark | undefined, { additive }: { readonly additive: boolean }): void {
    if (!mark || this.look === 'cluster') return;
    const { selection } = this.context;
    const name = String(mark.id).split('\n')[0];
    const own = selection.own('memory', 'worker') ?? [];
    if (additive || (own.length === 1 && own[0] === name)) selection.toggle('memory', 'worker', name);
    else selection.set({ source: 'memory', column: 'worker', value: [name] });
  }

  rows(): TableRows {
    const { recording, selection } = this.context;
    const time = timeOf(recording, selection.filter());
    const table = recording.table('memory');
    const figures = this.series.names.map((_, process) => {
      const begin = time ? firstAfter(this.series, process, time.start) : this.series.first[process];
      const end = time ? firstAfter(this.series, process, time.stop) : this.series.first[process + 1];
      return ['process', ...MEASURES.map(({ column }) => column)].map(column => {
        const values = table.numbers(column as 'process');
        let most = Number.NaN;
        for (let at = begin; at < end; at++) {
          const value = values[this.series.rows[at]];
          if (!(value <= most)) most = value;
        }
        return most;
      });
    });
    const titles = ['process, most', ...MEASURES.map(({ label }) => `${label}, most`)];
    return {
      columns: [
        { title: 'Worker', numeric: false },
        ...titles.map(title => ({ title, numeric: true })),
        { title: 'limit', numeric: true }
      ],
      length: figures.length,
      row: row => [
        this.series.names[row],
        ...figures[row].map(bytes),
        bytes(this.limits.get(this.series.names[row]) ?? Number.NaN)
      ],
      value: (row, column) =>
        column === 0
          ? this.series.names[row]
          : (figures[row][column - 1] ?? this.limits.get(this.series.names[row]) ?? Number.NaN)
    };
  }

  private drawStack(pen: Pen, scale: Scale, theme: Theme): void {
    const { box } = this.scale;
    const title =
      this.included.length < this.series.names.length ? this.titleOf(this.included) : 'All workers';
    drawRowFrame(pen, this.scale, isNarrow(box.x) ? '' : clipped(title), 'bytes', false, theme);
    pen.save();
    pen.beginPath();
    pen.rect(box.x, box.y - 1, box.width, box.height + 2);
    pen.clip();
    let below: Float64Array | undefined;
    MEASURES.forEach(({ column }, at) => {
      const bins = this.bins(column, scale);
      const { sum } = bins.value;
      const floor = below ?? new Float64Array(sum.length);
      const above = sum.map((value, bin) => (Number.isNaN(value) ? value : floor[bin] + value));
      pen.fillStyle = css(colorOf(at, theme));
      pen.strokeStyle = pen.fillStyle;
      pen.lineWidth = 1;
      if (column === 'spilled') {
        pen.globalAlpha = 0.3;
        drawArea(pen, this.scale, scale, bins, floor, above);
        pen.globalAlpha = 1;
        const seen = above.map((value, bin) => (value > floor[bin] ? value : Number.NaN));
        drawLine(pen, this.scale, scale, bins, seen, seen, 0);
      } else {
        drawArea(pen, this.scale, scale, bins, floor, above);
      }
      below = above.map((value, bin) => (Number.isNaN(value) ? floor[bin] : value));
    });
    this.drawLimit(pen, theme);
    pen.restore();
  }

  private drawLimit(pen: Pen, theme: Theme): void {
    const limit = this.limitOf(this.included);
    const { box } = this.scale;
    if (!(limit <= this.scale.most)) return;
    const y = Math.round(this.scale.y(limit));
    pen.fillStyle = theme.text;
    for (let x = box.x; x < box.x + box.width; x += 8) pen.fillRect(x, y, 4, 1);
  }

  private drawMap(pen: Pen, scale: Scale, theme: Theme): void {
    const { box } = this.scale;
    pen.font = `12px ${theme.font}`;
    pen.textBaseline = 'top';
    pen.textAlign = 'left';
    pen.fillStyle = theme.text;
    if (!isNarrow(box.x)) {
      pen.fillText('Process memory', 0, box.y);
      pen.fillStyle = theme.muted;
      pen.fillText(`up to ${bytes(this.scale.most)}`, 0, box.y + 15);
    }
    pen.save();
    pen.beginPath();
    pen.rect(box.x, box.y, box.width, box.height);
    pen.clip();
    const bins = this.bins('process', scale);
    drawHeat(pen, box, scale, bins, bins.value.values.mean, this.series.names.length, this.scale.most, theme);
    pen.restore();
  }

  private drawLegend(pen: Pen, theme: Theme): void {
    if (this.look !== 'cluster') return;
    pen.font = `12px ${theme.font}`;
    pen.textBaseline = 'middle';
    pen.textAlign = 'left';
    const { box } = this.scale;
    let x = isNarrow(box.x) ? 0 : box.x;
    const room = box.x + box.width;
    const words = box.width < 420 ? SHORT : MEASURES.map(({ label }) => label);
    if (this.text?.font !== pen.font) this.text = new TextWidth(pen.font);
    const { text } = this;
    words.forEach((label, at) => {
      const width = text.of(label) + 13;
      if (x + width > room) return;
      pen.fillStyle = css(colorOf(at, theme));
      pen.globalAlpha = at === 3 ? 0.5 : 1;
      pen.fillRect(x, 5, 9, 9);
      pen.globalAlpha = 1;
      pen.fillStyle = theme.muted;
      pen.fillText(label, x + 13, 10);
      x += width + 14;
    });
    const limit = this.limitOf(this.included);
    const label = limit <= this.scale.most ? 'limit' : `limit ${bytes(limit)}`;
    if (!Number.isFinite(limit) || x + text.of(label) + 15 > room) return;
    pen.fillStyle = theme.text;
    pen.fillRect(x, 9, 4, 1);
    pen.fillRect(x + 7, 9, 4, 1);
    pen.fillStyle = theme.muted;
    pen.fillText(label, x + 15, 10);
  }

  private read(): void {
    const { recording } = this.context;
    const known = recording.state('memory', 'workers');
    if (known === this.known) return;
    this.known = known;
    const table = recording.table('memory');
    const workers = table.symbols('worker');
    this.series = seriesOf(workers.codes, workers.names, table.times('time'));
    this.limits = limitsOf(recording);
  }

  private bins(column: MeasureName | 'process', scale: Scale): Cached<Drawn> {
    const window: Window = { ...scale, stop: scale.stop, moving: this.context.viewport.moving };
    const values = this.context.recording.table('memory').numbers(column);
    return this.cache.get(column, window, (from, to, bins) => {
      const all = binned(this.series, values, from, to, bins);
      return { values: all, sum: summed(all, this.included) };
    });
  }

  /** The axis reaches a little over the highest sum; over the limit too where the limit is not far. */
  private mostOfSum(recording: Recording): number {
    const total = new Float64Array(400);
    for (const { column } of MEASURES) {
      const values = recording.table('memory').numbers(column);
      const bins = binned(this.series, values, recording.origin, recording.end, total.length);
      summed(bins, this.included).forEach((value, bin) => {
        if (!Number.isNaN(value)) total[bin] += value;
      });
    }
    const most = total.reduce((a, b) => Math.max(a, b), 0) * 1.04;
    const limit = this.limitOf(this.included);
    return limit * 1.04 > most && limit < most * 2.5 ? limit * 1.04 : most;
  }

  private mostOfOne(): number {
    const values = this.context.recording.table('memory').numbers('process');
    let most = 0;
    for (const row of this.series.rows) if (values[row] > most) most = values[row];
    return most;
  }

  private limitOf(processes: readonly number[]): number {
    let sum = 0;
    for (const process of processes) sum += this.limits.get(this.series.names[process]) ?? Number.NaN;
    return processes.length > 0 ? sum : Number.NaN;
  }

  private titleOf(processes: readonly number[]): string {
    return processes.length === 1 ? this.series.names[processes[0]] : plural(processes.length, 'worker');
  }

  private mark(processes: readonly number[], title: string, time: number, x: number): Mark {
    const { recording, viewport } = this.context;
    const { box } = this.scale;
    const table = recording.table('memory');
    const at = (column: MeasureName | 'process'): number => {
      const values = table.numbers(column);
      let sum = Number.NaN;
      for (const process of processes) {
        const value = valueAt(this.series, values, process, time);
        if (!Number.isNaN(value)) sum = (Number.isNaN(sum) ? 0 : sum) + value;
      }
      return sum;
    };
    return {
      id: `${title}\n${Math.round(x)}`,
      box: { x: x - 6, y: box.y, width: 12, height: box.height },
      card: () => ({
        title,
        groups: [
          [...MEASURES].reverse().map(({ column, label }) => ({ label, value: bytes(at(column)) })),
          [
            { label: 'process', value: bytes(at('process')) },
            { label: 'limit', value: bytes(this.limitOf(processes)) }
          ],
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
        `${title}: ${MEASURES.map(({ column, label }) => `${label} ${bytes(at(column))}`).join(', ')}`
    };
  }
}

const SHORT = ['managed', 'old', 'recent', 'spilled'];

function clipped(text: string): string {
  return text.length > 17 ? `${text.slice(0, 16)}…` : text;
}

function limitsOf(recording: Recording): Map<string, number> {
  const table = recording.table('workers');
  const limits = new Map<string, number>();
  const values = table.numbers('memory_limit');
  for (let row = 0; row < table.rows; row++) limits.set(table.text('worker', row), values[row]);
  return limits;
}

/** One hue from strong to weak for what is in memory; disk has Dask's orange. */
function colorOf(measure: number, theme: Theme): Rgb {
  if (measure === 3) return theme.dark ? [255, 168, 64] : [236, 126, 10];
  return slotColor([19, 7, 31][measure], theme.dark, theme.contrast);
}
