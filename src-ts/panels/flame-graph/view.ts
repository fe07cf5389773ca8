import { callees, callers, lines } from '../../core/flame';
import { SampleIndex, type Threads } from '../../core/flame-samples';
import { type FlameTree, type Found, nodeAt, search } from '../../core/flame-tree';
import { FlameWeights } from '../../core/flame-weights';
import { duration, share } from '../../core/format';
import { shortFile } from '../../core/package-of';
import type { GestureHandlers } from '../../draw/gestures';
import { css } from '../../draw/palette';
import type { Box, Pen } from '../../draw/pen';
import { TextWidth } from '../../draw/text-width';
import { button, choice, element } from '../element';
import { icon } from '../icons';
import type { Direction, Mark, PanelContext, PanelView, Reader, TableRows } from '../panel';
import { FrameColors } from './colors';
import { FlamePainter, ROW } from './painter';
import { TreeReader } from './reader';
import { frameTable } from './table';
import { carried, type FlameWindow } from './window';

const LEGEND = 22;
const MOST_ROWS = 30;
const FEWEST_ROWS = 5;

export class FlameGraphView implements PanelView {
  readonly controls: readonly HTMLElement[];
  readonly search = element('input', {
    type: 'search',
    class: 'di-search',
    placeholder: 'Find function or file',
    'aria-label': 'Find in flame graph',
    spellcheck: 'false'
  });
  readonly reader: Reader;
  readonly gestures: GestureHandlers;
  private readonly note = element('span', { class: 'di-note', role: 'status' });
  private readonly threads: HTMLSelectElement;
  private readonly painter = new FlamePainter();
  private readonly readerTree = new TreeReader();
  private text: TextWidth | undefined;

  private index: SampleIndex | undefined;
  private known = '';
  private threadsChosen: Threads = 'tasks';
  private inverted = false;
  private filterKey = '';
  private readonly weights = new FlameWeights();
  private tree: FlameTree | undefined;
  private colors: FrameColors | undefined;
  private lower: readonly string[] = [];
  private found: Found | undefined;
  private packed: Uint32Array | undefined;
  private packedFor: unknown[] = [];
  private window: FlameWindow = { from: 0, to: 1, depth: 1 };
  private past: FlameWindow[] = [];
  /** Rows that the deepest tree so far needs: filters never make the page jump. */
  private tallest = 0;

