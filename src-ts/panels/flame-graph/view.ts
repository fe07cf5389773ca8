import type { Threads } from '../../core/flame-samples';
import type { FlameTree } from '../../core/flame-tree';
import { duration, plural, share } from '../../core/format';
import { sumOf } from '../../core/sum-of';
import type { GestureHandlers } from '../../draw/gestures';
import type { Box, Pen } from '../../draw/pen';
import { button, choice, element, setHidden, setPressed, setWords } from '../element';
import { icon } from '../icons';
import { noneChosen, noneOf } from '../no-tasks';
import type { Direction, Mark, PanelContext, PanelView, Reader, Stage, TableRows } from '../panel';
import { searchBox } from '../search-box';
import { frameMark } from './card';
import type { FrameColors } from './colors';
import { FlameData } from './data';
import { neighbour } from './neighbour';
import { drawPackages } from './packages';
import { FlamePainter, ROW } from './painter';
import { nodeOf } from './path';
import { boxOf, nodeIn, outlineNode } from './places';
import { TreeReader } from './reader';
import { frameTable } from './table';
import { FlameZoom } from './zoom';

const LEGEND = 22;
const MOST_ROWS = 30;
const FEWEST_ROWS = 5;

const THREADS = [
  ['tasks', 'Task threads'],
  ['scheduler', 'Scheduler'],
  ['client', 'Client'],
  ['workers', 'Worker event loops'],
  ['all', 'All threads']
] as const;

export class FlameGraphView implements PanelView {
  readonly controls: readonly HTMLElement[];
  readonly search = searchBox('Find function or file', 'Find in flame graph', () => this.find());
  readonly reader: Reader;
  readonly gestures: GestureHandlers;
  private readonly data: FlameData;
  private readonly zoom: FlameZoom;
  private readonly note = element('span', { class: 'di-note', role: 'status' });
  private readonly threads: HTMLSelectElement;
  private readonly painter = new FlamePainter();
  private readonly readerTree = new TreeReader();
  private packed: Uint32Array | undefined;
  private packedFor: unknown[] = [];
  /** Rows that the deepest tree so far needs: filters never make the page jump. */
  private tallest = 0;
  /** What is left over of a scroll by less than a row. */
  private scrolled = 0;

  constructor(private readonly context: PanelContext) {
    const { surface } = context;
    this.data = new FlameData(context);
    this.zoom = new FlameZoom(
      () => this.data.tree,
      () => Math.max(1, Math.floor(this.box().height / ROW)),
      () => surface.invalidate('base')
    );
    this.threads = choice<Threads>('Threads', THREADS, threads => {
      this.data.choose(threads);
      surface.invalidate('layout');
    });
    const invert = button('Callers last (inverted)', () => this.invert(invert), icon('flip'));
    setPressed(invert, false);
    this.controls = [this.note, this.search, this.threads, invert];
    this.search.addEventListener('keydown', event => {
      if (event.key !== 'Enter') return;
      this.toHeaviestFound();
      event.preventDefault();
      event.stopPropagation();
    });
    this.reader = {
      role: 'tree',
      element: this.readerTree.element,
      active: () => this.readerTree.active
    };
    this.gestures = this.makeGestures();
  }

  empty(): string | undefined {
    const { recording, selection } = this.context;
    const { tree, isCurrent } = this.data;
    if (recording.table('samples').rows === 0) return withoutSamples(this.context);
    // Samples are looked through when the panel comes into sight, not before.
    if (!tree || tree.total[0] > 0 || !isCurrent) return undefined;
    if (selection.clauses.length > 0) {
      return noneChosen('No sample was taken in');
    }
    return 'No sample was taken of these threads. Choose others at the right.';
  }

  height(): number {
    const rows = Math.min(MOST_ROWS, Math.max(FEWEST_ROWS, this.tallest));
    return LEGEND + rows * ROW;
  }

  shows(): string {
    const { threads, inverted } = this.data;
    return new Map<Threads, string>(THREADS).get(threads) + (inverted ? ', callers last' : '');
  }

  layout(): void {
    const before = this.data.tree;
    const change = this.data.read();
    const { tree } = this.data;
    if (change === 'nothing' || !tree) return;
    this.tallest = Math.max(this.tallest, tree.deepest);
    if (change === 'grown' && before) this.zoom.carry(before, tree);
    else this.zoom.begin(tree);
    this.offerThreads();
    this.find();
  }

  draw(pen: Pen): void {
    const { tree, frames, colors, inverted, found } = this.data;
    const { theme, width, ratio } = this.context.surface;
    if (!tree || !frames || !colors) return;
    drawPackages(pen, tree, colors, inverted, width, theme);
    const packed = this.packedColors(colors);
    const { window } = this.zoom;
    this.painter.draw(pen, tree, this.box(), window, packed, frames.names, theme, ratio, found?.frames);
  }

  drawOverlay(pen: Pen, hovered: Mark | undefined): void {
    if (hovered) outlineNode(pen, hovered.box, this.box(), this.context.surface.theme.text);
  }

