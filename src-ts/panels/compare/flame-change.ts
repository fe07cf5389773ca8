import type { SideStacks } from '../../core/comparison';
import { type FlameTree, layOut } from '../../core/flame-tree';
import { duration, share, signed } from '../../core/format';
import { shortFile } from '../../core/package-of';
import { css } from '../../draw/palette';
import { type Box, type Pen, writeWith } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import { COVERAGES, rampOf } from '../flame-graph/colors';
import { neighbour } from '../flame-graph/neighbour';
import { FlamePainter, ROW } from '../flame-graph/painter';
import { boxOf, nodeIn, outlineNode } from '../flame-graph/places';
import { FlameZoom } from '../flame-graph/zoom';
import type { Direction, Mark } from '../panel';
import { changeColor, changeStep, STEPS } from './colors';
import { times } from './words';

const TITLE = 24;
const MOST_ROWS = 24;
/** From this width on a frame tells its change beside its name, CSS pixels. */
const TOLD_FROM = 150;

/** Two sides, and which of them gives the widths. */
export interface FlameChoice {
  readonly before: number;
  readonly after: number;
  readonly width: number;
  readonly names: readonly [before: string, after: string];
  /** The runs differ by no more than noise. */
  readonly noisy: boolean;
}

/** One call tree of two sides: as wide as one of them, coloured by what the other one is not. */
export class FlameChange {
  readonly zoom: FlameZoom;
  tree: FlameTree | undefined;
  private stacks: SideStacks | undefined;
  private choice: FlameChoice | undefined;
  private readonly painter = new FlamePainter();
  private packed = new Uint32Array(0);
  private packedFor: Theme | undefined;
  private labels: readonly string[] = [];
  private shown: readonly string[] = [];
  private shownFor = Number.NaN;
  private box: Box = { x: 0, y: 0, width: 1, height: 1 };

  constructor(changed: () => void) {
    this.zoom = new FlameZoom(
      () => this.tree,
      () => Math.max(1, Math.floor(this.box.height / ROW)),
      changed
    );
  }

  take(stacks: SideStacks | undefined, choice: FlameChoice): void {
    this.stacks = stacks;
    this.choice = choice;
    this.packedFor = undefined;
    this.shownFor = Number.NaN;
    this.tree = undefined;
    if (!stacks) return;
    const { size, parent } = stacks;
    // Frames are the nodes themselves: one function may have changed under one caller and not under another.
    const frame = Int32Array.from({ length: size }, (_, node) => node);
    this.tree = layOut({ size, parent, frame, self: stacks.self[choice.width] });
    this.zoom.begin(this.tree);
    this.labels = stacks.functions.map((name, node) => `${name}  ${signed(this.secondsOf(node).change)}`);
  }

  get height(): number {
    return TITLE + Math.min(MOST_ROWS, Math.max(1, this.tree?.deepest ?? 0)) * ROW;
  }

  layout(width: number, top: number): void {
    this.box = { x: 0, y: top + TITLE, width, height: this.height - TITLE };
  }

  draw(pen: Pen, theme: Theme, ratio: number): void {
    const { tree, choice, box, stacks } = this;
    if (!choice || !stacks) return;
    this.drawTitle(pen, theme, choice);
    if (!tree || tree.total[0] <= 0) return;
    if (this.packedFor !== theme) this.pack(theme);
    const names = this.labelsFor(stacks, choice);
    this.painter.draw(pen, tree, box, this.zoom.window, this.packed, names, theme, ratio);
  }

  /** Names, with the change beside them where there is room for both. */
  private labelsFor(stacks: SideStacks, { width }: FlameChoice): readonly string[] {
    const { from, to } = this.zoom.window;
    const least = TOLD_FROM * ((to - from) / this.box.width);
    if (least !== this.shownFor) {
      this.shownFor = least;
      const total = stacks.total[width];
      this.shown = this.labels.map((label, node) => (total[node] >= least ? label : stacks.functions[node]));
    }
    return this.shown;
  }

  drawOverlay(pen: Pen, mark: Mark, theme: Theme): void {
    const node = this.nodeOf(mark);
    if (node < 0) return;
    outlineNode(pen, this.boxOf(node), this.box, theme.text);
  }

  /** True for what lies in the graph, wherever in it. */
  holds(y: number): boolean {
    return this.tree !== undefined && y >= this.box.y && y < this.box.y + this.box.height;
  }

  pick(x: number, y: number, theme: Theme): Mark | undefined {
    const { tree, box } = this;
    if (!tree || !this.holds(y)) return undefined;
    const node = nodeIn(tree, x, y, this.zoom.window, box);
    return node > 0 ? this.mark(node, theme) : undefined;
  }

