import { type EntryColumns, type Lane, LOST, MOST_NAMES, RUNNING, statusCode } from './lane';
import { Lanes } from './lanes';
import { Nameless } from './nameless';
import type { Arrival, Recording, Stop } from './recording';
import { TaskIndex } from './task-index';
import { type Placed, placeOf } from './task-run';
import { TaskTotals } from './task-totals';

/** An entry of a lane, and when it ran. */
interface Retimed {
  readonly lane: Lane;
  readonly entry: number;
  readonly start: number;
  readonly stop: number;
}

/**
 * The attempts of a recording, joined with what their workers saw, in one lane
 * a thread. Follows the recording as it grows; rows may come in any order.
 */
export class Tasks extends TaskIndex {
  /** Task names; `names[0]` is that of tasks whose name has not arrived. */
  names: string[] = [''];
  /** How many attempts never ran on a thread, by status (stolen, cancelled …): they are in no lane. */
  unplaced = new Map<string, number>();
  /** How much of each name is in the lanes. */
  totals = new TaskTotals();
  /** Number of entries in all lanes. */
  count = 0;
  /** Grows with every change of lanes, entries or names. */
  version = 0;

  private threads: Lanes;
  /** Tasks of the recording that is about to replace this one's rows. */
  private successor: Tasks | undefined;
  /** Rows of attempts whose place rests on little: more may arrive. */
  private loose = new Set<number>();
  private nameless = new Nameless();
  private readonly callbacks = new Set<() => void>();

  constructor(recording: Recording) {
    super(recording);
    this.threads = new Lanes(recording);
    this.takeAll();
    recording.onAppend(arrival => {
      if (this.takeRows(arrival)) this.changed();
    });
    recording.onReplace(other => {
      if (this.successor?.recording === other) {
        this.adopt(this.successor);
      } else {
        this.clear();
        this.takeAll();
      }
      this.successor = undefined;
      this.changed();
    });
  }

  /** Has `next` take over when the rows are replaced by those of its recording: then nothing is worked out twice. */
  succeed(next: Tasks): void {
    this.successor = next;
  }

  /** The lanes, grouped by worker. */
  get lanes(): readonly Lane[] {
    return this.threads.inOrder;
  }

  /** Tells after every change of lanes, entries or names. */
  onChange(callback: () => void): Stop {
    this.callbacks.add(callback);
    return () => this.callbacks.delete(callback);
  }

  /** A worker's name, with its cluster's number where others have workers of that name; or its address; '' for none. */
  workerName(worker: string): string {
    return this.threads.workerName(worker);
  }

  /** The task of an entry. */
  taskOf({ row, status }: Lane, entry: number): number {
    const table = status[entry] === RUNNING ? 'running' : 'attempts';
    return this.recording.table(table).numbers('task')[row[entry]];
  }

  /** The entry of an attempt, by its row; undefined where it is in no lane. */
  entryOf(row: number): { readonly lane: Lane; readonly entry: number } | undefined {
    const placed = placeOf(this, row);
    if (typeof placed === 'string') return undefined;
    const lane = this.threads.find(placed.worker, placed.thread);
    const entry = lane?.find(placed.start, row, false) ?? -1;
    return lane && entry >= 0 ? { lane, entry } : undefined;
  }

  /** How many tasks have entries but no name yet. */
  get namelessCount(): number {
    return this.nameless.size;
  }

  /** Index into `names` of a task. */
  nameOf(task: number): number {
    return this.namer()(task);
  }

  protected override clear(): void {
    super.clear();
    this.names = [''];
    this.unplaced.clear();
    this.totals.clear();
    this.count = 0;
    this.threads.clear();
    this.loose.clear();
    this.nameless.clear();
  }

  protected override adopt(other: Tasks): void {
    super.adopt(other);
    this.names = other.names;
    this.unplaced = other.unplaced;
    this.totals = other.totals;
    this.count = other.count;
    this.threads = other.threads;
    this.loose = other.loose;
    this.nameless = other.nameless;
  }

