import { Chains, IdIndex } from './columns';
import { Lane, MOST_NAMES, RUNNING, statusCode } from './lane';
import type { Arrival, Recording, Stop } from './recording';

/** When and where an attempt ran, from all that is known; NaN and '' where nothing is. */
export interface Run {
  readonly start: number;
  readonly stop: number;
  readonly worker: string;
  readonly thread: string;
}

/**
 * The attempts of a recording, joined with what their workers saw, in one lane
 * a thread. Follows the recording as it grows; rows may come in any order.
 */
export class Tasks {
  /** Task names; `names[0]` is that of tasks whose name has not arrived. */
  names: string[] = [''];
  /** How many attempts never ran on a thread, by status (stolen, cancelled …): they are in no lane. */
  readonly unplaced = new Map<string, number>();
  /** Number of entries in all lanes. */
  count = 0;
  /** Grows with every change of lanes, entries or names. */
  version = 0;

  private readonly byKey = new Map<string, Lane>();
  private sortedLanes: readonly Lane[] | undefined;
  private workerNames: ReadonlyMap<string, string> | undefined;
  private graphRows = new IdIndex();
  private attemptOfRun = new IdIndex();
  private executionOfRun = new IdIndex();
  private runningOfRun = new IdIndex();
  /** Rows of `running` whose attempt has ended since. */
  private endedRuns = new IdIndex();
  private errorOfRun = new IdIndex();
  private attemptsOfTask = new Chains();
  private phasesOfRun = new Chains();
  private needs = new Chains();
  private neededBy = new Chains();
  /** Attempts whose place rests on little, and the lane they are in: more may arrive. */
  private readonly tentative = new Map<number, Lane | undefined>();
  private edgesTaken = 0;
  private unnamed = 0;
  private readonly callbacks = new Set<() => void>();

  constructor(readonly recording: Recording) {
    this.takeAll();
    recording.onAppend(arrival => this.take(arrival));
    recording.onReplace(() => {
      this.clear();
      this.takeAll();
      this.changed();
    });
  }

  private takeAll(): void {
    for (const table of [
      'graph',
      'executions',
      'running',
      'attempts',
      'phases',
      'errors',
      'workers'
    ] as const) {
      this.take({ table, from: 0, to: this.recording.table(table).rows });
    }
  }

  private clear(): void {
    this.names = [''];
    this.unplaced.clear();
    this.count = 0;
    this.byKey.clear();
    this.sortedLanes = undefined;
    this.workerNames = undefined;
    this.graphRows = new IdIndex();
    this.attemptOfRun = new IdIndex();
    this.executionOfRun = new IdIndex();
    this.runningOfRun = new IdIndex();
    this.endedRuns = new IdIndex();
    this.errorOfRun = new IdIndex();
    this.attemptsOfTask = new Chains();
    this.phasesOfRun = new Chains();
    this.needs = new Chains();
    this.neededBy = new Chains();
    this.tentative.clear();
    this.edgesTaken = 0;
    this.unnamed = 0;
  }

  /** The lanes, grouped by worker. */
  get lanes(): readonly Lane[] {
    this.sortedLanes ??= this.inOrder();
    return this.sortedLanes;
  }

  /** Tells after every change of lanes, entries or names. */
  onChange(callback: () => void): Stop {
    this.callbacks.add(callback);
    return () => this.callbacks.delete(callback);
  }

  /** A worker's name in the cluster, or its address; '' for no worker. */
  workerName(worker: string): string {
    this.workerNames ??= this.readWorkers();
    return this.workerNames.get(worker) || worker;
  }

  /** Row of `graph` of a task, or -1. */
  graphRow(task: number): number {
    return this.graphRows.get(task);
  }

  /** Row of `attempts` of a run, or -1. */
  attemptRow(run: number): number {
    return this.attemptOfRun.get(run);
  }

  /** Row of `executions` of a run, or -1. */
  executionRow(run: number): number {
    return this.executionOfRun.get(run);
  }

