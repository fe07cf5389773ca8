import type { Clause, TimeRange } from '../core/selection';
import { timeOf } from '../core/task-filter';
import { AXIS_HEIGHT } from '../draw/axis';
import type { GestureHandlers } from '../draw/gestures';
import type { Box, Pen } from '../draw/pen';
import type { Surface } from '../draw/surface';
import type { Tooltip } from '../draw/tooltip';
import type { Scale } from '../draw/viewport';
import type { Direction, Mark, Panel, PanelView, Stage } from './panel';

const ARROWS: Readonly<Record<string, Direction>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
  Home: 'first',
  End: 'last'
};

/** From a task along the graph. */
const ALONG = { i: 'inputs', o: 'dependents' } as const;

type Gesture = (x: number, y: number, event?: Partial<PointerEvent>) => unknown;

/** What a person does on a panel, and what follows from it. */
export class Interaction {
  private hovered: Mark | undefined;
  /** True while the arrow keys go from mark to mark. */
  private stepping = false;
  /** Where the pointer was last, while it is here. */
  private last: { readonly x: number; readonly y: number } | undefined;
  /** A stretch that is being marked: from a moment, which stays one while the picture moves, to where the pointer is. */
  private brushing: { readonly start: number; readonly to: number } | undefined;
  /** What was chosen before each of the last two clicks. */
  private before: (readonly Clause[])[] = [];

  constructor(
    private readonly panel: Panel,
    private readonly view: PanelView,
    private readonly stage: Stage,
    private readonly surface: Surface,
    private readonly tooltip: Tooltip,
    private readonly say: (words: string) => void
  ) {}

  handlers(): GestureHandlers {
    const own = this.view.gestures ?? {};
    const shared: GestureHandlers = {
      hover: place => this.hover(place),
      click: (x, y, event) => this.click(x, y, event.shiftKey || event.ctrlKey || event.metaKey),
      key: event => {
        if (event.key === 'Escape' && this.dismiss()) return true;
        if (event.key === 'Tab') return !event.shiftKey && this.enterCard();
        return this.key(event);
      }
    };
    const { viewport } = this.stage;
    const overTime: GestureHandlers = {
      zoom: (x, y, factor) => this.isOverTime(y) && viewport.zoom(this.place(x), factor),
      pan: dx => this.overTime && viewport.pan(-dx / this.plot().width),
      brush: (from, to, done) => this.overTime && this.brush(from, to, done),
      doubleClick: () => {
        this.drop();
        if (!this.overTime) return;
        this.takeBack();
        viewport.fit();
      }
    };
    return { ...shared, ...(this.panel.overTime && overTime), ...this.ownOf(own), key: shared.key };
  }

  /** A view's own gestures move its picture, and what was under the pointer with it. */
  private ownOf(own: GestureHandlers): GestureHandlers {
    const made = Object.entries(own as Record<string, Gesture>).map(([name, gesture]) => {
      const moving: Gesture = (x, y, event) => {
        const taken = gesture(x, y, event);
        // A finger points at nothing before it presses, nor after.
        if (event?.pointerType === 'touch') this.pin(this.view.pick?.(x, y));
        else this.moved();
        return taken;
      };
      return [name, moving];
    });
    return Object.fromEntries(made);
  }

  drawOverlay(sheet: () => Pen): void {
    const { viewport, selection, recording } = this.stage;
    const { theme } = this.surface;
    if (this.overTime) {
      const plot = this.plot();
      const { scale } = this;
      const range = this.brushing ? this.stretch(this.brushing) : timeOf(recording, selection.filter());
      if (range) this.drawRange(sheet(), plot, scale.x(range.start), scale.x(range.stop));
      const x = Math.round(scale.x(viewport.cursor));
      if (x >= 0 && x <= plot.width) {
        const pen = sheet();
        pen.fillStyle = theme.faint;
        pen.fillRect(plot.x + x, plot.y, 1, plot.height);
      }
    }
    if (this.hovered || this.view.isMarked) this.view.drawOverlay?.(sheet(), this.hovered);
  }

  /** Everything outside a chosen range steps back. */
  private drawRange(pen: Pen, plot: Box, from: number, to: number): void {
    const { theme } = this.surface;
    const left = Math.max(0, Math.min(plot.width, from));
    const right = Math.max(0, Math.min(plot.width, to));
    pen.globalAlpha = 0.62;
    pen.fillStyle = theme.backgroundText;
    for (const { y, height } of this.view.boxes?.() ?? [plot]) {
      pen.fillRect(plot.x, y, left, height);
      pen.fillRect(plot.x + right, y, plot.width - right, height);
    }
    pen.globalAlpha = 1;
    pen.fillStyle = theme.accent;
    for (const end of [from, to])
      if (end >= 0 && end <= plot.width) pen.fillRect(plot.x + Math.round(end), plot.y, 1, plot.height);
  }