  protected override takeRows(arrival: Arrival): boolean {
    const { table, from, to, late } = arrival;
    if (from === to) return false;
    super.takeRows(arrival);
    // Columns that come later are those that no place in a lane depends on.
    if (late && table === 'attempts') return true;
    switch (table) {
      case 'graph':
        return this.takeGraph(from, to);
      case 'executions':
        return this.takeExecutions(from, to);
      case 'attempts':
        this.takeAttempts(from, to);
        return true;
      case 'running':
        this.takeRunning(from, to);
        return true;
      case 'workers':
        this.threads.rename();
        return true;
      default:
        return false;
    }
  }

  private changed(): void {
    this.version++;
    for (const callback of [...this.callbacks]) callback();
  }

  /** `nameOf` for many tasks: valid until the next append. */
  namer(): (task: number) => number {
    const { codes } = this.recording.table('graph').symbols('prefix');
    const { graphRows } = this.known;
    return task => {
      const row = graphRows.get(task);
      return row < 0 ? 0 : Math.min(codes[row] + 1, MOST_NAMES);
    };
  }

  private takeGraph(from: number, to: number): boolean {
    const { names } = this.recording.table('graph').symbols('prefix');
    const known = this.names.length;
    for (let code = this.names.length - 1; code < Math.min(names.length, MOST_NAMES); code++) {
      this.names.push(code === MOST_NAMES - 1 ? 'other names' : names[code]);
    }
    const named = this.nameLate(from, to);
    return named || this.names.length > known;
  }

  private takeExecutions(from: number, to: number): boolean {
    const runs = this.recording.table('executions').numbers('run');
    const { starts, stops } = this.seenTimes();
    // All at once in the end: each change would have its lane put in order again.
    const waiting: Retimed[] = [];
    const retime = (): void => {
      for (const { lane, entry, start, stop } of waiting.splice(0)) lane.retime(entry, start, stop);
    };
    let moved = false;
    for (let row = from; row < to; row++) {
      const run = runs[row];
      const attempt = this.known.attemptOfRun.get(run);
      const moves =
        attempt >= 0 && (this.loose.has(attempt) || isKnown(starts?.[row]) || isKnown(stops?.[row]));
      const stays = moves ? this.staying(attempt) : undefined;
      if (stays) {
        this.known.executionOfRun.set(run, row);
        const { start, stop } = placeOf(this, attempt) as Placed;
        this.totals.remove(stays.name, stays.stop - stays.start);
        this.totals.add(stays.name, stop - start);
        waiting.push({ ...stays, start, stop });
      } else {
        if (moves) {
          retime();
          this.unplace(attempt);
        }
        this.known.executionOfRun.set(run, row);
        if (moves) this.place(attempt);
      }
      moved ||= moves;
    }
    retime();
    return moved;
  }

  /** Where an attempt stands that stays in its lane whatever its worker tells; undefined if it might not. */
  private staying(attempt: number): (Retimed & { readonly name: number }) | undefined {
    const attempts = this.recording.table('attempts');
    const worker = attempts.text('worker', attempt);
    const thread = attempts.text('thread', attempt);
    if (this.loose.has(attempt) || worker === '' || thread === '') return undefined;
    const lane = this.threads.find(worker, thread);
    const placed = placeOf(this, attempt);
    const name = this.nameOf(attempts.numbers('task')[attempt]);
    if (!lane || typeof placed === 'string' || name === 0) return undefined;
    const { start, stop } = placed;
    const entry = lane.find(start, attempt, false);
    return entry < 0 ? undefined : { lane, entry, start, stop, name };
  }

