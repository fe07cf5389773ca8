import type { Comparison, MemoryRun } from '../../core/comparison';
import { firstAbove } from '../../core/first-above';
import { amountTicks, bytes, duration } from '../../core/format';
import { AXIS_HEIGHT, drawValueAxis, gutterOf, MARGIN } from '../../draw/axis';
import { css } from '../../draw/palette';
import { type Box, holds, type Pen, writeWith } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import { type Scale, scaleOf } from '../../draw/viewport';
import type { Mark } from '../panel';
import { drawTimes } from '../time-axis';
import { sideColor } from './colors';
import { sideName } from './words';

const TITLE = 22;
const PLOT = 110;

/** Height with title and axis, CSS pixels. */
export const MEMORY_HEIGHT = TITLE + PLOT + AXIS_HEIGHT + 14;

/** Memory of every run from its own start, a line each, in the colour of its side. */
export class MemoryLines {
  private box: Box = { x: 0, y: 0, width: 1, height: 1 };
  private longest = 1;
  private most = 1;
  private comparison: Comparison | undefined;

  layout(comparison: Comparison, width: number): void {
    this.comparison = comparison;
    const x = Math.max(60, gutterOf(width) / 2 + 12);
    this.box = { x, y: TITLE, width: Math.max(1, width - x - MARGIN), height: PLOT };
    this.longest = Math.max(1e-6, ...comparison.memory.map(({ time }) => time[time.length - 1] ?? 0));
    this.most = 1;
    for (const { process } of comparison.memory) {
      for (const value of process) if (value > this.most) this.most = value;
    }
  }

  draw(pen: Pen, theme: Theme): void {
    const { comparison, box } = this;
    if (!comparison) return;
    this.drawTitle(pen, comparison, theme);
    const scale = this.scale();
    drawTimes(pen, box, scale, 0, theme);
    drawValueAxis(pen, box, value => this.y(value), amountTicks(0, this.most, 3, 'bytes'), theme);
    // The baseline lies under what is compared with it.
    for (const run of comparison.memory) {
      pen.strokeStyle = css(sideColor(run.side, theme));
      pen.lineWidth = run.side === 0 ? 2.5 : 1.5;
      pen.beginPath();
      for (let at = 0; at < run.time.length; at++) {
        const x = box.x + scale.x(run.time[at]);
        if (at === 0) pen.moveTo(x, this.y(run.process[at]));
        else pen.lineTo(x, this.y(run.process[at]));
      }
      pen.stroke();
    }
  }

  drawOverlay(pen: Pen, mark: Mark, theme: Theme): void {
    pen.fillStyle = theme.faint;
    pen.fillRect(Math.round(mark.box.x), this.box.y, 1, this.box.height);
  }

  pick(x: number, y: number): Mark | undefined {
    const { comparison, box } = this;
    if (!comparison || !holds(box, x, y)) return undefined;
    const time = this.scale().time(x - box.x);
    const lines = comparison.memory.flatMap(run => {
      const at = indexAt(run, time);
      if (at < 0) return [];
      const side = comparison.sides[run.side];
      const several = side.runs > 1 ? ` ${run.run + 1}` : '';
      const value = `${bytes(run.process[at])} (${bytes(run.managed[at])} of it results)`;
      return [{ label: `${sideName(side)}${several}`, value }];
    });
    const title = `${duration(time)} after the start`;
    return {
      id: `memory ${Math.round(x)}`,
      box: { x, y: box.y, width: 1, height: box.height },
      card: () => ({ title, groups: [lines] }),
      words: () => [title, ...lines.map(({ label, value }) => `${label} ${value}`)].join(', ')
    };
  }

  private drawTitle(pen: Pen, { sides }: Comparison, theme: Theme): void {
    const { box } = this;
    const widths = writeWith(pen, theme);
    pen.fillStyle = theme.muted;
    const y = box.y - TITLE / 2 - 3;
    const words = 'Memory of all workers, from the start of each run';
    let x = widths.of(words) + 20;
    const narrow = x > box.width * 0.7;
    pen.fillText(narrow ? 'Memory' : words, 0, y);
    if (narrow) x = widths.of('Memory') + 20;
    for (const side of sides) {
      const name = sideName(side);
      if (x + widths.of(name) + 14 > box.x + box.width) return;
      pen.fillStyle = css(sideColor(side.side, theme));
      pen.fillRect(x, y - 4, 9, 9);
      pen.fillStyle = theme.muted;
      pen.fillText(name, x + 14, y);
      x += widths.of(name) + 30;
    }
  }

  private y(value: number): number {
    return this.box.y + this.box.height - (value / this.most) * (this.box.height - 2);
  }

  private scale(): Scale {
    const { width } = this.box;
    return scaleOf(0, this.longest / width, width);
  }
}

/** The last measure not after a moment; -1 where the run had ended. */
function indexAt({ time }: MemoryRun, moment: number): number {
  if (time.length === 0 || moment > time[time.length - 1]) return -1;
  return Math.max(0, firstAbove(time, moment) - 1);
}
