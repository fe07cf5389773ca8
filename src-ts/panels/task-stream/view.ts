import type { Lane } from '../../core/lane';
import { AXIS_HEIGHT, drawTimeAxis, plotIn } from '../../draw/axis';
import type { GestureHandlers } from '../../draw/gestures';
import { type Box, clipTo, type Pen } from '../../draw/pen';
import type { Scale } from '../../draw/viewport';
import { element, setHidden, setWords } from '../element';
import { noTasks } from '../no-tasks';
import type { Direction, Mark, PanelContext, PanelView, Sign, TableRows } from '../panel';
import { timeMarks } from '../time-axis';
import { filling } from './cells';
import { Choice } from './choice';
import { CellColors, type ColorTable } from './colors';
import { drawDetails } from './details';
import { drawFailures } from './failures';
import { Grid, type View } from './grid';
import { drawLaneLabels, type Group, groupsOf } from './lane-labels';
import { heightOf, LaneWindow } from './lane-window';
import { Legend } from './legend';
import { LEVELS_FROM } from './levels';
import { drawLineage, type Lineage, lineageOf } from './lineage';
import { entryAt, type Place, TaskMark } from './marks';
import { neighbour } from './neighbour';
import { noteOf } from './note';
import { PathLine } from './path-line';
import { Phases } from './phases';
import { rowsOf } from './rows';
import { Sheet } from './sheet';

/** From this height on, phases and shapes are drawn within a lane. */
const WITH_SHAPES = 5;
/** How far out of sight, in pixels, a line may lead: far ones would be drawn imprecisely. */
const FAR = 1e5;
/** How far from a task, in pixels, the pointer may be. */
const NEAR = 3;
/** Longest time in one go for building levels, milliseconds. */
const BUILDING = 10;

export class TaskStreamView implements PanelView {
  readonly fills = true;
  readonly gestures: GestureHandlers;
  readonly controls: readonly HTMLElement[];
  readonly above: HTMLElement;
  readonly below = element('p', { class: 'di-note', hidden: true });
  readonly search: HTMLInputElement;

  private readonly legend: Legend;
  private readonly choice: Choice;
  private readonly phases: Phases;
  private readonly pathLine: PathLine;
  private readonly grid: Grid;
  private readonly sheet = new Sheet();
  private groups: readonly Group[] = [];
  private grouped = -1;
  private readonly window = new LaneWindow();
  private colors: ColorTable | undefined;
  private colored = '';
  private mixed: CellColors | undefined;
  private lineage: { readonly of: string; readonly found: Lineage } | undefined;
  private building = false;
  private disposed = false;

  constructor(private readonly context: PanelContext) {
    const { tasks } = context;
    this.phases = new Phases(tasks);
    this.grid = new Grid(this.phases);
    this.pathLine = new PathLine(context);
    this.controls = [this.pathLine.toggle];
    this.choice = new Choice(context, () => context.surface.invalidate('layout'));
    this.legend = new Legend(context, this.choice);
    this.above = this.legend.element;
    this.search = this.legend.search;
    this.gestures = {
      pan: (dx, dy) => {
        context.viewport.pan(-dx / this.plot().width);
        this.scrollBy(-dy / this.window.height);
      },
      key: event => this.key(event)
    };
  }

  empty(): string | undefined {
    const { tasks, recording } = this.context;
    return tasks.count > 0 ? undefined : noTasks(recording);
  }

  height(_width: number): number {
    return heightOf(Math.max(1, this.context.tasks.lanes.length));
  }

  plot(): Box {
    const { width, height } = this.context.surface;
    const lanes = this.window.shown * this.window.height;
    return plotIn(width, 0, Math.min(lanes, height - AXIS_HEIGHT));
  }

  layout(): void {
    const { tasks, surface, recording } = this.context;
    this.phases.update();
    this.choice.update();
    this.group();
    this.window.fit(tasks.lanes.length, surface.height - AXIS_HEIGHT);
    this.legend.update(surface.theme);
    this.pathLine.update();
    const note = noteOf(tasks);
    setWords(this.below, note);
    setHidden(this.below, note === '');
    if (tasks.count > LEVELS_FROM && recording.end > recording.origin) void this.buildLevels();
  }