  move(from: Mark | undefined, direction: Direction, theme: Theme): Mark | undefined {
    const { tree } = this;
    if (!tree || tree.size < 2) return undefined;
    const at = from ? this.nodeOf(from) : -1;
    const node = at > 0 ? neighbour(tree, at, direction) : 1;
    if (node <= 0) return undefined;
    this.zoom.reveal(tree, node);
    return this.mark(node, theme);
  }

  /** Shows a frame as wide as the panel; again, goes back. */
  choose(mark: Mark): void {
    const node = this.nodeOf(mark);
    if (node > 0 && this.tree) this.zoom.toNode(this.tree, node);
  }

  /** Node of the laid out tree; -1 for marks of something else. */
  private nodeOf({ id }: Mark): number {
    const [kind, origin] = String(id).split(' ');
    return kind === 'frame' && this.tree ? this.tree.origin.indexOf(Number(origin)) : -1;
  }

  private secondsOf(node: number): { before: number; after: number; change: number } {
    const { total } = this.stacks as SideStacks;
    const choice = this.choice as FlameChoice;
    const before = total[choice.before][node];
    const after = total[choice.after][node];
    return { before, after, change: after - before };
  }

  private stepOf(node: number): number {
    const { before, after } = this.secondsOf(node);
    const whole = this.secondsOf(0);
    return changeStep(before, after, Math.max(whole.before, whole.after));
  }

  private pack(theme: Theme): void {
    const { size } = this.stacks as SideStacks;
    this.packedFor = theme;
    this.packed = new Uint32Array(size * COVERAGES);
    const ramps = new Map<number, Uint32Array>();
    for (let node = 0; node < size; node++) {
      const step = this.stepOf(node);
      let ramp = ramps.get(step);
      if (!ramp) {
        ramp = rampOf(changeColor(step, theme), theme.background);
        ramps.set(step, ramp);
      }
      this.packed.set(ramp, node * COVERAGES);
    }
  }

  private drawTitle(pen: Pen, theme: Theme, { names, width, after, noisy }: FlameChoice): void {
    const widths = writeWith(pen, theme);
    const y = this.box.y - TITLE / 2 - 2;
    const wide = names[width === after ? 1 : 0];
    const words = `Flame graph, as wide as in ${wide}`;
    pen.fillStyle = theme.muted;
    pen.fillText(words, 0, y);
    let x = widths.of(words) + 20;
    for (const [step, label] of [
      [STEPS, `more in ${names[1]}`],
      [-STEPS, 'less']
    ] as const) {
      if (x + 40 + widths.of(label) > this.box.width) return;
      for (let at = 1; at <= 4; at++) {
        pen.fillStyle = css(changeColor((step * at) / 4, theme));
        pen.fillRect(x + (at - 1) * 8, y - 4, 8, 9);
      }
      pen.fillStyle = theme.muted;
      pen.fillText(label, x + 38, y);
      x += 38 + widths.of(label) + 18;
    }
    const hint = 'the runs differ by no more than noise';
    if (noisy && x + widths.of(hint) <= this.box.width) pen.fillText(hint, x, y);
  }

  private boxOf(node: number): Box {
    return boxOf(this.tree as FlameTree, node, this.zoom.window, this.box);
  }

  private mark(node: number, theme: Theme): Mark {
    const tree = this.tree as FlameTree;
    const stacks = this.stacks as SideStacks;
    const choice = this.choice as FlameChoice;
    const at = tree.origin[node];
    const { before, after, change } = this.secondsOf(at);
    const name = stacks.functions[at];
    const place = `${shortFile(stacks.files[at])}:${stacks.lines[at]}`;
    const of = (seconds: number, side: number): string =>
      `${duration(seconds)} (${share(seconds / stacks.total[side][0])})`;
    const ratio = times(before, after);
    const words =
      before === 0
        ? `only in ${choice.names[1]}`
        : after === 0
          ? `only in ${choice.names[0]}`
          : `${signed(change)}${ratio ? ` (${ratio}${change < 0 ? ' less' : after / before >= 2 ? ' as much' : ' more'})` : ''}`;
    const self = (side: number): number => stacks.self[side][at];
    return {
      id: `frame ${at}`,
      box: this.boxOf(node),
      card: () => ({
        title: name,
        color: css(changeColor(this.stepOf(at), theme)),
        groups: [
          [{ label: 'Change', value: words }],
          [
            { label: choice.names[0], value: of(before, choice.before) },
            { label: choice.names[1], value: of(after, choice.after) }
          ],
          [
            { label: 'Itself', value: `${duration(self(choice.before))}, ${duration(self(choice.after))}` },
            { label: 'File', value: place, copy: `${stacks.files[at]}:${stacks.lines[at]}` }
          ]
        ]
      }),
      words: () => `${name}, ${words}, ${duration(before)} before, ${duration(after)} after`
    };
  }
}
