import { firstAbove } from './first-above';
import { merged } from './merged';
import { placeIn } from './place-in';
import { NOTHING } from './schema';
import { chosenFlags, type Filter } from './selection';
import { taskTest } from './task-filter';
import type { Tasks } from './tasks';

/** What a tile's time went into, as the `critical` table says it. */
export const KINDS = ['compute', 'disk', 'worker', 'transfer', 'thread', 'scheduler', 'client'] as const;
export type Kind = (typeof KINDS)[number];

export const COMPUTE = KINDS.indexOf('compute');

/** What waited for a step. */
export const REASONS = ['end', 'input', 'thread', 'submission', 'retry'] as const;
export type Reason = (typeof REASONS)[number];

/** A thread of a worker. */
export interface Thread {
  readonly worker: string;
  readonly thread: string;
}

/**
 * What kept the run from ending sooner, in order of time: tiles that follow one
 * another without a gap. The tiles of one attempt stand together and are a step.
 * Of several clusters, each has its path; one of them is shown.
 */
export class CriticalPath {
  /** Number of tiles, and of steps. */
  count = 0;
  steps = 0;
  /** When each tile began and ended, seconds since the epoch. */
  start = new Float64Array(0);
  stop = new Float64Array(0);
  /** Index into `KINDS`. */
  kind = new Uint8Array(0);
  /** Index into `Tasks.names`. */
  name = new Uint16Array(0);
  /** The attempt and its task; `NOTHING` if none. */
  run = new Uint32Array(0);
  task = new Uint32Array(0);
  /** Step `s` has the tiles from `first[s]` up to `first[s + 1]`. */
  first = new Float64Array(1);
  /** What waited for each step: index into `REASONS`. */
  because = new Uint8Array(0);
  /** Where each step was: index into `threads`. */
  place = new Uint32Array(0);
  threads: readonly Thread[] = [];
  /** The clusters that have a path, the one with most work first, and the one whose path this is. */
  clusters: readonly string[] = [];
  cluster = '';
  /** Grows with every change. */
  version = 0;
  private known = '';
  private wanted: string | undefined;
  private readonly callbacks = new Set<() => void>();

  constructor(private readonly tasks: Tasks) {}

  /** Takes the rows as they are now; true if there are others. */
  update(): boolean {
    const { recording, names } = this.tasks;
    const known = `${recording.state('critical', 'graph')}|${names.length}|${this.wanted}`;
    if (known === this.known) return false;
    this.known = known;
    this.version++;
    this.read();
    return true;
  }

  /** From the next update on it is the path of this cluster. */
  choose(cluster: string): void {
    this.wanted = cluster;
    for (const callback of [...this.callbacks]) callback();
  }

  /** Tells that another cluster was chosen. */
  onChoose(callback: () => void): () => void {
    this.callbacks.add(callback);
    return () => this.callbacks.delete(callback);
  }

  /** When it begins and how long it is; the run's length. Seconds. */
  get begin(): number {
    return this.count > 0 ? this.start[0] : Number.NaN;
  }

  get seconds(): number {
    return this.count > 0 ? this.stop[this.count - 1] - this.start[0] : 0;
  }

  stepOf(tile: number): number {
    return firstAbove(this.first, tile) - 1;
  }

  /** The first tile that ends after a moment; `count` if there is none. */
  firstAfter(time: number): number {
    return firstAbove(this.stop, time);
  }

  private read(): void {
    const table = this.tasks.recording.table('critical');
    const { codes, names } = table.symbols('cluster');
    const used = [...new Set(codes.subarray(0, table.rows))];
    this.clusters = used.map(code => names[code]);
    const chosen = used.find(code => names[code] === this.wanted) ?? used[0];
    this.cluster = names[chosen] ?? '';
    const order = merged(table.times('start')).filter(row => codes[row] === chosen);
    const take = <T extends Float64Array | Uint32Array | Uint8Array>(into: T, from: ArrayLike<number>): T => {
      for (let at = 0; at < order.length; at++) into[at] = from[order[at]];
      return into;
    };
    this.count = order.length;
    this.start = take(new Float64Array(order.length), table.times('start'));
    this.stop = take(new Float64Array(order.length), table.times('stop'));
    this.task = take(new Uint32Array(order.length), table.numbers('task'));
    this.run = take(new Uint32Array(order.length), table.numbers('run'));
    const kinds = table.symbols('kind');
    const kindOf = kinds.names.map(name => Math.max(0, KINDS.indexOf(name as Kind)));
    const nameOf = this.tasks.namer();
    this.kind = new Uint8Array(order.length);
    this.name = new Uint16Array(order.length);
    for (let at = 0; at < order.length; at++) {
      this.kind[at] = kindOf[kinds.codes[order[at]]];
      this.name[at] = this.task[at] === NOTHING ? 0 : nameOf(this.task[at]);
    }
    this.findSteps(order);
  }