  draw(pen: Pen): void {
    const { viewport, surface } = this.context;
    const { theme, ratio } = surface;
    const plot = this.plot();
    const { scale } = this;
    const marks = timeMarks(scale, viewport.origin);
    // What has arrived since the last layout is drawn too.
    this.choice.update();
    this.group();
    if (!this.grid.update(this.view(scale, ratio))) surface.invalidate('base');
    this.recolor();
    this.paint(pen, plot, scale, marks.values);
    const { lanes } = this.context.tasks;
    const { top, height: laneHeight } = this.window;
    this.pathLine.draw(pen, { plot, scale, lanes, top, laneHeight }, theme);
    if (this.pathLine.shown) drawFailures(pen, this.grid, plot, 1 / ratio, laneHeight, theme, this.dimmed());
    drawDetails(pen, {
      context: this.context,
      plot,
      scale,
      lanes: this.lanesShown(),
      laneHeight: this.window.height,
      roles: this.choice.roles,
      entries: this.choice.entries,
      isLow: (row, x) => this.grid.isAway(row, Math.floor(x * ratio))
    });
    drawLaneLabels(
      pen,
      {
        groups: this.groups,
        lanes,
        from: top,
        to: top + this.window.shown,
        laneHeight,
        right: plot.x,
        end: plot.x + plot.width
      },
      theme
    );
    const axis = { ...plot, y: plot.height, height: AXIS_HEIGHT };
    drawTimeAxis(pen, axis, scale, viewport.origin, marks, theme);
    this.window.draw(pen, plot, theme);
  }

  drawOverlay(pen: Pen, hovered: Mark | undefined): void {
    const { theme } = this.context.surface;
    const place = placeOf(hovered);
    const box = place && this.boxOf(place);
    if (!box) return;
    const plot = this.plot();
    drawLineage(pen, plot, this.lineageOf(hovered?.id, place), box, each => this.anywhere(each), theme);
    const left = Math.max(plot.x, box.x);
    const right = Math.min(plot.x + plot.width, box.x + box.width);
    for (const [color, width] of [
      [theme.backgroundText, 3],
      [theme.text, 1.5]
    ] as const) {
      pen.strokeStyle = color;
      pen.lineWidth = width;
      pen.strokeRect(left - 0.5, box.y - 0.5, Math.max(2, right - left) + 1, box.height + 1);
    }
  }

  pick(x: number, y: number): Mark | undefined {
    const plot = this.plot();
    if (x < plot.x || x > plot.x + plot.width || y < 0 || y >= plot.height) return undefined;
    const { scale, grid } = this;
    const row = Math.floor(y / this.window.height);
    const lane = this.context.tasks.lanes[this.window.top + row];
    if (!lane) return undefined;
    const { ratio } = this.context.surface;
    const column = Math.floor((x - plot.x) * ratio);
    const from = scale.time(column / ratio);
    const to = scale.time((column + 1) / ratio);
    const fill = filling(grid.tasks[row * grid.width + column]);
    const found = entryAt(lane, from, to, NEAR * scale.perPixel, fill, this.choice);
    return found && this.mark({ lane, entry: found.entry }, found.others);
  }

  move(from: Mark | undefined, direction: Direction): Mark | undefined {
    return this.goTo(neighbour(this.context, this.choice, placeOf(from), direction, this.window.top));
  }

  follow(from: Mark, to: keyof Lineage): Mark | undefined {
    const place = placeOf(from);
    return this.goTo(place && lineageOf(this.context.tasks, place)[to][0]);
  }

  private get scale(): Scale {
    const { viewport, surface } = this.context;
    return viewport.scale(this.plot().width, surface.ratio);
  }