  private takeRunning(from: number, to: number): void {
    const running = this.recording.table('running');
    const runs = running.numbers('run');
    const tasks = running.numbers('task');
    const starts = running.times('start');
    const workers = running.symbols('worker');
    const threads = running.symbols('thread');
    const nameOf = this.namer();
    for (let row = from; row < to; row++) {
      const run = runs[row];
      if (this.known.runningOfRun.get(run) >= 0) continue;
      const ended = this.known.attemptOfRun.get(run);
      const moves = ended >= 0 && this.loose.has(ended);
      if (moves) this.unplace(ended);
      this.known.runningOfRun.set(run, row);
      if (moves) this.place(ended);
      if (ended >= 0) continue;
      const lane = this.threads.get(workers.names[workers.codes[row]], threads.names[threads.codes[row]]);
      const name = nameOf(tasks[row]);
      if (name === 0) this.nameless.add(tasks[row], { lane, start: starts[row], row, running: true });
      this.put(lane, starts[row], Number.POSITIVE_INFINITY, name, RUNNING, row);
    }
  }

  private takeAttempts(from: number, to: number): void {
    const attempts = this.recording.table('attempts');
    this.indexAttempts(from, to);
    const workers = attempts.symbols('worker');
    const threads = attempts.symbols('thread');
    const entries = this.entriesOf(from, to);
    const wide = threads.names.length;
    const key = (row: number): number => workers.codes[row] * wide + threads.codes[row];
    // Rows of one lane mostly stand together.
    for (let row = from, until = from; row < to; row = until) {
      const same = key(row);
      for (until = row + 1; until < to && key(until) === same; ) until++;
      const thread = threads.names[threads.codes[row]];
      if (thread === '') for (let each = row; each < until; each++) this.place(each);
      else this.takeStretch(workers.names[workers.codes[row]], thread, entries, row - from, until - from);
    }
  }

  /** Makes rows of attempts known by their runs; what was seen running has ended with them. */
  private indexAttempts(from: number, to: number): void {
    const runs = this.recording.table('attempts').numbers('run');
    if (this.recording.table('running').rows > 0) {
      for (let row = from; row < to; row++) {
        if (this.known.attemptOfRun.get(runs[row]) < 0) this.endRunning(runs[row]);
      }
    }
    this.known.attemptOfRun.setAll(runs, from, to);
  }

  /** Attempts as entries of lanes: with what their workers saw, where that has come. */
  private entriesOf(from: number, to: number): EntryColumns {
    const attempts = this.recording.table('attempts');
    const tasks = attempts.numbers('task');
    const statuses = attempts.symbols('status');
    const codes = statuses.names.map(statusCode);
    const nameOf = this.namer();
    const name = new Uint16Array(to - from);
    const status = new Uint8Array(to - from);
    for (let row = from; row < to; row++) {
      name[row - from] = nameOf(tasks[row]);
      status[row - from] = codes[statuses.codes[row]];
    }
    const { starts, stops } = this.seenTimes();
    const runs = attempts.numbers('run');
    const seen = (times: Float64Array, better: Float64Array | undefined): Float64Array => {
      const own = times.subarray(from, to);
      return better
        ? own.map((time, at) => known(better[this.known.executionOfRun.get(runs[from + at])], time))
        : own;
    };
    return {
      start: seen(attempts.times('start'), starts),
      stop: seen(attempts.times('stop'), stops),
      name,
      status,
      from
    };
  }

  /** Puts entries of one thread into its lane; those whose times are not known go where their place is. */
  private takeStretch(
    worker: string,
    thread: string,
    entries: EntryColumns,
    first: number,
    end: number
  ): void {
    const tasks = this.recording.table('attempts').numbers('task');
    const { start, stop, name, from: zero } = entries;
    for (let from = first, to = first; from < end; from = to + 1) {
      for (to = from; to < end && start[to] <= stop[to]; ) to++;
      if (to > from) {
        const lane = this.threads.get(worker, thread);
        lane.addAll(entries, from, to);
        this.totals.addAll(name, start, stop, from, to);
        this.count += to - from;
        for (let at = from; at < to; at++) {
          if (name[at] > 0) continue;
          const row = zero + at;
          this.nameless.add(tasks[row], { lane, start: start[at], row, running: false });
        }
      }
      if (to < end) this.place(zero + to);
    }
  }

