import { bytes, clock, duration } from '../../core/format';
import type { Stretch } from '../../core/stretches';
import { css, SLOTS, slotColor } from '../../draw/palette';
import { type Box, holds, type Pen } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import { type Scale, scaleOf } from '../../draw/viewport';
import { clip, drawLine, drawRowFrame, rowScale } from '../chart-row';
import type { Mark, Sign } from '../panel';
import { drawTimes } from '../time-axis';
import type { MemoryFigures } from './figures';
import { drawSwatches } from './swatches';

/** Runs beyond this, the oldest, are left out: nobody can tell so many lines apart. */
const MOST = 24;

interface Line {
  readonly run: Stretch;
  /** Sum of the process memory of the workers, bin by bin; NaN after its end. Bytes. */
  readonly sum: Float64Array;
  readonly most: number;
  readonly slot: number;
}

/** Memory of several runs, each from its own start: one line a run. */
export class AlignedRuns {
  private lines: readonly Line[] = [];
  private left = 0;
  private longest = 1;
  private step = 1;
  private key = '';
  private row = rowScale({ x: 0, y: 0, width: 1, height: 1 }, 1);

  /** The first time it is drawn, and when data, workers or size have changed. */
  layout(runs: readonly Stretch[], figures: MemoryFigures, box: Box): void {
    const bins = Math.max(16, Math.round(box.width / 2));
    const last = runs.at(-1);
    const key = [figures.version, runs.length, last?.start, last?.stop, bins].join();
    if (key !== this.key) {
      this.key = key;
      this.left = Math.max(0, runs.length - MOST);
      const shown = runs.slice(this.left);
      this.longest = Math.max(1e-3, ...shown.map(({ start, stop }) => stop - start));
      this.step = this.longest / bins;
      this.lines = shown.map((run, at) => lineOf(run, this.left + at, figures, this.longest, bins));
    }
    this.row = rowScale(box, Math.max(1, ...this.lines.map(({ most }) => most)) * 1.04);
  }

  draw(pen: Pen, theme: Theme): void {
    const { box } = this.row;
    const scale = this.scale();
    drawTimes(pen, box, scale, 0, theme);
    drawRowFrame(pen, this.row, 'Process memory', 'bytes', theme);
    pen.lineWidth = 1.5;
    for (const line of this.lines) this.drawRun(pen, line, theme);
    // The newest first.
    drawSwatches(pen, box, this.signs(theme).reverse(), theme, this.left);
  }

  drawOverlay(pen: Pen, hovered: Mark, theme: Theme): void {
    const line = this.lineAt(hovered);
    if (!line) return;
    pen.lineWidth = 3;
    this.drawRun(pen, line, theme);
    pen.fillStyle = theme.faint;
    pen.fillRect(hovered.box.x + hovered.box.width / 2, this.row.box.y, 1, this.row.box.height);
  }

  /** The run whose line is nearest to a place. */
  pick(x: number, y: number, theme: Theme): Mark | undefined {
    const { box } = this.row;
    if (!holds(box, x, y)) return undefined;
    const bin = Math.floor(((x - box.x) / box.width) * (this.longest / this.step));
    let best: Line | undefined;
    let distance = Number.POSITIVE_INFINITY;
    for (const line of this.lines) {
      const away = Math.abs(this.row.y(line.sum[bin]) - y);
      if (away < distance) {
        best = line;
        distance = away;
      }
    }
    return best && this.mark(best, bin, x, theme);
  }

  /** The run that a mark is of. */
  runOf(mark: Mark): Stretch | undefined {
    return this.lineAt(mark)?.run;
  }

  private lineAt({ id }: Mark): Line | undefined {
    return this.lines.find(({ run }) => run.start === Number.parseFloat(String(id)));
  }

  signs(theme: Theme): Sign[] {
    return this.lines.map(({ run, slot }) => ({ color: colorOf(slot, theme), label: run.label }));
  }

  private scale(): Scale {
    const { width } = this.row.box;
    return scaleOf(0, this.longest / width, width);
  }

  private drawRun(pen: Pen, { sum, slot }: Line, theme: Theme): void {
    const { box } = this.row;
    clip(pen, box);
    pen.strokeStyle = colorOf(slot, theme);
    const bins = { from: 0, to: this.longest, step: this.step, bins: sum.length, value: undefined };
    drawLine(pen, this.row, this.scale(), bins, { low: sum, high: sum });
    pen.restore();
  }

  private mark({ run, sum, most, slot }: Line, bin: number, x: number, theme: Theme): Mark {
    const { box } = this.row;
    const after = duration(bin * this.step);
    const took = duration(run.stop - run.start);
    return {
      id: `${run.start} ${Math.round(x)}`,
      box: { ...box, x: x - 6, width: 12 },
      card: () => ({
        title: run.label,
        color: colorOf(slot, theme),
        groups: [
          [
            { label: `${after} after its start`, value: bytes(sum[bin]) },
            { label: 'most', value: bytes(most) }
          ],
          [
            { label: 'started', value: clock(run.start), tone: 'muted' as const },
            { label: 'took', value: took, tone: 'muted' as const }
          ]
        ]
      }),
      words: () => `${run.label}: ${bytes(sum[bin])} ${after} after its start, at most ${bytes(most)}`
    };
  }
}

function lineOf(run: Stretch, at: number, figures: MemoryFigures, longest: number, bins: number): Line {
  const all = figures.sum('process', run.start, run.start + longest, bins);
  const end = Math.ceil(((run.stop - run.start) / longest) * bins);
  const sum = all.map((value, bin) => (bin < Math.max(1, end) ? value : Number.NaN));
  const most = sum.reduce((a, b) => (b > a ? b : a), 0);
  return { run, sum, most, slot: (19 + 7 * at) % SLOTS };
}

function colorOf(slot: number, theme: Theme): string {
  return css(slotColor(slot, theme));
}
