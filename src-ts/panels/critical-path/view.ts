import { type CriticalPath, criticalPathOf, KINDS, secondsLeft, sumPath } from '../../core/critical-path';
import { duration, plural, share } from '../../core/format';
import { NOTHING } from '../../core/schema';
import type { Filter } from '../../core/selection';
import { sumOf } from '../../core/sum-of';
import { AXIS_HEIGHT, plotIn } from '../../draw/axis';
import type { Box, Pen } from '../../draw/pen';
import type { Scale } from '../../draw/viewport';
import { choice, element, setHidden, setOptions, swatch } from '../element';
import { noneChosen, notExplained } from '../no-tasks';
import type { Direction, Mark, PanelContext, PanelView, Sign } from '../panel';
import { Table, type TableOptions } from '../table';
import { nameColor } from '../task-stream/colors';
import { drawTimes } from '../time-axis';
import { cardOf, wordsOf } from './card';
import { kindColor } from './colors';
import { nameRows, stepRows, stepsLeft } from './lists';
import { Strip } from './strip';
import { KIND_WORDS, nameOf } from './words';

const SOURCE = 'critical-path';
const NONE = noneChosen('Nothing of the path is in');
const TOP = 4;
const STRIP = 30;
/** Most tiles looked at under one pixel. */
const MOST = 4000;
/** A step that is narrower than this is zoomed to when it is chosen, CSS pixels. */
const VISIBLE = 4;

type By = 'name' | 'step';

/** The path as a strip over time, and as a list. */
export class CriticalPathView implements PanelView {
  readonly above = element('ul', { class: 'di-legend-list di-path-kinds' });
  readonly below = element('div', { class: 'di-path-list' });
  readonly controls: readonly HTMLElement[];
  private readonly strip = new Strip();
  /** Shown where there are several clusters. */
  private readonly clusters: HTMLSelectElement;
  private by: By = 'name';
  private table: Table | undefined;
  private tabled = '';

  constructor(private readonly context: PanelContext) {
    const lists = choice<By>(
      'List',
      [
        ['name', 'By task name'],
        ['step', 'Step by step']
      ],
      by => {
        this.by = by;
        this.table = undefined;
        this.tabled = '';
        context.surface.invalidate('layout');
      }
    );
    this.clusters = choice('Cluster', [], cluster => {
      context.selection.clear(SOURCE);
      this.path.choose(cluster);
      context.surface.invalidate('layout');
    });
    this.clusters.hidden = true;
    this.controls = [this.clusters, lists];
  }

  empty(): string | undefined {
    return notExplained(this.context, 'critical', 'The critical path is being worked out.');
  }

  height(): number {
    return TOP + STRIP + AXIS_HEIGHT;
  }

  plot(): Box {
    return plotIn(this.context.surface.width, TOP, STRIP);
  }

  layout(): void {
    const { selection, surface, tasks } = this.context;
    this.offerClusters();
    const tabled = [this.path.version, this.by, surface.look, tasks.names.length, selection.save()].join('|');
    if (tabled === this.tabled) return;
    this.tabled = tabled;
    const filter = selection.filter(SOURCE);
    const seconds = secondsLeft(this.path, tasks, filter);
    this.tellKinds(seconds);
    const content = this.by === 'name' ? this.byName(seconds, filter) : this.byStep(seconds, filter);
    if (this.table) {
      this.table.renew(content);
      return;
    }
    this.table = new Table(content);
    this.below.replaceChildren(this.table.element);
  }

  draw(pen: Pen): void {
    const { surface, viewport, tasks, colors, selection } = this.context;
    const { theme, ratio } = surface;
    const plot = this.plot();
    const scale = viewport.scale(plot.width, ratio);
    drawTimes(pen, plot, scale, viewport.origin, theme);
    this.strip.draw(pen, this.path, plot, scale, { tasks, colors, selection, theme, ratio });
    pen.font = `12px ${theme.font}`;
    pen.fillStyle = theme.text;
    pen.fillText(duration(this.path.seconds), 2, TOP + 8);
    pen.font = `11px ${theme.font}`;
    pen.fillStyle = theme.muted;
    pen.fillText(plural(this.path.steps, 'step'), 2, TOP + 23);
  }

  get isMarked(): boolean {
    return this.context.selection.own(SOURCE, 'run') !== undefined;
  }