  /** When workers saw attempts begin and end, where they tell of that at all. */
  private seenTimes(): { readonly starts?: Float64Array; readonly stops?: Float64Array } {
    const executions = this.recording.table('executions');
    return {
      ...(executions.has('start') ? { starts: executions.times('start') } : {}),
      ...(executions.has('stop') ? { stops: executions.times('stop') } : {})
    };
  }

  /** An attempt that was seen running has ended. */
  private endRunning(run: number): void {
    const row = this.known.runningOfRun.get(run);
    if (row < 0) return;
    const running = this.recording.table('running');
    const task = running.numbers('task')[row];
    const start = running.times('start')[row];
    const lane = this.threads.find(running.text('worker', row), running.text('thread', row));
    if (lane) this.takeOut(lane, start, Number.NaN, this.nameOf(task), row, true);
  }

  /** Places an attempt by all that is known of it. */
  private place(row: number): void {
    const placed = placeOf(this, row);
    if (typeof placed === 'string') {
      this.unplaced.set(placed, (this.unplaced.get(placed) ?? 0) + 1);
      this.loose.add(row);
      return;
    }
    const { start, stop, worker, thread, status } = placed;
    const task = this.recording.table('attempts').numbers('task')[row];
    const lane = this.threads.get(worker, thread);
    const name = this.nameOf(task);
    if (name === 0) this.nameless.add(task, { lane, start, row, running: false });
    this.put(lane, start, stop, name, status, row);
    if (thread === '' || !placed.sure) this.loose.add(row);
  }

  /** Takes an attempt from where `place` has put it; nothing that is known of it may have changed since. */
  private unplace(row: number): void {
    this.loose.delete(row);
    const placed = placeOf(this, row);
    if (typeof placed === 'string') {
      this.unplaced.set(placed, (this.unplaced.get(placed) ?? 1) - 1);
      return;
    }
    const { start, stop, worker, thread, status } = placed;
    const task = this.recording.table('attempts').numbers('task')[row];
    const lane = this.threads.find(worker, thread);
    if (lane) this.takeOut(lane, start, computed(start, stop, status), this.nameOf(task), row, false);
  }

  private put(lane: Lane, start: number, stop: number, name: number, status: number, row: number): void {
    lane.add(start, stop, name, status, row);
    this.totals.add(name, computed(start, stop, status));
    this.count++;
  }

  private takeOut(
    lane: Lane,
    start: number,
    took: number,
    name: number,
    row: number,
    running: boolean
  ): void {
    if (!lane.remove(start, row, running)) return;
    this.totals.remove(name, took);
    this.count--;
    // A lane of those whose thread was not known yet is there only as long as it is needed.
    if (lane.thread !== '' || lane.length > 0) return;
    this.threads.delete(lane);
  }

  /** Gives names to entries that came before the rows of `graph` that tell them. */
  private nameLate(from: number, to: number): boolean {
    const tasks = this.recording.table('graph').numbers('task');
    const nameOf = this.namer();
    let any = false;
    for (let row = from; row < to && this.nameless.size > 0; row++) {
      for (const { lane, start, row: at, running } of this.nameless.take(tasks[row])) {
        const entry = lane.find(start, at, running);
        const name = nameOf(tasks[row]);
        if (entry < 0 || name === 0 || lane.name[entry] !== 0) continue;
        const took = computed(start, lane.stop[entry], lane.status[entry]);
        this.totals.remove(0, took);
        this.totals.add(name, took);
        lane.rename(entry, name);
        any = true;
      }
    }
    return any;
  }
}

function isKnown(time: number | undefined): time is number {
  return time !== undefined && !Number.isNaN(time);
}

/** Seconds that an attempt took; NaN where that is not known, or not yet. */
function computed(start: number, stop: number, status: number): number {
  return status === LOST || stop === Number.POSITIVE_INFINITY ? Number.NaN : stop - start;
}

function known(time: number | undefined, otherwise: number): number {
  return isKnown(time) ? time : otherwise;
}
