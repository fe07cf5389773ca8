import { timeTicks } from '../../core/format';
import type { Lane } from '../../core/lane';
import { AXIS_HEIGHT, drawTimeAxis, gutterOf, MARGIN } from '../../draw/axis';
import type { GestureHandlers } from '../../draw/gestures';
import type { Box, Pen } from '../../draw/pen';
import type { Scale } from '../../draw/viewport';
import { element } from '../element';
import type { Direction, Mark, PanelContext, PanelView, Sign, TableRows } from '../panel';
import { Choice } from './choice';
import { type ColorTable, colorTable } from './colors';
import { drawDetails } from './details';
import { Grid, type View } from './grid';
import { drawLaneLabels, type Group, groupsOf } from './lane-labels';
import { Legend } from './legend';
import { LEVELS_FROM } from './levels';
import { entryAt, type Place, TaskMark } from './marks';
import { noteOf } from './note';
import { Phases } from './phases';
import { rowsOf } from './rows';
import { Sheet } from './sheet';

/** Heights of a lane, CSS pixels. */
const LOWEST_LANE = 3;
const HIGHEST_LANE = 22;
/** The same where there are at most three lanes. */
const HIGHEST_OF_FEW = 32;
/** Height that lanes together aim at, and the most that they take before they scroll. */
const AIM = 400;
const TALLEST = 600;
/** From this height on, phases and shapes are drawn within a lane. */
const WITH_SHAPES = 5;
/** Longest time in one go for building levels, milliseconds. */
const BUILDING = 10;

export class TaskStreamView implements PanelView {
  readonly gestures: GestureHandlers;
  readonly above: HTMLElement;
  readonly below = element('p', { class: 'di-note', hidden: true });
  readonly search: HTMLInputElement;

  private readonly legend: Legend;
  private readonly choice: Choice;
  private readonly phases: Phases;
  private readonly grid: Grid;
  private readonly sheet = new Sheet();
  private groups: readonly Group[] = [];
  private grouped = -1;
  private laneHeight = LOWEST_LANE;
  /** First lane that is shown, where there are more than fit. */
  private top = 0;
  private colors: ColorTable | undefined;
  private colored = '';
  private building = false;
  private disposed = false;

  constructor(private readonly context: PanelContext) {
    const { tasks } = context;
    this.phases = new Phases(tasks);
    this.grid = new Grid(this.phases);
    this.choice = new Choice(context, () => context.surface.invalidate('layout'));
    this.legend = new Legend(context, this.choice);
    this.above = this.legend.element;
    this.search = this.legend.search;
    this.gestures = {
      pan: (dx, dy) => {
        context.viewport.pan(-dx / this.plot().width);
        if (dy !== 0) this.scrollBy(-dy / this.laneHeight);
      },
      key: event => this.key(event)
    };
  }

  empty(): string | undefined {
    const { tasks, recording } = this.context;
    if (tasks.count > 0) return undefined;
    if (recording.about('stopped') !== undefined) return 'No task ran while this was recorded.';
    return 'No task has finished yet. Run a Dask computation.';
  }

  height(_width: number): number {
    const lanes = Math.max(1, this.context.tasks.lanes.length);
    return Math.min(TALLEST, lanes * laneHeightIn(AIM, lanes)) + AXIS_HEIGHT;
  }

  plot(): Box {
    const { width, height } = this.context.surface;
    const x = gutterOf(width);
    const lanes = this.shownLanes() * this.laneHeight;
    return { x, y: 0, width: Math.max(1, width - x - MARGIN), height: Math.min(lanes, height - AXIS_HEIGHT) };
  }

  layout(): void {
    const { tasks, surface, recording } = this.context;
    this.phases.update();
    this.choice.update();
    const { lanes } = tasks;
    if (this.grouped !== tasks.version) {
      this.grouped = tasks.version;
      this.groups = groupsOf(tasks);
    }
    const room = surface.height - AXIS_HEIGHT;
    this.laneHeight = Math.max(
      LOWEST_LANE,
      Math.min(HIGHEST_LANE, Math.floor(room / Math.max(1, lanes.length)))
    );
    this.scrollBy(0);
    this.legend.update(surface.theme);
    const note = noteOf(tasks);
    this.below.textContent = note;
    this.below.hidden = note === '';
    if (tasks.count > LEVELS_FROM && recording.end > recording.origin) void this.buildLevels();
  }

  draw(pen: Pen): void {
    const { viewport, surface } = this.context;
    const { theme, ratio } = surface;
    const plot = this.plot();
    const scale = viewport.scale(plot.width, ratio);
    const marks = timeTicks(scale.start - viewport.origin, scale.stop - viewport.origin, plot.width / 110);
    // What has arrived since the last layout is drawn too.
    this.choice.update();
    if (!this.grid.update(this.view(scale, ratio))) surface.invalidate('base');
    this.recolor();
    this.paint(pen, plot, scale, marks.values);
    drawDetails(pen, {
      context: this.context,
      plot,
      scale,
      lanes: this.lanesShown(),
      laneHeight: this.laneHeight,
      roles: this.choice.roles,
      entries: this.choice.entries
    });
    drawLaneLabels(
      pen,
      {
        groups: this.groups,
        lanes: this.context.tasks.lanes,
        from: this.top,
        to: this.top + this.shownLanes(),
        laneHeight: this.laneHeight,
        right: plot.x,
        end: plot.x + plot.width
      },
      theme
    );
    const axis = { ...plot, y: plot.height, height: AXIS_HEIGHT };
    drawTimeAxis(pen, axis, scale, viewport.origin, marks, theme);
    this.drawScroll(pen, plot);
  }