  /** Row of `errors` of a run, or -1. */
  errorRow(run: number): number {
    return this.errorOfRun.get(run);
  }

  /** Rows of `attempts` of a task, newest first. */
  attemptRows(task: number): number[] {
    return this.attemptsOfTask.rows(task);
  }

  /** Rows of `phases` of a run. */
  phaseRows(run: number): number[] {
    return this.phasesOfRun.rows(run);
  }

  /** Rows of `edges` that lead to a task's inputs, at most `most`. */
  inputRows(task: number, most?: number): number[] {
    this.takeEdges();
    return this.needs.rows(task, most);
  }

  /** Number of inputs, and of tasks that need the result. */
  degree(task: number): { readonly inputs: number; readonly dependents: number } {
    this.takeEdges();
    return { inputs: this.needs.count(task), dependents: this.neededBy.count(task) };
  }

  /** Index into `names` of a task. */
  nameOf(task: number): number {
    return this.namer()(task);
  }

  /** The same for many tasks: valid until the next append. */
  private namer(): (task: number) => number {
    const { codes } = this.recording.table('graph').symbols('prefix');
    const { graphRows } = this;
    return task => {
      const row = graphRows.get(task);
      return row < 0 ? 0 : Math.min(codes[row] + 1, MOST_NAMES);
    };
  }

  /** When and where an attempt ran, by its row in `attempts`. */
  runOf(row: number): Run {
    const attempts = this.recording.table('attempts');
    const run = attempts.numbers('run')[row];
    const executions = this.recording.table('executions');
    const running = this.recording.table('running');
    const seen = this.executionOfRun.get(run);
    const begun = this.runningOfRun.get(run);
    const start = firstKnown(
      attempts.times('start')[row],
      seen < 0 ? Number.NaN : executions.times('start')[seen],
      seen < 0 ? Number.NaN : executions.times('executing')[seen],
      begun < 0 ? Number.NaN : running.times('start')[begun]
    );
    const done = attempts.times('done')[row];
    const stop = firstKnown(
      attempts.times('stop')[row],
      seen < 0 ? Number.NaN : executions.times('stop')[seen],
      seen < 0 ? Number.NaN : executions.times('ended')[seen],
      done
    );
    const worker = attempts.text('worker', row) || (seen < 0 ? '' : executions.text('worker', seen));
    const thread =
      attempts.text('thread', row) ||
      (seen < 0 ? '' : executions.text('thread', seen)) ||
      (begun < 0 ? '' : running.text('thread', begun));
    return { start, stop, worker, thread };
  }

  private take(arrival: Arrival): void {
    if (arrival.from !== arrival.to && this.changes(arrival)) this.changed();
  }

  private changed(): void {
    this.version++;
    for (const callback of [...this.callbacks]) callback();
  }

  /** Takes new rows; true if lanes or names have changed by them. */
  private changes({ table, from, to }: Arrival): boolean {
    const rows = this.recording;
    switch (table) {
      case 'graph':
        return this.takeGraph(from, to);
      case 'attempts':
        this.takeAttempts(from, to);
        return true;
      case 'executions':
        return this.takeExecutions(from, to);
      case 'running':
        this.takeRunning(from, to);
        return true;
      case 'workers':
        this.sortedLanes = undefined;
        this.workerNames = undefined;
        return true;
      case 'phases':
        chain(this.phasesOfRun, rows.table('phases').numbers('run'), from, to);
        return false;
      case 'errors':
        index(this.errorOfRun, rows.table('errors').numbers('run'), from, to);
        return false;
      default:
        return false;
    }
  }

  /** Edges are many, and wanted only when somebody asks about one task. */
  private takeEdges(): void {
    const edges = this.recording.table('edges');
    if (this.edgesTaken === edges.rows) return;
    chain(this.needs, edges.numbers('task'), this.edgesTaken, edges.rows);
    chain(this.neededBy, edges.numbers('dependency'), this.edgesTaken, edges.rows);
    this.edgesTaken = edges.rows;
  }