  private goTo(next: Place | undefined): Mark | undefined {
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

  /** In words, what of it is shown; nothing where that is all. */
  shows(): string {
    return [this.choice.hiddenWords, this.window.words].filter(Boolean).join(' · ');
  }

  rows(): TableRows {
    return rowsOf(this.context, this.choice);
  }

  dispose(): void {
    this.disposed = true;
    this.pathLine.dispose();
  }

  private view({ start, perPixel, width }: Scale, ratio: number): View {
    const { viewport, recording } = this.context;
    const lanes = this.lanesShown();
    return {
      lanes,
      width: Math.max(1, Math.ceil(width * ratio)),
      start,
      column: perPixel / ratio,
      origin: viewport.origin,
      now: recording.end,
      roles: this.choice.roles,
      entries: this.choice.entries,
      plain: this.choice.plain,
      version: `${this.choice.version}|${this.window.top}|${viewport.origin}|${this.phases.generation}`,
      moving: viewport.moving
    };
  }

  private paint(pen: Pen, plot: Box, scale: Scale, marks: readonly number[]): void {
    const { surface, viewport } = this.context;
    if (!this.colors || plot.height <= 0) return;
    const lanes = this.lanesShown();
    const laneHeight = this.window.height;
    const withShapes = laneHeight >= WITH_SHAPES;
    const first = Math.round((scale.start - viewport.origin) / (scale.perPixel / surface.ratio));
    const { grid } = this;
    this.sheet.paint(
      grid.tasks,
      grid.phases,
      grid.width,
      lanes.length,
      first,
      this.colors,
      this.dimmed(),
      withShapes,
      marks.map(value => Math.round(scale.x(viewport.origin + value) * surface.ratio))
    );
    pen.imageSmoothingEnabled = false;
    clipTo(pen, plot);
    // A column is a pixel of the screen: stretched to the plot, some would not be drawn.
    pen.drawImage(this.sheet.canvas, plot.x, plot.y, grid.width / surface.ratio, lanes.length * laneHeight);
    pen.restore();
    pen.fillStyle = surface.theme.backgroundText;
    for (let row = 1; laneHeight >= 4 && row <= lanes.length; row++) {
      pen.fillRect(plot.x, row * laneHeight - 1, plot.width, 1);
    }
  }

  /** Lanes of workers that are not chosen step back. */
  private dimmed(): (row: number) => boolean {
    const { selection, tasks } = this.context;
    const { workers } = selection.filter();
    const { lanes } = tasks;
    const { top } = this.window;
    return row => workers !== undefined && !workers.has(lanes[top + row].worker);
  }

  private recolor(): void {
    const { colors, selection, surface } = this.context;
    const { names } = this.context.tasks;
    const { theme } = surface;
    const { highlight } = selection;
    const key = [surface.look, highlight ?? '\n', this.choice.version, names.length].join('|');
    if (key === this.colored) return;
    this.colored = key;
    if (this.mixed?.theme !== theme || this.mixed.names !== names) {
      this.mixed = new CellColors(theme, names, colors);
    }
    this.colors = this.mixed.table(name => selection.isBright(name), !this.choice.plain);
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

  private group(): void {
    const { tasks } = this.context;
    if (this.grouped === tasks.version) return;
    this.grouped = tasks.version;
    this.groups = groupsOf(tasks);
  }

  private lanesShown(): readonly Lane[] {
    const { top, shown } = this.window;
    return this.context.tasks.lanes.slice(top, top + shown);
  }

  private scrollBy(lanes: number): void {
    if (this.window.scrollBy(lanes)) this.context.surface.invalidate('base');
  }

  private key(event: KeyboardEvent): boolean {
    const page = { PageDown: 0.8, PageUp: -0.8 }[event.key];
    if (page === undefined || this.window.isWhole) return false;
    this.scrollBy(Math.round(page * this.window.shown));
    return true;
  }

  /** What a task waited for and what waited for it, worked out once while it is pointed at. */
  private lineageOf(id: Mark['id'] | undefined, place: Place): Lineage {
    const of = `${id} ${this.context.tasks.version}`;
    if (this.lineage?.of !== of) this.lineage = { of, found: lineageOf(this.context.tasks, place) };
    return this.lineage.found;
  }

  private boxOf(place: Place): Box | undefined {
    const { top, shown } = this.window;
    const row = this.context.tasks.lanes.indexOf(place.lane) - top;
    return row < 0 || row >= shown || place.entry >= place.lane.length ? undefined : this.anywhere(place);
  }

  /** Where a task stands or would stand, in sight or not. */
  private anywhere({ lane, entry }: Place): Box {
    const { top, height } = this.window;
    const plot = this.plot();
    const { scale } = this;
    const at = (time: number): number => plot.x + Math.max(-FAR, Math.min(FAR, scale.x(time)));
    const x = at(lane.start[entry]);
    const stop = at(Math.min(lane.stop[entry], this.context.recording.end));
    return {
      x,
      y: (this.context.tasks.lanes.indexOf(lane) - top) * height,
      width: Math.max(1, stop - x),
      height: Math.max(2, height - 1)
    };
  }

  private mark(place: Place, others: number): TaskMark {
    return new TaskMark(this.context, place, others, each => this.anywhere(each));
  }

  /** Moves what is shown, as little as needed, until an entry can be seen. */
  private reveal({ lane, entry }: Place): void {
    const { viewport, tasks, recording } = this.context;
    const row = tasks.lanes.indexOf(lane);
    if (this.window.reveal(row)) this.context.surface.invalidate('base');
    const start = lane.start[entry];
    const stop = Math.min(lane.stop[entry], recording.end);
    if (start < viewport.stop && stop > viewport.start) return;
    const span = Math.max(viewport.span, (stop - start) * 1.2);
    viewport.show((start + stop) / 2 - span / 2, (start + stop) / 2 + span / 2);
  }
}

/** Where the task of a mark is now. */
function placeOf(mark: Mark | undefined): Place | undefined {
  return mark instanceof TaskMark ? mark.current() : undefined;
}