  /** Whether what is shown stands on the shared time axis. */
  private get overTime(): boolean {
    return this.panel.overTime && this.view.ownAxis !== true;
  }

  /** Whether a place stands on it: what is under the axis does not. */
  private isOverTime(y: number): boolean {
    const plot = this.plot();
    return this.overTime && y < plot.y + plot.height + AXIS_HEIGHT;
  }

  private plot(): Box {
    return this.view.plot?.() ?? { x: 0, y: 0, width: this.surface.width, height: this.surface.height };
  }

  private get scale(): Scale {
    return this.stage.viewport.scale(this.plot().width, this.surface.ratio);
  }

  /** Where in the plot, 0 to 1. */
  private place(x: number): number {
    const plot = this.plot();
    return Math.max(0, Math.min(1, (x - plot.x) / plot.width));
  }

  /** The moment at a place; beside the plot, that at its edge. */
  private timeAt(x: number): number {
    return this.scale.time(this.place(x) * this.plot().width);
  }

  private stretch({ start: from, to }: { readonly start: number; readonly to: number }): TimeRange {
    const [start, stop] = [from, this.timeAt(to)].sort((a, b) => a - b);
    return { start, stop };
  }

  /** The picture has moved under the pointer: what it was on is elsewhere now. */
  moved(): void {
    const isDismissed = this.hovered && this.tooltip.element.hidden;
    if (this.tooltip.pinned || isDismissed) return;
    if (this.stepping) {
      if (this.hovered) this.tooltip.place(this.target(this.hovered));
      return;
    }
    if (this.hovered) this.point(undefined);
    if (!this.stage.viewport.moving && this.last) this.hover(this.last);
  }

  /**
   * What the card stands beside is elsewhere in the window, or hidden with its tab. A card that is pinned stays where
   * a person scrolls.
   */
  pageMoved(scrolled: boolean): void {
    const { pinned } = this.tooltip;
    if (!this.hovered || (pinned && scrolled)) return;
    if (this.surface.element.getClientRects().length === 0) this.drop();
    else if (pinned || this.stepping) this.tooltip.place(this.target(this.hovered));
    else this.hover(undefined);
  }

  /** What is drawn has been worked out anew: the mark under the pointer may be another, or elsewhere. */
  renewed(): void {
    if (!this.hovered || !this.last || this.tooltip.pinned || this.stepping) return;
    const mark = this.view.pick?.(this.last.x, this.last.y);
    const isDismissed = this.tooltip.element.hidden && mark?.id === this.hovered.id;
    // A card that is there tells what is known by now.
    if (!isDismissed) this.hovered = undefined;
    this.point(mark);
  }

  /** The pinned card was closed or left: the keys go on in the chart. */
  back(): void {
    if (!this.tooltip.pinned) this.drop();
    this.surface.element.focus({ preventScroll: true });
  }

  /**
   * Puts away the card that is there, or what the arrow keys are on; false if there is neither. A card of the pointer
   * is not shown again on its mark.
   */
  dismiss(): boolean {
    const { tooltip } = this;
    if (tooltip.element.hidden && !(this.stepping && this.hovered)) return false;
    if (tooltip.pinned || this.stepping) this.drop();
    else tooltip.hide();
    return true;
  }

  /** The focus has gone elsewhere: a card that the arrow keys have opened has no one left to read it. */
  left(): void {
    if (this.stepping && !this.tooltip.pinned) this.drop();
  }

  /** Points at nothing any more. */
  private drop(): void {
    if (this.stepping) this.stage.viewport.cursor = Number.NaN;
    this.stepping = false;
    this.point(undefined);
  }

  private hover(at: { readonly x: number; readonly y: number } | undefined): void {
    const { viewport } = this.stage;
    this.last = at;
    if (this.overTime) {
      const plot = this.plot();
      const inside = at && this.isOverTime(at.y) && at.x >= plot.x && at.x <= plot.x + plot.width;
      viewport.cursor = inside ? this.timeAt(at.x) : Number.NaN;
    }
    if (this.tooltip.pinned) return;
    this.stepping = false;
    this.point(at && this.view.pick?.(at.x, at.y));
  }

  private point(mark: Mark | undefined): void {
    const same = mark?.id === this.hovered?.id;
    this.hovered = mark;
    this.surface.invalidate('overlay');
    this.surface.element.classList.toggle('di-pointing', mark !== undefined);
    if (!mark) {
      this.tooltip.hide();
      return;
    }
    if (same) return;
    this.tooltip.show(mark.card(), this.target(mark));
  }