  drawOverlay(pen: Pen, hovered: Mark | undefined): void {
    if (!(hovered instanceof TaskMark)) return;
    const { theme } = this.context.surface;
    const box = this.boxOf(hovered.place);
    if (!box) return;
    const plot = this.plot();
    const left = Math.max(plot.x, box.x);
    const right = Math.min(plot.x + plot.width, box.x + box.width);
    pen.strokeStyle = theme.backgroundText;
    pen.lineWidth = 3;
    pen.strokeRect(left - 0.5, box.y - 0.5, Math.max(2, right - left) + 1, box.height + 1);
    pen.strokeStyle = theme.text;
    pen.lineWidth = 1.5;
    pen.strokeRect(left - 0.5, box.y - 0.5, Math.max(2, right - left) + 1, box.height + 1);
  }

  pick(x: number, y: number): Mark | undefined {
    const plot = this.plot();
    if (x < plot.x || x > plot.x + plot.width || y < 0 || y >= plot.height) return undefined;
    const scale = this.context.viewport.scale(plot.width, this.context.surface.ratio);
    const lane = this.context.tasks.lanes[this.top + Math.floor(y / this.laneHeight)];
    if (!lane) return undefined;
    const found = entryAt(
      lane,
      scale.time(x - plot.x),
      scale.perPixel,
      this.choice.roles,
      this.choice.entries
    );
    return found && this.mark({ lane, entry: found.entry }, found.others);
  }

  move(from: Mark | undefined, direction: Direction): Mark | undefined {
    const place = from instanceof TaskMark ? from.place : undefined;
    const next = this.neighbour(place, direction);
    if (!next) return undefined;
    this.reveal(next);
    return this.mark(next, 0);
  }

  choose(mark: Mark | undefined, { additive }: { readonly additive: boolean }): void {
    if (mark instanceof TaskMark) this.choice.choose(mark.name, additive);
  }

  signs(): Sign[] {
    return this.legend.forPicture(this.context.surface.theme);
  }

  rows(): TableRows {
    return rowsOf(this.context, this.choice.roles, this.choice.entries);
  }

  dispose(): void {
    this.disposed = true;
  }

  private view({ start, perPixel, width }: Scale, ratio: number): View {
    const { viewport, recording } = this.context;
    const lanes = this.lanesShown();
    return {
      lanes,
      width: Math.max(1, Math.round(width * ratio)),
      start,
      column: perPixel / ratio,
      origin: viewport.origin,
      now: recording.end,
      roles: this.choice.roles,
      entries: this.choice.entries,
      plain: this.choice.plain,
      version: `${this.choice.version}|${this.top}|${viewport.origin}|${this.phases.generation}`,
      moving: viewport.moving
    };
  }