  drawOverlay(pen: Pen, hovered: Mark | undefined): void {
    const { path } = this;
    const { theme } = this.context.surface;
    const chosen = this.context.selection.own(SOURCE, 'run');
    if (chosen) {
      for (let step = 0; step < path.steps; step++) {
        if (chosen.includes(path.run[path.first[step]])) {
          this.outline(pen, path.first[step], path.first[step + 1] - 1, theme.accent);
        }
      }
    }
    const tile = hovered ? this.tileOf(hovered) : -1;
    if (tile >= 0) this.outline(pen, tile, tile, theme.text);
  }

  pick(x: number, y: number): Mark | undefined {
    const plot = this.plot();
    if (x < plot.x || x > plot.x + plot.width || y < TOP || y > TOP + STRIP) return undefined;
    const { path } = this;
    const scale = this.scale();
    const time = scale.time(x - plot.x);
    const until = time + scale.perPixel / 2;
    let best = -1;
    let most = 0;
    const first = path.firstAfter(time - scale.perPixel / 2);
    for (let tile = first; tile < path.count && path.start[tile] < until && tile < first + MOST; tile++) {
      const took = path.stop[tile] - path.start[tile];
      if (took > most) {
        most = took;
        best = tile;
      }
    }
    return best < 0 ? undefined : this.mark(best);
  }

  move(from: Mark | undefined, direction: Direction): Mark | undefined {
    const { path } = this;
    const { viewport } = this.context;
    const last = path.count - 1;
    if (last < 0) return undefined;
    const at = from ? this.tileOf(from) : -1;
    const forward = direction === 'right' || direction === 'down' ? 1 : -1;
    const wanted = direction === 'first' || at < 0 ? path.firstAfter(viewport.start) : at + forward;
    const tile = Math.max(0, Math.min(last, direction === 'last' ? last : wanted));
    this.reveal(path.start[tile], path.stop[tile], 0);
    return this.mark(tile);
  }

  choose(mark: Mark | undefined, { additive }: { readonly additive: boolean }): void {
    const tile = mark ? this.tileOf(mark) : -1;
    if (tile < 0) return;
    const name = this.context.tasks.names[this.path.name[tile]];
    if (name) this.context.selection.choose(SOURCE, 'name', [name], additive);
    else this.chooseTime(this.path.start[tile], this.path.stop[tile]);
  }

  signs(): Sign[] {
    const { theme } = this.context.surface;
    return KINDS.filter(kind => kind !== 'compute').map(kind => ({
      color: kindColor(kind, theme),
      label: KIND_WORDS[kind]
    }));
  }

  private get path(): CriticalPath {
    return criticalPathOf(this.context.tasks);
  }

  private offerClusters(): void {
    const { clusters, cluster } = this.path;
    setHidden(this.clusters, clusters.length < 2);
    setOptions(
      this.clusters,
      clusters.map(name => [name, name || 'cluster'])
    );
    this.clusters.value = cluster;
  }

  private tellKinds(seconds: Float64Array): void {
    const { path } = this;
    const { theme } = this.context.surface;
    const sums = new Float64Array(KINDS.length);
    for (let tile = 0; tile < path.count; tile++) sums[path.kind[tile]] += seconds[tile];
    const all = sumOf(sums);
    const order = KINDS.map((_, kind) => kind).filter(kind => sums[kind] > 0);
    const items = order
      .sort((a, b) => sums[b] - sums[a])
      .map(kind => {
        const sign = swatch(kindColor(KINDS[kind], theme), `di-path-${KINDS[kind]}`);
        const words = `${KIND_WORDS[KINDS[kind]]} ${share(sums[kind] / all)}`;
        const title = `${duration(sums[kind])} of the path`;
        return element('li', { class: 'di-legend-item', title }, sign, element('span', {}, words));
      });
    this.above.replaceChildren(...items);
  }

  private byName(seconds: Float64Array, filter: Filter): TableOptions {
    const { tasks, colors, surface, selection } = this.context;
    const sums = sumPath(this.path, seconds);
    const name = (row: number): string => tasks.names[sums[row].name];
    const chosen = new Set(selection.own(SOURCE, 'name'));
    return {
      caption: sums.length ? 'What the length of the run is made of, by task name' : NONE,
      sort: 1,
      rows: nameRows(sums, tasks, this.length(filter)),
      swatch: row => (name(row) ? nameColor(name(row), colors, surface.theme) : 'transparent'),
      choose: row => {
        if (name(row)) selection.toggle(SOURCE, 'name', name(row));
        else this.chooseTime(this.path.start[0], this.path.stop[0]);
      },
      isChosen: row => chosen.has(name(row))
    };
  }