  /** Where a mark is in the window. */
  private target(mark: Mark): Box {
    const bounds = this.surface.element.getBoundingClientRect();
    const { x, y, width, height } = mark.box;
    const left = Math.max(0, x);
    const right = Math.min(bounds.width, x + width);
    return { x: bounds.left + left, y: bounds.top + y, width: Math.max(1, right - left), height };
  }

  private click(x: number, y: number, additive: boolean): void {
    const wasPinned = this.tooltip.pinned;
    this.before = [...this.before.slice(-1), this.stage.selection.clauses];
    const mark = this.view.pick?.(x, y);
    this.pin(mark);
    if (mark || !wasPinned) this.view.choose?.(mark, { additive });
  }

  /** Takes back what two clicks have chosen that turned out to be one gesture. */
  private takeBack(): void {
    const { selection } = this.stage;
    const [chosen = selection.clauses] = this.before;
    for (let click = 0; click < 2 && selection.clauses !== chosen; click++) selection.undo();
    this.before = [];
  }

  /** Points at a mark, with a card that stays unless it is done with; at none, and the card that is there goes. */
  private pin(mark: Mark | undefined): void {
    this.tooltip.hide();
    this.hovered = undefined;
    this.point(mark);
    if (mark?.acts) this.tooltip.hide();
    else if (mark) this.tooltip.pin();
  }

  private brush(from: number, to: number, done: boolean): void {
    const brushed = { start: this.brushing?.start ?? this.timeAt(from), to };
    this.brushing = done ? undefined : brushed;
    this.surface.invalidate('overlay');
    const value = this.stretch(brushed);
    // Beside the plot there is no time, and what is given up is empty.
    if (done && from !== to && value.start < value.stop) this.chooseTime(value);
  }

  private chooseTime({ start, stop }: TimeRange): void {
    this.stage.selection.set({ source: this.panel.id, column: 'time', value: { start, stop } });
  }

  private key(event: KeyboardEvent): boolean {
    // With the caps lock on, or Shift, letters are others.
    const key = event.key.length > 1 ? event.key : event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && key === 'z') {
      return event.shiftKey ? this.stage.selection.redo() : this.stage.selection.undo();
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    if (this.view.gestures?.key?.(event)) {
      this.moved();
      return true;
    }
    if (key === '/' && this.view.search) {
      this.view.search.focus();
      return true;
    }
    if (key === 'Enter' && this.view.move) return this.enter(event.shiftKey);
    if ((key === 'i' || key === 'o') && this.hovered && this.view.follow) {
      return this.go(this.view.follow(this.hovered, ALONG[key]));
    }
    const direction = ARROWS[key];
    if (direction && this.view.move && (this.stepping || event.shiftKey || !this.overTime)) {
      return this.step(direction);
    }
    return this.overTime && this.moveTime(key);
  }

  private enter(additive: boolean): boolean {
    const { hovered } = this;
    if (!hovered) return this.step('first');
    if (!this.tooltip.pinned) this.pin(hovered);
    this.view.choose?.(hovered, { additive });
    return true;
  }

  private enterCard(): boolean {
    if (this.tooltip.pinned) this.tooltip.element.focus();
    return this.tooltip.pinned;
  }

  private step(direction: Direction): boolean {
    return this.go(this.view.move?.(this.stepping || this.hovered ? this.hovered : undefined, direction));
  }

  private go(next: Mark | undefined): boolean {
    if (!next) return true;
    this.stepping = true;
    this.tooltip.hide();
    this.hovered = undefined;
    this.point(next);
    const current = this.view.reader?.active();
    if (current) this.surface.element.setAttribute('aria-activedescendant', current);
    this.say(next.words());
    return true;
  }

  private moveTime(key: string): boolean {
    const { viewport } = this.stage;
    const plot = this.plot();
    const middle = Number.isNaN(viewport.cursor) ? 0.5 : this.place(plot.x + this.scale.x(viewport.cursor));
    switch (key) {
      case 's':
        this.chooseTime(viewport);
        return true;
      case '0':
        viewport.fit();
        return true;
      case '+':
      case '=':
      case 'ArrowUp':
        viewport.zoom(middle, 1 / 1.5);
        return true;
      case '-':
      case 'ArrowDown':
        viewport.zoom(middle, 1.5);
        return true;
      case 'ArrowLeft':
        viewport.pan(-Math.round(plot.width / 10) / plot.width);
        return true;
      case 'ArrowRight':
        viewport.pan(Math.round(plot.width / 10) / plot.width);
        return true;
      default:
        return false;
    }
  }
}