  constructor(private readonly context: PanelContext) {
    this.threads = choice<Threads>(
      'Threads',
      [
        ['tasks', 'Task threads'],
        ['scheduler', 'Scheduler'],
        ['client', 'Client'],
        ['all', 'All threads']
      ],
      'tasks',
      threads => {
        this.threadsChosen = threads;
        this.context.surface.invalidate('layout');
      }
    );
    const invert = button('Callers first (inverted)', () => this.invert(invert), icon('flip'));
    invert.setAttribute('aria-pressed', 'false');
    this.controls = [this.note, this.search, this.threads, invert];
    this.search.addEventListener('input', () => this.find());
    this.search.addEventListener('keydown', event => {
      if (event.key === 'Enter') this.toHeaviestFound();
      else if (event.key === 'Escape' && this.search.value !== '') this.clearSearch();
      else return;
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
    const { recording } = this.context;
    if (recording.table('samples').rows === 0) return withoutSamples(recording.about('profile'));
    // Samples are looked through when the panel comes into sight, not before.
    if (!this.tree || this.tree.total[0] > 0 || this.selectionKey() !== this.filterKey) return undefined;
    if (this.context.selection.clauses.length > 0) {
      return 'No sample was taken in what is chosen. Esc takes the last choice back.';
    }
    return 'No sample was taken of these threads. Choose others at the right.';
  }

  height(): number {
    const rows = Math.min(MOST_ROWS, Math.max(FEWEST_ROWS, this.tallest));
    return LEGEND + rows * ROW;
  }

  layout(): void {
    this.read();
  }

  draw(pen: Pen): void {
    const { tree, index, colors } = this;
    const { surface } = this.context;
    if (!tree || !index || !colors) return;
    this.text =
      this.text?.font === textFont(surface.theme.font)
        ? this.text
        : new TextWidth(textFont(surface.theme.font));
    this.drawPackages(pen, tree, colors);
    const table = this.packedColors(colors);
    const { names } = index.tree.frames;
    this.painter.draw(
      pen,
      tree,
      this.box(),
      this.window,
      table,
      names,
      this.text,
      surface.theme,
      surface.ratio
    );
  }

  drawOverlay(pen: Pen, hovered: Mark | undefined): void {
    const { tree } = this;
    if (!tree || !hovered) return;
    const node = Number(hovered.id);
    if (node >= tree.size) return;
    const { x, y, width, height } = this.boxOf(node);
    const { y: top, height: room } = this.box();
    if (y < top || y + height > top + room + 1) return;
    pen.strokeStyle = this.context.surface.theme.text;
    pen.lineWidth = 1.5;
    pen.strokeRect(x + 0.5, y + 0.5, Math.max(1, width - 1), height - 2);
  }

  pick(x: number, y: number): Mark | undefined {
    const { tree } = this;
    const box = this.box();
    if (!tree || y < box.y || y >= box.y + box.height) return undefined;
    const depth = this.window.depth + Math.floor((y - box.y) / ROW);
    const { from, to } = this.window;
    const node = nodeAt(tree, depth, from + ((x - box.x) / box.width) * (to - from));
    return node > 0 ? this.mark(node) : undefined;
  }

  move(from: Mark | undefined, direction: Direction): Mark | undefined {
    const { tree } = this;
    if (!tree || tree.size < 2) return undefined;
    const node = from ? neighbour(tree, Number(from.id), direction) : 1;
    if (node === undefined || node <= 0) return undefined;
    this.reveal(node);
    if (this.index) this.readerTree.show(tree, node, this.index.tree.frames.names);
    return this.mark(node);
  }

  choose(mark: Mark | undefined): void {
    if (!mark) return;
    this.zoomTo(Number(mark.id));
  }

  rows(): TableRows {
    const { tree, index } = this;
    return frameTable(tree as FlameTree, (index as SampleIndex).tree.frames);
  }

  private read(): void {
    const { recording, selection, tasks } = this.context;
    this.index ??= new SampleIndex(recording, tasks);
    const { index } = this;
    const known = recording.state('stacks', 'samples', 'graph', 'attempts', 'running', 'submissions');
    const key = this.selectionKey();
    if (known === this.known && key === this.filterKey) return;
    if (known !== this.known) {
      this.known = known;
      index.update();
      this.nameFrames(index);
      this.offerThreads(index);
    }
    const again = key === this.filterKey;
    this.filterKey = this.selectionKey();
    const filter = selection.filter('flame-graph');
    const changed = this.weights.update(index, this.threadsChosen, filter, this.filterKey);
    if (!changed && again && this.tree) return;
    const before = this.tree;
    const tree = (this.inverted ? callers : callees)(index.tree, this.weights.values);
    this.tree = tree;
    this.tallest = Math.max(this.tallest, tree.deepest);
    const fitted: FlameWindow = { from: 0, to: tree.total[0], depth: 1 };
    // New data leave a zoom where it is; another choice begins anew.
    this.past = again && before ? this.past.map(window => carried(window, before, tree)) : [];
    this.window = again && before ? carried(this.window, before, tree) : fitted;
    this.found = undefined;
    this.find();
  }

  private nameFrames(index: SampleIndex): void {
    const { names, files } = index.tree.frames;
    if (this.lower.length === names.length) return;
    this.colors = new FrameColors(names, files);
    this.lower = names.map((name, frame) => `${name}\n${files[frame]}`.toLowerCase());
  }

  /** What the tree depends on besides the data. */
  private selectionKey(): string {
    const { time, names, workers, spans, runs, cells } = this.context.selection.filter('flame-graph');
    const lists = [names, workers, spans, runs, cells].map(each => each && [...each]);
    return JSON.stringify([this.threadsChosen, this.inverted, time, ...lists]);
  }

  private offerThreads(index: SampleIndex): void {
    const there = [...this.threads.options].filter(option => {
      option.disabled = !index.has(option.value as Threads);
      return !option.disabled;
    });
    if (there.length > 0 && !there.some(option => option.value === this.threadsChosen)) {
      this.threadsChosen = there[0].value as Threads;
      this.threads.value = this.threadsChosen;
    }
    this.threads.hidden = there.length <= 1;
  }

  private invert(control: HTMLElement): void {
    this.inverted = !this.inverted;
    control.setAttribute('aria-pressed', String(this.inverted));
    this.context.say(this.inverted ? 'Callers below what they called' : 'Callers above what they called');
    this.context.surface.invalidate('layout');
  }

  private find(): void {
    const wanted = this.search.value.trim();
    this.found = wanted && this.tree ? search(this.tree, this.lower, wanted) : undefined;
    this.note.textContent = this.noteText();
    this.context.surface.invalidate('base');
  }

  private noteText(): string {
    if (!this.tree) return '';
    if (!this.found) return `${duration(this.tree.total[0])} sampled`;
    const functions = this.found.frames.reduce((a, b) => a + b, 0);
    if (functions === 0) return 'no match';
    return `${share(this.found.share)} in ${functions === 1 ? '1 function' : `${functions} functions`}`;
  }

  private clearSearch(): void {
    this.search.value = '';
    this.find();
  }

  private toHeaviestFound(): void {
    const { tree, found } = this;
    if (!tree || !found || found.nodes.length === 0) return;
    this.zoomTo(found.nodes.reduce((a, b) => (tree.total[b] > tree.total[a] ? b : a)));
  }

  private zoomTo(node: number): void {
    const { tree } = this;
    if (!tree) return;
    const from = tree.start[node];
    const to = from + tree.total[node];
    const isShown = from === this.window.from && to === this.window.to;
    if (isShown && this.back()) return;
    if (!isShown) this.past.push(this.window);
    this.show({ from, to, depth: this.depthFor(tree.depth[node]) });
    const name = this.index?.tree.frames.names[tree.frame[node]] ?? '';
    this.context.say(`Zoomed to ${name}, ${share(tree.total[node] / tree.total[0])}`);
  }

  /** Keeps a frame's callers in sight where there is room for them. */
  private depthFor(depth: number): number {
    const rows = this.visibleRows();
    const deepest = this.tree?.deepest ?? 1;
    if (deepest <= rows) return 1;
    return Math.max(1, Math.min(depth - 3, deepest - rows + 1));
  }

  private visibleRows(): number {
    return Math.max(1, Math.floor(this.box().height / ROW));
  }

  private back(): boolean {
    const before = this.past.pop();
    if (before) this.show(before);
    return before !== undefined;
  }

  private show(window: FlameWindow): void {
    this.window = window;
    this.context.surface.invalidate('base');
  }

  private reveal(node: number): void {
    const { tree, window } = this;
    if (!tree) return;
    const depth = tree.depth[node];
    const outside = depth < window.depth || depth >= window.depth + this.visibleRows();
    const left = tree.start[node];
    const right = left + tree.total[node];
    const beside = right <= window.from || left >= window.to;
    if (!outside && !beside) return;
    this.show({
      ...(beside ? { from: 0, to: tree.total[0] } : window),
      depth: outside ? this.depthFor(depth) : window.depth
    });
  }

  private makeGestures(): GestureHandlers {
    return {
      click: (x, y) => this.choose(this.pick(x, y)),
      zoom: (x, _y, factor) => {
        const box = this.box();
        const place = Math.min(1, Math.max(0, (x - box.x) / box.width));
        this.zoom(place, factor);
      },
      pan: (dx, dy) => {
        const { from, to } = this.window;
        this.pan((-dx / this.box().width) * (to - from));
        this.scrolled += dy;
        const rows = Math.trunc(this.scrolled / ROW);
        this.scrolled -= rows * ROW;
        this.scroll(-rows);
      },
      doubleClick: () => this.fit(),
      key: event => this.key(event)
    };
  }

  private scrolled = 0;

  private key(event: KeyboardEvent): boolean {
    switch (event.key) {
      case '+':
      case '=':
        this.zoom(0.5, 1 / 1.5);
        return true;
      case '-':
        this.zoom(0.5, 1.5);
        return true;
      case '0':
        this.fit();
        return true;
      case 'Escape':
        return this.back();
      case 'PageDown':
        this.scroll(5);
        return true;
      case 'PageUp':
        this.scroll(-5);
        return true;
      default:
        return false;
    }
  }

  private zoom(place: number, factor: number): void {
    const { from, to, depth } = this.window;
    const all = this.tree?.total[0] ?? 1;
    const span = Math.min(all, Math.max((to - from) * factor, all * 1e-7));
    const start = Math.min(all - span, Math.max(0, from + place * (to - from - span)));
    this.show({ from: start, to: start + span, depth });
  }

  private pan(seconds: number): void {
    const { from, to, depth } = this.window;
    const all = this.tree?.total[0] ?? 1;
    const start = Math.min(all - (to - from), Math.max(0, from + seconds));
    this.show({ from: start, to: start + to - from, depth });
  }

  private scroll(rows: number): void {
    const last = Math.max(1, (this.tree?.deepest ?? 1) - this.visibleRows() + 1);
    const depth = Math.min(last, Math.max(1, this.window.depth + rows));
    if (depth !== this.window.depth) this.show({ ...this.window, depth });
  }

  private fit(): void {
    this.past = [];
    this.show({ from: 0, to: this.tree?.total[0] ?? 1, depth: 1 });
  }

  private box(): Box {
    const { width, height } = this.context.surface;
    return { x: 0, y: LEGEND, width, height: Math.max(0, height - LEGEND) };
  }

  private boxOf(node: number): Box {
    const tree = this.tree as FlameTree;
    const box = this.box();
    const { from, to, depth } = this.window;
    const scale = box.width / (to - from);
    const left = Math.max(0, (tree.start[node] - from) * scale);
    const right = Math.min(box.width, (tree.start[node] + tree.total[node] - from) * scale);
    return {
      x: box.x + left,
      y: box.y + (tree.depth[node] - depth) * ROW,
      width: Math.max(1, right - left),
      height: ROW
    };
  }

  private mark(node: number): Mark {
    const tree = this.tree as FlameTree;
    const frames = (this.index as SampleIndex).tree.frames;
    const frame = tree.frame[node];
    const all = tree.total[0];
    const of = (seconds: number): string => `${duration(seconds)} (${share(seconds / all)})`;
    const place = `${shortFile(frames.files[frame])}:${frames.firstLines[frame]}`;
    return {
      id: node,
      box: this.boxOf(node),
      card: () => ({
        title: frames.names[frame],
        color: css((this.colors as FrameColors).frameColor(frame, this.context.surface.theme)),
        groups: [
          [
            { label: 'total', value: of(tree.total[node]) },
            { label: 'itself', value: of(tree.self[node]) }
          ],
          [
            { label: 'file', value: place, copy: `${frames.files[frame]}:${frames.firstLines[frame]}` },
            ...this.lineWords(node)
          ]
        ]
      }),
      words: () =>
        `${frames.names[frame]}, ${place}, ${share(tree.total[node] / all)} in total, ${share(tree.self[node] / all)} itself, depth ${tree.depth[node]}`
    };
  }

  /** Which lines of the function were running, where the tree tells callers first. */
  private lineWords(node: number): { label: string; value: string }[] {
    const { tree, index } = this;
    if (!tree || !index || this.inverted) return [];
    return lines(index.tree, this.weights.values, tree.origin[node])
      .slice(0, 3)
      .map(([line, seconds]) => ({ label: `line ${line}`, value: share(seconds / tree.total[node]) }));
  }

  private packedColors(colors: FrameColors): Uint32Array {
    const { theme } = this.context.surface;
    const wanted = [colors, theme, this.found];
    if (!this.packed || wanted.some((each, at) => each !== this.packedFor[at])) {
      this.packed = colors.table(theme, this.found?.frames);
      this.packedFor = wanted;
    }
    return this.packed;
  }

  /** Packages by the time spent in their own frames. */
  private drawPackages(pen: Pen, tree: FlameTree, colors: FrameColors): void {
    const { theme, width } = this.context.surface;
    const sums = new Float64Array(colors.packages.length);
    for (let node = 1; node < tree.size; node++) {
      sums[colors.packageOfFrame[tree.frame[node]]] += this.inverted
        ? tree.depth[node] === 1
          ? tree.total[node]
          : 0
        : tree.self[node];
    }
    const order = [...sums.keys()].filter(at => sums[at] > 0).sort((a, b) => sums[b] - sums[a]);
    pen.font = `12px ${theme.font}`;
    pen.textBaseline = 'middle';
    pen.textAlign = 'left';
    let x = 0;
    for (const at of order) {
      const words = `${colors.packages[at]} ${share(sums[at] / tree.total[0])}`;
      const room = (this.text as TextWidth).of(words) * 1.1 + 14;
      if (x + room > width) break;
      pen.fillStyle = css(colors.packageColor(at, theme));
      pen.fillRect(x, 5, 9, 9);
      pen.fillStyle = theme.muted;
      pen.fillText(words, x + 13, 10);
      x += room + 12;
    }
  }
}

function textFont(family: string): string {
  return `11px ${family}`;
}

function withoutSamples(profile: unknown): string {
  if (profile === false) return 'Recorded without stacks (`profile=False`).';
  return 'No call stacks were recorded: no task ran long enough to be sampled, or sampling was off (`profile=False`).';
}

function neighbour(tree: FlameTree, node: number, direction: Direction): number | undefined {
  switch (direction) {
    case 'up':
      return tree.parent[node];
    case 'down':
      return tree.next[node] > node + 1 ? node + 1 : undefined;
    case 'right':
      return tree.next[node] < tree.next[tree.parent[node]] ? tree.next[node] : undefined;
    case 'left': {
      let sibling = tree.parent[node] + 1;
      if (sibling === node) return undefined;
      while (tree.next[sibling] < node) sibling = tree.next[sibling];
      return sibling;
    }
    case 'first':
      return 1;
    case 'last':
      return tree.size - 1;
  }
}