  private findSteps(order: Uint32Array): void {
    const table = this.tasks.recording.table('critical');
    const reasons = table.symbols('because');
    const reasonOf = reasons.names.map(name => Math.max(0, REASONS.indexOf(name as Reason)));
    const [workers, threads] = [table.symbols('worker'), table.symbols('thread')];
    const places = new Map<number, number>();
    const list: Thread[] = [];
    const first = new Float64Array(order.length + 1);
    let steps = 0;
    for (let at = 0; at < order.length; at++) {
      if (at === 0 || this.run[at] !== this.run[at - 1] || this.task[at] !== this.task[at - 1])
        first[steps++] = at;
    }
    first[steps] = order.length;
    this.steps = steps;
    this.first = first.slice(0, steps + 1);
    this.because = new Uint8Array(steps);
    this.place = new Uint32Array(steps);
    for (let step = 0; step < steps; step++) {
      const row = order[first[step]];
      this.because[step] = reasonOf[reasons.codes[row]];
      const [worker, thread] = [workers.codes[row], threads.codes[row]];
      const place = placeIn(places, worker * threads.names.length + thread);
      list[place] ??= { worker: workers.names[worker], thread: threads.names[thread] };
      this.place[step] = place;
    }
    this.threads = list;
  }
}

const paths = new WeakMap<Tasks, CriticalPath>();

/** The path of a recording, the same for all who ask, as its rows are now. */
export function criticalPathOf(tasks: Tasks): CriticalPath {
  let path = paths.get(tasks);
  if (!path) {
    path = new CriticalPath(tasks);
    paths.set(tasks, path);
  }
  path.update();
  return path;
}

/** How much of the path a name, or everything, has; seconds. */
export interface PathSum {
  /** Index into `Tasks.names`. */
  readonly name: number;
  readonly seconds: number;
  readonly steps: number;
  /** By kind, in the order of `KINDS`. */
  readonly kinds: Float64Array;
}

/** Seconds of each tile that a filter leaves. */
export function secondsLeft(path: CriticalPath, tasks: Tasks, filter: Filter): Float64Array {
  const { start, stop, run, task, name, first } = path;
  const { time, names, workers } = filter;
  const left = new Float64Array(path.count);
  const test = taskTest(tasks, filter);
  const isName = chosenFlags(tasks.names, names);
  const isPlace = workers && path.threads.map(({ worker }) => workers.has(worker));
  for (let step = 0; step < path.steps; step++) {
    if (isPlace && !isPlace[path.place[step]]) continue;
    if (isName[name[first[step]]] === 0) continue;
    if (test && !test(run[first[step]], task[first[step]])) continue;
    for (let tile = first[step]; tile < first[step + 1]; tile++) {
      const from = time && time.start > start[tile] ? time.start : start[tile];
      const to = time && time.stop < stop[tile] ? time.stop : stop[tile];
      if (to > from) left[tile] = to - from;
    }
  }
  return left;
}

/** The path by task name, most seconds first; `seconds` as `secondsLeft` gives them. */
export function sumPath(path: CriticalPath, seconds: Float64Array): PathSum[] {
  const sums = new Map<number, { name: number; seconds: number; steps: number; kinds: Float64Array }>();
  for (let step = 0; step < path.steps; step++) {
    const name = path.name[path.first[step]];
    let sum = sums.get(name);
    if (!sum) {
      sum = { name, seconds: 0, steps: 0, kinds: new Float64Array(KINDS.length) };
      sums.set(name, sum);
    }
    let any = 0;
    for (let tile = path.first[step]; tile < path.first[step + 1]; tile++) {
      sum.kinds[path.kind[tile]] += seconds[tile];
      any += seconds[tile];
    }
    sum.seconds += any;
    if (any > 0) sum.steps++;
  }
  return [...sums.values()].filter(sum => sum.seconds > 0).sort((a, b) => b.seconds - a.seconds);
}