  private paint(pen: Pen, plot: Box, scale: Scale, marks: readonly number[]): void {
    const { surface, viewport, selection } = this.context;
    if (!this.colors || plot.height <= 0) return;
    const lanes = this.lanesShown();
    const { workers } = selection.filter();
    const withShapes = this.laneHeight >= WITH_SHAPES;
    const first = Math.round((scale.start - viewport.origin) / (scale.perPixel / surface.ratio));
    const { grid } = this;
    this.sheet.paint(
      grid.tasks,
      grid.phases,
      grid.width,
      lanes.length,
      first,
      this.colors,
      row => workers !== undefined && !workers.has(lanes[row].worker),
      withShapes,
      marks.map(value => Math.round(scale.x(viewport.origin + value) * surface.ratio))
    );
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.sheet.canvas, plot.x, plot.y, plot.width, lanes.length * this.laneHeight);
    pen.fillStyle = surface.theme.backgroundText;
    for (let row = 1; this.laneHeight >= 4 && row <= lanes.length; row++) {
      pen.fillRect(plot.x, row * this.laneHeight - 1, plot.width, 1);
    }
  }

  private recolor(): void {
    const { tasks, colors, selection, surface } = this.context;
    const { theme } = surface;
    const { highlight } = selection;
    const key = [
      tasks.names.length,
      theme.backgroundText,
      theme.contrast,
      theme.palette,
      highlight ?? '\n',
      this.choice.version
    ].join('|');
    if (key === this.colored) return;
    this.colored = key;
    const bright = (name: string): boolean =>
      highlight !== undefined ? name === highlight : this.choice.isBright(name);
    this.colors = colorTable({ names: tasks.names, colors, theme, bright, chosen: !this.choice.plain });
  }

  private async buildLevels(): Promise<void> {
    if (this.building) return;
    this.building = true;
    const { tasks, viewport, recording } = this.context;
    for (;;) {
      await new Promise(resolve => setTimeout(resolve));
      if (this.disposed) return;
      const roles = this.choice.roles;
      if (!this.choice.plain) break;
      if (this.grid.levels.build(tasks.lanes, roles, viewport.origin, recording.end, BUILDING)) break;
    }
    this.building = false;
  }

  private lanesShown(): readonly Lane[] {
    return this.context.tasks.lanes.slice(this.top, this.top + this.shownLanes());
  }

  private shownLanes(): number {
    const room = Math.max(1, Math.floor((this.context.surface.height - AXIS_HEIGHT) / this.laneHeight));
    return Math.min(room, this.context.tasks.lanes.length);
  }

  private scrollBy(lanes: number): void {
    const last = Math.max(0, this.context.tasks.lanes.length - this.shownLanes());
    this.fraction += lanes;
    const whole = Math.trunc(this.fraction);
    this.fraction -= whole;
    const top = Math.max(0, Math.min(last, this.top + whole));
    if (top === this.top) return;
    this.top = top;
    this.context.surface.invalidate('base');
  }

  /** What is left over of a scroll by less than a lane. */
  private fraction = 0;

  private key(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const page = { PageDown: 0.8, PageUp: -0.8 }[event.key];
    if (page === undefined || this.shownLanes() >= this.context.tasks.lanes.length) return false;
    this.scrollBy(Math.round(page * this.shownLanes()));
    return true;
  }

  private drawScroll(pen: Pen, plot: Box): void {
    const { tasks, surface } = this.context;
    const all = tasks.lanes.length;
    const shown = this.shownLanes();
    if (shown >= all) return;
    pen.fillStyle = surface.theme.grid;
    pen.fillRect(plot.x + plot.width + 3, plot.y, 4, plot.height);
    pen.fillStyle = surface.theme.faint;
    const height = Math.max(12, (shown / all) * plot.height);
    const y = (this.top / Math.max(1, all - shown)) * (plot.height - height);
    pen.fillRect(plot.x + plot.width + 3, plot.y + y, 4, height);
  }

  private boxOf({ lane, entry }: Place): Box | undefined {
    const row = this.context.tasks.lanes.indexOf(lane) - this.top;
    if (row < 0 || row >= this.shownLanes() || entry >= lane.length) return undefined;
    const plot = this.plot();
    const scale = this.context.viewport.scale(plot.width, this.context.surface.ratio);
    const x = plot.x + scale.x(lane.start[entry]);
    const stop = plot.x + scale.x(Math.min(lane.stop[entry], this.context.recording.end));
    return {
      x,
      y: row * this.laneHeight,
      width: Math.max(1, stop - x),
      height: Math.max(2, this.laneHeight - 1)
    };
  }

  private mark(place: Place, others: number): TaskMark {
    const box = this.boxOf(place) ?? { x: 0, y: 0, width: 1, height: 1 };
    return new TaskMark(this.context, place, box, others);
  }

  private neighbour(place: Place | undefined, direction: Direction): Place | undefined {
    const { tasks, viewport } = this.context;
    const { lanes } = tasks;
    if (!place || direction === 'first') {
      const lane = lanes.slice(this.top).find(each => each.firstStartAfter(viewport.start) < each.length);
      return lane && { lane, entry: lane.firstStartAfter(viewport.start) };
    }
    const { lane, entry } = place;
    if (direction === 'left' || direction === 'right') {
      const next = entry + (direction === 'left' ? -1 : 1);
      return next >= 0 && next < lane.length ? { lane, entry: next } : place;
    }
    if (direction === 'last') return { lane, entry: lane.length - 1 };
    const step = direction === 'up' ? -1 : 1;
    const middle = (lane.start[entry] + Math.min(lane.stop[entry], tasks.recording.end)) / 2;
    for (let row = lanes.indexOf(lane) + step; row >= 0 && row < lanes.length; row += step) {
      const found = lanes[row].at(middle, Number.POSITIVE_INFINITY);
      if (found >= 0) return { lane: lanes[row], entry: found };
    }
    return place;
  }

  /** Moves what is shown, as little as needed, until an entry can be seen. */
  private reveal({ lane, entry }: Place): void {
    const { viewport, tasks, recording } = this.context;
    const row = tasks.lanes.indexOf(lane);
    if (row < this.top) this.scrollBy(row - this.top);
    else if (row >= this.top + this.shownLanes()) this.scrollBy(row - this.top - this.shownLanes() + 1);
    const start = lane.start[entry];
    const stop = Math.min(lane.stop[entry], recording.end);
    if (start >= viewport.start && start < viewport.stop) return;
    const span = Math.max(viewport.span, (stop - start) * 1.2);
    viewport.show((start + stop) / 2 - span / 2, (start + stop) / 2 + span / 2);
  }
}

/** Height of a lane where `lanes` of them share this room. */
function laneHeightIn(room: number, lanes: number): number {
  const highest = lanes <= 3 ? HIGHEST_OF_FEW : HIGHEST_LANE;
  return Math.max(LOWEST_LANE, Math.min(highest, Math.floor(room / lanes)));
}