  pick(x: number, y: number): Mark | undefined {
    const { tree } = this.data;
    const box = this.box();
    if (!tree || y < box.y || y >= box.y + box.height) return undefined;
    const node = nodeIn(tree, x, y, this.zoom.window, box);
    return node > 0 ? this.mark(tree, node) : undefined;
  }

  move(from: Mark | undefined, direction: Direction): Mark | undefined {
    const { tree, frames } = this.data;
    if (!tree || tree.size < 2) return undefined;
    const at = from ? nodeOf(tree, String(from.id)) : -1;
    const node = at > 0 ? neighbour(tree, at, direction) : 1;
    if (node <= 0) return undefined;
    this.zoom.reveal(tree, node);
    if (frames) this.readerTree.show(tree, node, frames.names);
    return this.mark(tree, node);
  }

  choose(mark: Mark | undefined): void {
    const { tree } = this.data;
    const node = tree && mark ? nodeOf(tree, String(mark.id)) : -1;
    if (node > 0) this.zoomTo(node);
  }

  rows(): TableRows {
    const { tree, frames } = this.data;
    if (!tree || !frames) return { columns: [], length: 0, row: () => [] };
    const text = (frame: number, line: number): string => this.data.codeOf(frame, line);
    return frameTable(tree, frames, { busiest: this.data.busiestLines(), text });
  }

  private offerThreads(): void {
    const offered = this.data.offered();
    for (const option of this.threads.options) option.disabled = !offered.has(option.value as Threads);
    this.threads.value = this.data.threads;
    setHidden(this.threads, offered.size <= 1);
  }

  private invert(control: HTMLElement): void {
    const { data, context } = this;
    data.inverted = !data.inverted;
    setPressed(control, data.inverted);
    context.say(data.inverted ? 'Callers below what they called' : 'Callers above what they called');
    context.surface.invalidate('layout');
  }

  private find(): void {
    this.data.find(this.search.value.trim());
    setWords(this.note, this.noteText());
    // Of a run that goes on, what is sampled grows all the time: it is not read out.
    const heard = this.data.found ? 'polite' : 'off';
    if (this.note.ariaLive !== heard) this.note.ariaLive = heard;
    this.context.surface.invalidate('base');
  }

  private noteText(): string {
    const { tree, found } = this.data;
    if (!tree) return '';
    if (!found) return `${duration(tree.total[0])} sampled`;
    const functions = sumOf(found.frames);
    if (functions === 0) return 'no match';
    return `${share(found.share)} in ${plural(functions, 'function')}`;
  }

  private toHeaviestFound(): void {
    const { tree, found } = this.data;
    if (!tree || !found || found.nodes.length === 0) return;
    this.zoomTo(found.nodes.reduce((a, b) => (tree.total[b] > tree.total[a] ? b : a)));
  }

  private zoomTo(node: number): void {
    const { tree, frames } = this.data;
    if (!tree || !this.zoom.toNode(tree, node)) return;
    const name = frames?.names[tree.frame[node]] ?? '';
    this.context.say(`Zoomed to ${name}, ${share(tree.total[node] / tree.total[0])}`);
  }

  private makeGestures(): GestureHandlers {
    const { zoom } = this;
    return {
      click: (x, y) => this.choose(this.pick(x, y)),
      zoom: (x, _y, factor) => {
        const box = this.box();
        zoom.zoom(Math.min(1, Math.max(0, (x - box.x) / box.width)), factor);
      },
      pan: (dx, dy) => {
        zoom.pan(-dx / this.box().width);
        this.scrolled += dy;
        const rows = Math.trunc(this.scrolled / ROW);
        this.scrolled -= rows * ROW;
        zoom.scroll(-rows);
      },
      doubleClick: () => zoom.fit(),
      key: event => this.zoom.key(event.key)
    };
  }

  private box(): Box {
    const { width, height } = this.context.surface;
    return { x: 0, y: LEGEND, width, height: Math.max(0, height - LEGEND) };
  }

  /** Where a frame stands now: more may have come. One that is gone stands above all that is in sight. */
  private boxOf(id: string): Box {
    const tree = this.data.tree as FlameTree;
    return boxOf(tree, Math.max(0, nodeOf(tree, id)), this.zoom.window, this.box());
  }

  private mark(tree: FlameTree, node: number): Mark {
    const { theme } = this.context.surface;
    return frameMark(this.data, tree, node, id => this.boxOf(id), theme);
  }

  private packedColors(colors: FrameColors): Uint32Array {
    const { theme } = this.context.surface;
    const { found } = this.data;
    const wanted = [colors, theme, found];
    if (!this.packed || wanted.some((each, at) => each !== this.packedFor[at])) {
      this.packed = colors.table(theme, found?.frames);
      this.packedFor = wanted;
    }
    return this.packed;
  }
}

const OFF = '`profile=False` or `--no-profile`';

function withoutSamples(stage: Stage): string {
  const options = stage.recording.about('options') as { profile?: unknown } | undefined;
  if (options?.profile === false) return `Recorded without stacks (${OFF}).`;
  return noneOf(
    stage,
    `No stacks were recorded: no task ran long enough to be sampled, or sampling was off (${OFF}).`
  );
}
