import { Chains, IdIndex } from './columns';
import type { Arrival, Recording } from './recording';

/** Tables whose rows are found by an id of theirs. */
const INDEXED = ['graph', 'executions', 'running', 'attempts', 'phases', 'errors'] as const;

/** Chains that are made when somebody asks: most are never looked at. */
class LateChains {
  private readonly chains = new Chains();
  private taken = 0;

  /** With all rows of a column of ids. */
  upTo(ids: ArrayLike<number>): Chains {
    for (; this.taken < ids.length; this.taken++) this.chains.add(ids[this.taken], this.taken);
    return this.chains;
  }
}

/** Where rows stand, by the ids in them. */
class Indexes {
  readonly graphRows = new IdIndex();
  readonly attemptOfRun = new IdIndex();
  readonly executionOfRun = new IdIndex();
  readonly runningOfRun = new IdIndex();
  readonly attemptsOfTask = new LateChains();
  readonly errorOfRun = new IdIndex();
  readonly phasesOfRun = new LateChains();
  readonly collectionsOfRun = new LateChains();
  readonly needs = new LateChains();
  readonly neededBy = new LateChains();
}

/** Where the rows of each task and each attempt stand. Follows the recording as it grows. */
export class TaskIndex {
  protected known = new Indexes();

  constructor(readonly recording: Recording) {}

  /** Row of `graph` of a task, or -1. */
  graphRow(task: number): number {
    return this.known.graphRows.get(task);
  }

  /** Row of `attempts` of a run, or -1. */
  attemptRow(run: number): number {
    return this.known.attemptOfRun.get(run);
  }

  /** Row of `executions` of a run, or -1. */
  executionRow(run: number): number {
    return this.known.executionOfRun.get(run);
  }

  /** Row of `running` of a run, or -1. */
  runningRow(run: number): number {
    return this.known.runningOfRun.get(run);
  }

  /** Row of `errors` of a run, or -1. */
  errorRow(run: number): number {
    return this.known.errorOfRun.get(run);
  }

  /** Rows of `attempts` of a task, newest first: by their runs, for files may have rows in any order. */
  attemptRows(task: number): number[] {
    const attempts = this.recording.table('attempts');
    const runs = attempts.numbers('run');
    const rows = this.known.attemptsOfTask.upTo(attempts.numbers('task')).rows(task);
    return rows.sort((a, b) => runs[b] - runs[a]);
  }

  /** Rows of `phases` of a run. */
  phaseRows(run: number): number[] {
    return this.known.phasesOfRun.upTo(this.recording.table('phases').numbers('run')).rows(run);
  }

  /** Rows of `collections` that took place on the thread of a run. */
  collectionRows(run: number): number[] {
    return this.known.collectionsOfRun.upTo(this.recording.table('collections').numbers('run')).rows(run);
  }

  /** Rows of `edges` that lead to a task's inputs, at most `most`. */
  inputRows(task: number, most?: number): number[] {
    return this.inputs().rows(task, most);
  }

  /** Rows of `edges` that lead to the tasks that need a task's result, at most `most`. */
  dependentRows(task: number, most?: number): number[] {
    return this.dependents().rows(task, most);
  }

  /** Number of inputs, and of tasks that need the result. */
  degree(task: number): { readonly inputs: number; readonly dependents: number } {
    return { inputs: this.inputs().count(task), dependents: this.dependents().count(task) };
  }

  /** Takes all rows that the recording has by now. */
  protected takeAll(): void {
    for (const table of INDEXED) this.takeRows({ table, from: 0, to: this.recording.table(table).rows });
  }

  /** Takes rows that have arrived; true if they change more than where rows are found. */
  protected takeRows({ table, from, to }: Arrival): boolean {
    const { recording } = this;
    if (table === 'errors') this.known.errorOfRun.setAll(recording.table('errors').numbers('run'), from, to);
    if (table === 'graph') this.known.graphRows.setAll(recording.table('graph').numbers('task'), from, to);
    return false;
  }

  protected clear(): void {
    this.known = new Indexes();
  }

  /** Takes over all that another index has found. */
  protected adopt(other: TaskIndex): void {
    this.known = other.known;
  }

  private inputs(): Chains {
    return this.known.needs.upTo(this.recording.table('edges').numbers('task'));
  }

  private dependents(): Chains {
    return this.known.neededBy.upTo(this.recording.table('edges').numbers('dependency'));
  }
}