  private takeGraph(from: number, to: number): boolean {
    const graph = this.recording.table('graph');
    index(this.graphRows, graph.numbers('task'), from, to);
    const { names } = graph.symbols('prefix');
    const known = this.names.length;
    for (let code = this.names.length - 1; code < Math.min(names.length, MOST_NAMES); code++) {
      this.names.push(code === MOST_NAMES - 1 ? 'other names' : names[code]);
    }
    if (this.unnamed === 0) return this.names.length > known;
    this.nameLate();
    return true;
  }

  private takeExecutions(from: number, to: number): boolean {
    const runs = this.recording.table('executions').numbers('run');
    index(this.executionOfRun, runs, from, to);
    let placed = false;
    for (let row = from; row < to && this.tentative.size > 0; row++) {
      placed = this.placeAgain(this.attemptOfRun.get(runs[row])) || placed;
    }
    return placed;
  }

  private takeRunning(from: number, to: number): void {
    const running = this.recording.table('running');
    const runs = running.numbers('run');
    const tasks = running.numbers('task');
    const starts = running.times('start');
    const workers = running.symbols('worker');
    const threads = running.symbols('thread');
    for (let row = from; row < to; row++) {
      const run = runs[row];
      if (this.runningOfRun.get(run) >= 0) continue;
      this.runningOfRun.set(run, row);
      const ended = this.attemptOfRun.get(run);
      if (ended >= 0) {
        this.placeAgain(ended);
        continue;
      }
      const lane = this.lane(workers.names[workers.codes[row]], threads.names[threads.codes[row]]);
      this.put(lane, starts[row], Number.POSITIVE_INFINITY, this.nameOf(tasks[row]), RUNNING, row);
    }
  }

  private takeAttempts(from: number, to: number): void {
    const attempts = this.recording.table('attempts');
    const runs = attempts.numbers('run');
    const tasks = attempts.numbers('task');
    const starts = attempts.times('start');
    const stops = attempts.times('stop');
    const workers = attempts.symbols('worker');
    const threads = attempts.symbols('thread');
    const statuses = attempts.symbols('status');
    const codes = statuses.names.map(statusCode);
    const wide = threads.names.length;
    const nameOf = this.namer();
    const anyRunning = this.recording.table('running').rows > 0;
    const lanes = new Map<number, Lane>();
    for (let row = from; row < to; row++) {
      const run = runs[row];
      this.attemptOfRun.set(run, row);
      this.attemptsOfTask.add(tasks[row], row);
      if (anyRunning) this.forgetRunning(run);
      const thread = threads.names[threads.codes[row]];
      if (thread === '' || !(starts[row] <= stops[row])) {
        this.place(row);
        continue;
      }
      const key = workers.codes[row] * wide + threads.codes[row];
      let lane = lanes.get(key);
      if (!lane) {
        lane = this.lane(workers.names[workers.codes[row]], thread);
        lanes.set(key, lane);
      }
      this.put(lane, starts[row], stops[row], nameOf(tasks[row]), codes[statuses.codes[row]], row);
    }
  }

  private forgetRunning(run: number): void {
    const row = this.runningOfRun.get(run);
    if (row < 0 || this.endedRuns.get(run) >= 0) return;
    this.endedRuns.set(run, row);
    const running = this.recording.table('running');
    const key = laneKey(running.text('worker', row), running.text('thread', row));
    const lane = this.byKey.get(key);
    lane?.remove(row, true);
    this.count--;
    // The lane of those whose thread was not known yet is there only as long as it is needed.
    if (lane?.thread === '' && lane.length === 0) {
      this.byKey.delete(key);
      this.sortedLanes = undefined;
    }
  }

