import { busiestLines, callees, callers, lines } from '../../core/flame';
import { SampleIndex, THREADS, type Threads } from '../../core/flame-samples';
import type { Frames } from '../../core/flame-stacks';
import { type FlameTree, type Found, search } from '../../core/flame-tree';
import { FlameWeights } from '../../core/flame-weights';
import { sourceLines } from '../../core/source-lines';
import type { PanelContext } from '../panel';
import { FrameColors } from './colors';

/** What a reading of the data has changed. */
export type Change = 'nothing' | 'grown' | 'anew';

/** The samples of what is chosen, as a tree; kept up to date as they come. */
export class FlameData {
  /** Those that are shown: what was chosen, or others as long as there are no samples of these. */
  threads: Threads = 'tasks';
  inverted = false;
  tree: FlameTree | undefined;
  colors: FrameColors | undefined;
  found: Found | undefined;
  private chosen: Threads = 'tasks';
  private index: SampleIndex | undefined;
  private known = '';
  /** Of which frames the names are. */
  private named = '';
  /** When the session began that the tree is of. */
  private session: unknown;
  private filterKey = '';
  private readonly weights = new FlameWeights();
  private lower: readonly string[] = [];

  constructor(private readonly context: PanelContext) {}

  get frames(): Frames | undefined {
    return this.index?.tree.frames;
  }

  /** Whether the tree is that of what is chosen now. */
  get isCurrent(): boolean {
    return this.choiceKey() === this.filterKey;
  }

  choose(threads: Threads): void {
    this.chosen = this.threads = threads;
  }

  /** Threads of which there are samples; those that are shown change if there are none of them. */
  offered(): ReadonlySet<Threads> {
    return new Set(THREADS.filter(threads => this.index?.has(threads)));
  }

  /** Takes what is new. */
  read(): Change {
    const { recording, selection, tasks } = this.context;
    this.index ??= new SampleIndex(recording, tasks);
    const { index } = this;
    const known = recording.state('stacks', 'samples', 'graph', 'attempts', 'running', 'submissions');
    if (known === this.known && this.isCurrent) return 'nothing';
    if (known !== this.known) {
      this.known = known;
      index.update();
      this.nameFrames(index.tree.frames);
      const offered = this.offered();
      const [first] = offered;
      if (first) this.threads = offered.has(this.chosen) ? this.chosen : first;
    }
    const session = recording.about('started');
    const again = this.isCurrent && this.tree !== undefined && session === this.session;
    this.session = session;
    this.filterKey = this.choiceKey();
    const filter = selection.filter('flame-graph');
    const changed = this.weights.update(index, this.threads, filter, this.filterKey);
    if (!changed && again) return 'nothing';
    this.tree = (this.inverted ? callers : callees)(index.tree, this.weights.values);
    this.found = undefined;
    return again ? 'grown' : 'anew';
  }

  /** Finds text in the frames of the tree. */
  find(wanted: string): void {
    this.found = wanted && this.tree ? search(this.tree, this.lower, wanted) : undefined;
  }

  /** Which lines of a node's function were running, most first; where the tree tells callers first. */
  linesOf(node: number): readonly (readonly [line: number, seconds: number])[] {
    const { tree, index } = this;
    if (!tree || !index || this.inverted) return [];
    return lines(index.tree, this.weights.totals(index), tree.origin[node]);
  }

  /** The source of a line of a frame's file; '' if the recording does not have it. */
  codeOf(frame: number, line: number): string {
    return sourceLines(this.context.recording).text(this.frames?.files[frame] ?? '', line);
  }

  /** By frame the line that took most of what is chosen, what it called included; 0 for none. */
  busiestLines(): Uint32Array {
    const { index } = this;
    return index ? busiestLines(index.tree, this.weights.totals(index)) : new Uint32Array(0);
  }

  private nameFrames({ names, files }: Frames): void {
    const named = `${this.context.recording.generation} ${names.length}`;
    if (named === this.named) return;
    this.named = named;
    this.colors = new FrameColors(names, files);
    this.lower = names.map((name, frame) => `${name}\n${files[frame]}`.toLowerCase());
  }

  /** What the tree depends on besides the data. */
  private choiceKey(): string {
    const { time, ...columns } = this.context.selection.filter('flame-graph');
    const lists = Object.values(columns).map(each => each && [...each]);
    return JSON.stringify([this.threads, this.inverted, time, ...lists]);
  }
}
