import { BinCache, type Cached } from '../core/bin-cache';
import { moment } from '../core/format';
import { sumOf } from '../core/sum-of';
import { type Box, holds, type Pen } from '../draw/pen';
import type { Scale } from '../draw/viewport';
import { clip, drawArea, drawRowFrame, rowScale } from './chart-row';
import { stacked } from './layers';
import type { Mark, PanelContext } from './panel';
import { drawTimes } from './time-axis';

/** A layer. */
export interface Part {
  readonly words: string;
  readonly color: string;
}

/** What is drawn over time. */
export interface Layered {
  readonly parts: readonly Part[];
  /** How far up the axis reaches; undefined where nothing is known over time. */
  readonly most: number | undefined;
  readonly axis: {
    readonly title: string;
    readonly unit: string;
    /** There where a narrow gutter's title has room over the plot. */
    readonly parts?: readonly [];
    /** What a card calls an amount, and what there is above all layers. */
    readonly label: string;
    readonly none: string;
    said(amount: number): string;
  };
  /** Amounts in each part, bin by bin. */
  overTime(from: number, to: number, bins: number): readonly Float64Array[];
}

/** A mark on a layer; `part` is -1 above all of them. */
export interface LayerMark extends Mark {
  readonly part: number;
}

const MOST_NAMES = 5;

/** Parts of a whole over the shared time, one over the other. */
export class LayerChart {
  private readonly cache = new BinCache<readonly Float64Array[]>();

  constructor(
    private readonly context: PanelContext,
    private readonly of: Layered
  ) {}

  /** Works everything out anew when `version` is another than last time. */
  renew(version: unknown): void {
    this.cache.renew(version);
  }

  draw(pen: Pen, box: Box): void {
    const { surface, viewport } = this.context;
    const { theme } = surface;
    const { parts, axis } = this.of;
    const scale = this.scale(box);
    drawTimes(pen, box, scale, viewport.origin, theme);
    const bins = this.bins(scale);
    const { most } = this.of;
    if (most === undefined) return;
    const row = rowScale(box, most);
    drawRowFrame(pen, row, axis.title, axis.unit, theme, false, axis.parts);
    clip(pen, box);
    stacked(bins.value).forEach(({ low, high }, part) => {
      if (!bins.value[part].some(amount => amount > 0)) return;
      pen.fillStyle = parts[part].color;
      drawArea(pen, row, scale, bins, low, high);
    });
    pen.restore();
  }

  pick(x: number, y: number, box: Box): LayerMark | undefined {
    if (!holds(box, x, y)) return undefined;
    const scale = this.scale(box);
    const bins = this.bins(scale);
    const bin = Math.floor((scale.time(x - box.x) - bins.from) / bins.step);
    if (!(bin >= 0 && bin < bins.bins)) return undefined;
    const row = rowScale(box, this.of.most ?? 1);
    let sum = 0;
    const part = bins.value.findIndex(amounts => {
      sum += amounts[bin];
      return y > row.y(sum);
    });
    return this.mark(bins, bin, part, { ...box, x: x - 6, width: 12 });
  }

  private mark(bins: Cached<readonly Float64Array[]>, bin: number, at: number, box: Box): LayerMark {
    const { parts, axis } = this.of;
    const amounts = bins.value.map(each => each[bin]);
    const total = sumOf(amounts);
    const part = parts[at] as Part | undefined;
    const title = part?.words ?? axis.none;
    const own = `${axis.said(amounts[at] ?? total)} of ${axis.said(total)}`;
    const start = bins.from + bin * bins.step - this.context.viewport.origin;
    // The first bin begins before the recording does.
    const from = moment(Math.max(0, start), 3);
    return {
      id: `time ${bin} ${at}`,
      part: at,
      box,
      card: () => ({
        title,
        color: part?.color,
        groups: [
          [{ label: axis.label, value: own }],
          parts
            .map(({ words }, index) => ({ words, index, amount: amounts[index] }))
            .filter(({ index, amount }) => index !== at && amount > total / 1000)
            .sort((a, b) => b.amount - a.amount)
            .slice(0, MOST_NAMES)
            .map(({ words, amount }) => ({ label: words, value: axis.said(amount) })),
          [{ label: 'between', value: `${from} and ${moment(start + bins.step, 3)}`, tone: 'muted' as const }]
        ]
      }),
      words: () => `${title}: ${own} ${axis.label} at ${from}`
    };
  }

  private scale({ width }: Box): Scale {
    const { viewport, surface } = this.context;
    return viewport.scale(width, surface.ratio);
  }

  private bins(scale: Scale): Cached<readonly Float64Array[]> {
    return this.cache.get('', scale, this.context.viewport.moving, (from, to, bins) =>
      this.of.overTime(from, to, bins)
    );
  }
}