  private byStep(seconds: Float64Array, filter: Filter): TableOptions {
    const { tasks, colors, surface, selection } = this.context;
    const { path } = this;
    const steps = stepsLeft(path, seconds);
    const chosen = new Set(selection.own(SOURCE, 'run'));
    const name = (row: number): string => nameOf(path, tasks, steps[row]);
    return {
      caption: steps.length
        ? `The path in ${plural(steps.length, 'step')}, from the beginning to the end of the run`
        : NONE,
      rows: stepRows(path, tasks, steps, seconds, this.length(filter)),
      swatch: row => (name(row) ? nameColor(name(row), colors, surface.theme) : 'transparent'),
      choose: row => this.chooseStep(steps[row]),
      isChosen: row => chosen.has(path.run[path.first[steps[row]]])
    };
  }

  /** How much of the run a filter leaves, seconds. */
  private length({ time }: Filter): number {
    const { path } = this;
    if (!time) return path.seconds;
    return Math.max(0, Math.min(time.stop, path.begin + path.seconds) - Math.max(time.start, path.begin));
  }

  /** The attempt of a step, and the time in which it was on the path. */
  private chooseStep(step: number): void {
    const { path } = this;
    const { selection } = this.context;
    const tile = path.first[step];
    const stop = path.stop[path.first[step + 1] - 1];
    const run = path.run[tile];
    if (run === NOTHING) {
      this.chooseTime(path.start[tile], stop);
      return;
    }
    selection.choose(SOURCE, 'run', [run], false);
    if (this.isMarked) this.reveal(path.start[tile], stop, VISIBLE);
  }

  private chooseTime(start: number, stop: number): void {
    const { selection } = this.context;
    const own = selection.own(SOURCE, 'time');
    if (own?.start === start && own.stop === stop) selection.clear(SOURCE, 'time');
    else selection.set({ source: SOURCE, column: 'time', value: { start, stop } });
  }

  /** Moves the shared time, as little as needed, until a stretch can be seen at least so wide, CSS pixels. */
  private reveal(start: number, stop: number, width: number): void {
    const { viewport } = this.context;
    const wide = (stop - start) / this.scale().perPixel >= width;
    if (wide && start >= viewport.start && start < viewport.stop) return;
    const span = wide ? Math.max(viewport.span, (stop - start) * 1.2) : (stop - start) * 20;
    viewport.show((start + stop) / 2 - span / 2, (start + stop) / 2 + span / 2);
  }

  private scale(): Scale {
    return this.context.viewport.scale(this.plot().width, this.context.surface.ratio);
  }

  private outline(pen: Pen, first: number, last: number, color: string): void {
    const plot = this.plot();
    const { x, width } = this.boxOf(this.path, first, last);
    const left = Math.max(plot.x, x);
    const right = Math.min(plot.x + plot.width, x + width);
    if (right < left) return;
    pen.strokeStyle = color;
    pen.lineWidth = 1.5;
    pen.strokeRect(left, TOP - 0.75, Math.max(2, right - left), STRIP + 1.5);
  }

  /** Where tiles stand now, in sight or not. */
  private boxOf(path: CriticalPath, first: number, last: number): Box {
    const scale = this.scale();
    const x = scale.x(path.start[first]);
    const width = Math.max(1, scale.x(path.stop[last]) - x);
    return { x: this.plot().x + x, y: TOP, width, height: STRIP };
  }

  private mark(tile: number): Mark {
    const { path } = this;
    const { tasks, colors, surface } = this.context;
    const boxNow = (): Box => this.boxOf(path, tile, tile);
    const name = tasks.names[path.name[tile]];
    const kind = KINDS[path.kind[tile]];
    return {
      id: `${path.version}/${tile}`,
      get box() {
        return boxNow();
      },
      card: () => {
        const ofName = name ? nameColor(name, colors, surface.theme) : undefined;
        return cardOf(path, tasks, tile, ofName ?? kindColor(kind, surface.theme));
      },
      words: () => wordsOf(path, tasks, tile)
    };
  }

  /** The tile of a mark; -1 if it is of a path that has been replaced. */
  private tileOf({ id }: Mark): number {
    const [version, tile] = String(id).split('/').map(Number);
    return version === this.path.version && tile < this.path.count ? tile : -1;
  }
}
