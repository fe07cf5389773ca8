import { count } from '../../core/format';
import { AXIS_HEIGHT } from '../../draw/axis';
import type { Box, Pen } from '../../draw/pen';
import type { Theme } from '../../draw/theme';

/** Least height of a lane, CSS pixels. */
const LOWEST_LANE = 3;
/** What a lane wants at most, and the same where there are at most three. */
const WANTED = 22;
const WANTED_OF_FEW = 32;
/** Height that lanes together aim at, and the most that they take before they scroll. */
const AIM = 400;
const TALLEST = 600;

/** Height that so many lanes want, with their axis. */
export function heightOf(lanes: number): number {
  const wanted = lanes <= 3 ? WANTED_OF_FEW : WANTED;
  const each = Math.max(LOWEST_LANE, Math.min(wanted, Math.floor(AIM / lanes)));
  return Math.min(TALLEST, lanes * each) + AXIS_HEIGHT;
}

/** Which lanes are shown where there are more than fit, and how high each is. */
export class LaneWindow {
  /** Height of a lane, CSS pixels. */
  height = LOWEST_LANE;
  /** First lane that is shown. */
  top = 0;
  /** How many are shown. */
  shown = 1;
  private all = 1;
  /** What is left over of a scroll by less than a lane. */
  private fraction = 0;

  /** So many lanes, in so much room, CSS pixels. */
  fit(lanes: number, room: number): void {
    const each = Math.floor(room / Math.max(1, lanes));
    this.height = Math.max(LOWEST_LANE, each);
    this.all = lanes;
    this.shown = Math.min(Math.max(1, Math.floor(room / this.height)), lanes);
    this.scrollBy(0);
  }

  /** True if all lanes are shown. */
  get isWhole(): boolean {
    return this.shown >= this.all;
  }

  /** In words, which lanes are shown; nothing where all are. */
  get words(): string {
    const last = this.top + this.shown;
    return this.isWhole ? '' : `lanes ${count(this.top + 1)}–${count(last)} of ${count(this.all)}`;
  }

  /** Scrolls by lanes, or a part of one. True if others are shown now. */
  scrollBy(lanes: number): boolean {
    this.fraction += lanes;
    const whole = Math.trunc(this.fraction);
    this.fraction -= whole;
    const top = Math.max(0, Math.min(this.all - this.shown, this.top + whole));
    if (top === this.top) return false;
    this.top = top;
    return true;
  }

  /** Scrolls, as little as needed, until a lane is shown. */
  reveal(lane: number): boolean {
    this.fraction = 0;
    if (lane < this.top) return this.scrollBy(lane - this.top);
    if (lane < this.top + this.shown) return false;
    return this.scrollBy(lane - this.top - this.shown + 1);
  }

  /** A bar beside the plot that tells which part is shown. */
  draw(pen: Pen, plot: Box, theme: Theme): void {
    if (this.isWhole) return;
    const x = plot.x + plot.width + 3;
    pen.fillStyle = theme.grid;
    pen.fillRect(x, plot.y, 4, plot.height);
    pen.fillStyle = theme.faint;
    const height = Math.max(12, (this.shown / this.all) * plot.height);
    const y = (this.top / Math.max(1, this.all - this.shown)) * (plot.height - height);
    pen.fillRect(x, plot.y + y, 4, height);
  }
}
