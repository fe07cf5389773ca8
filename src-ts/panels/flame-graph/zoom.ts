import type { FlameTree } from '../../core/flame-tree';
import { carried, type FlameWindow } from './window';

/** Which part of the tree is shown, and the way back to what was shown before. */
export class FlameZoom {
  window: FlameWindow = { from: 0, to: 1, depth: 1 };
  private past: FlameWindow[] = [];

  /** `rows` tells how many depths can be seen; `changed` is called when the window has changed. */
  constructor(
    private readonly tree: () => FlameTree | undefined,
    private readonly rows: () => number,
    private readonly changed: () => void
  ) {}

  /** Another tree: it is shown whole. */
  begin(tree: FlameTree): void {
    this.past = [];
    this.window = { from: 0, to: tree.total[0], depth: 1 };
  }

  /** The same tree has grown: what was in sight stays in sight. */
  carry(before: FlameTree, now: FlameTree): void {
    this.past = this.past.map(window => carried(window, before, now));
    this.window = carried(this.window, before, now);
  }

  /** Shows a node as wide as the panel; again, goes back. False if it went back. */
  toNode(tree: FlameTree, node: number): boolean {
    const from = tree.start[node];
    const to = from + tree.total[node];
    const isShown = from === this.window.from && to === this.window.to;
    if (isShown && this.back()) return false;
    if (!isShown) this.past.push(this.window);
    this.show({ from, to, depth: this.depthFor(tree.depth[node]) });
    return true;
  }

  back(): boolean {
    const before = this.past.pop();
    if (before) this.show(before);
    return before !== undefined;
  }

  /** Zooms about a place, and moves by a share of the width. */
  zoom(place: number, factor: number, share = 0): void {
    const { from, to, depth } = this.window;
    const span = Math.min(this.whole, Math.max((to - from) * factor, this.whole * 1e-7));
    const start = Math.min(this.whole - span, Math.max(0, from + place * (to - from - span) + share * span));
    this.show({ from: start, to: start + span, depth });
  }

  /** Moves by a share of the width. */
  pan(share: number): void {
    this.zoom(0, 1, share);
  }

  scroll(rows: number): void {
    const last = Math.max(1, (this.tree()?.deepest ?? 1) - this.rows() + 1);
    const depth = Math.min(last, Math.max(1, this.window.depth + rows));
    if (depth !== this.window.depth) this.show({ ...this.window, depth });
  }

  fit(): void {
    this.past = [];
    this.show({ from: 0, to: this.whole, depth: 1 });
  }

  /** Moves, as little as needed, until a node can be seen. */
  reveal(tree: FlameTree, node: number): void {
    const { window } = this;
    const depth = tree.depth[node];
    const outside = depth < window.depth || depth >= window.depth + this.rows();
    const left = tree.start[node];
    const beside = left + tree.total[node] <= window.from || left >= window.to;
    if (!outside && !beside) return;
    this.show({
      ...(beside ? { from: 0, to: tree.total[0] } : window),
      depth: outside ? this.depthFor(depth) : window.depth
    });
  }

  private get whole(): number {
    return this.tree()?.total[0] ?? 1;
  }

  /** Keeps a frame's callers in sight where there is room for them. */
  private depthFor(depth: number): number {
    const rows = this.rows();
    const deepest = this.tree()?.deepest ?? 1;
    if (deepest <= rows) return 1;
    return Math.max(1, Math.min(depth - 3, deepest - rows + 1));
  }

  private show(window: FlameWindow): void {
    this.window = window;
    this.changed();
  }

  /** A key that moves the view; false if it does not. */
  key(key: string): boolean {
    if (key === 'Escape') return this.back();
    const acts: Readonly<Record<string, () => void>> = {
      '+': () => this.zoom(0.5, 1 / 1.5),
      '=': () => this.zoom(0.5, 1 / 1.5),
      '-': () => this.zoom(0.5, 1.5),
      '0': () => this.fit(),
      PageDown: () => this.scroll(5),
      PageUp: () => this.scroll(-5)
    };
    if (!Object.hasOwn(acts, key)) return false;
    acts[key]();
    return true;
  }
}