  /** Places an attempt of which the scheduler does not know when, or on which thread, it ran. */
  private place(row: number): void {
    const attempts = this.recording.table('attempts');
    const status = attempts.text('status', row);
    const { start, stop, worker, thread } = this.runOf(row);
    if (Number.isNaN(start) && !['killed', 'erred', 'ok'].includes(status)) {
      this.unplaced.set(status, (this.unplaced.get(status) ?? 0) + 1);
      this.tentative.set(row, undefined);
      return;
    }
    const lane = this.lane(worker, thread);
    const end = firstKnown(stop, attempts.times('done')[row]);
    const begin = firstKnown(start, status === 'killed' ? attempts.times('assigned')[row] : Number.NaN, end);
    if (Number.isNaN(begin)) return;
    const task = attempts.numbers('task')[row];
    this.put(lane, Math.min(begin, end), Math.max(begin, end), this.nameOf(task), statusCode(status), row);
    this.tentative.set(row, lane);
  }

  private placeAgain(row: number): boolean {
    if (row < 0 || !this.tentative.has(row)) return false;
    const lane = this.tentative.get(row);
    this.tentative.delete(row);
    if (lane) {
      lane.remove(row, false);
      this.count--;
      if (lane.length === 0) {
        this.byKey.delete(laneKey(lane.worker, lane.thread));
        this.sortedLanes = undefined;
      }
    } else {
      const status = this.recording.table('attempts').text('status', row);
      this.unplaced.set(status, (this.unplaced.get(status) ?? 1) - 1);
    }
    this.place(row);
    return true;
  }

  private put(lane: Lane, start: number, stop: number, name: number, status: number, row: number): void {
    if (name === 0) this.unnamed++;
    lane.add(start, stop, name, status, row);
    this.count++;
  }

  private lane(worker: string, thread: string): Lane {
    const key = laneKey(worker, thread);
    let lane = this.byKey.get(key);
    if (!lane) {
      lane = new Lane(worker, thread);
      this.byKey.set(key, lane);
      this.sortedLanes = undefined;
    }
    return lane;
  }

  private nameLate(): void {
    this.unnamed = 0;
    const nameOf = this.namer();
    const attempted = this.recording.table('attempts').numbers('task');
    const running = this.recording.table('running').numbers('task');
    for (const lane of this.byKey.values()) {
      for (let entry = 0; entry < lane.length; entry++) {
        if (lane.name[entry] !== 0) continue;
        const name = nameOf((lane.status[entry] === RUNNING ? running : attempted)[lane.row[entry]]);
        if (name === 0) this.unnamed++;
        else lane.rename(entry, name);
      }
    }
  }

  private readWorkers(): Map<string, string> {
    const workers = this.recording.table('workers');
    const names = new Map<string, string>();
    // A later row replaces an earlier one.
    for (let row = 0; row < workers.rows; row++)
      names.set(workers.text('worker', row), workers.text('name', row));
    return names;
  }

  private inOrder(): Lane[] {
    const order = new Intl.Collator('en', { numeric: true });
    const seen = new Map([...this.byKey.values()].map((lane, at) => [lane, at]));
    return [...seen.keys()].sort(
      (a, b) =>
        Number(a.worker === '') - Number(b.worker === '') ||
        order.compare(this.workerName(a.worker), this.workerName(b.worker)) ||
        order.compare(a.worker, b.worker) ||
        Number(a.thread === '') - Number(b.thread === '') ||
        order.compare(a.thread, b.thread)
    );
  }
}

function laneKey(worker: string, thread: string): string {
  return `${worker}\n${thread}`;
}

function firstKnown(...values: number[]): number {
  return values.find(value => !Number.isNaN(value)) ?? Number.NaN;
}

function index(into: IdIndex, ids: ArrayLike<number>, from: number, to: number): void {
  for (let row = from; row < to; row++) into.set(ids[row], row);
}

function chain(into: Chains, ids: ArrayLike<number>, from: number, to: number): void {
  for (let row = from; row < to; row++) into.add(ids[row], row);
}
