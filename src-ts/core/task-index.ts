import { Chains, IdIndex } from './columns';
import type { Arrival, Recording } from './recording';

/** Tables whose rows are found by an id of theirs. */
const INDEXED = ['graph', 'executions', 'running', 'attempts', 'phases', 'errors'] as const;

/** Where the rows of each task and each attempt stand. Follows the recording as it grows. */
export class TaskIndex {
  protected graphRows = new IdIndex();
  protected attemptOfRun = new IdIndex();
  protected executionOfRun = new IdIndex();
  protected runningOfRun = new IdIndex();
  private attemptsOfTask = new LateChains();
  private errorOfRun = new IdIndex();
  private phasesOfRun = new LateChains();
  private collectionsOfRun = new LateChains();
  private needs = new LateChains();
  private neededBy = new LateChains();

  constructor(readonly recording: Recording) {}

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

  /** Row of `running` of a run, or -1. */
  runningRow(run: number): number {
    return this.runningOfRun.get(run);
  }

  /** Row of `errors` of a run, or -1. */
  errorRow(run: number): number {
    return this.errorOfRun.get(run);
  }

  /** Rows of `attempts` of a task, newest first. */
  attemptRows(task: number): number[] {
    return this.attemptsOfTask.upTo(this.recording.table('attempts').numbers('task')).rows(task);
  }

  /** Rows of `phases` of a run. */
  phaseRows(run: number): number[] {
    return this.phasesOfRun.upTo(this.recording.table('phases').numbers('run')).rows(run);
  }

  /** Rows of `collections` that took place on the thread of a run. */
  collectionRows(run: number): number[] {
    return this.collectionsOfRun.upTo(this.recording.table('collections').numbers('run')).rows(run);
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
    if (table === 'errors') this.errorOfRun.setAll(recording.table('errors').numbers('run'), from, to);
    if (table === 'graph') this.graphRows.setAll(recording.table('graph').numbers('task'), from, to);
    return false;
  }

  protected clear(): void {
    this.graphRows = new IdIndex();
    this.attemptOfRun = new IdIndex();
    this.executionOfRun = new IdIndex();
    this.runningOfRun = new IdIndex();
    this.attemptsOfTask = new LateChains();
    this.errorOfRun = new IdIndex();
    this.phasesOfRun = new LateChains();
    this.collectionsOfRun = new LateChains();
    this.needs = new LateChains();
    this.neededBy = new LateChains();
  }

  /** Takes over all that another index has found. */
  protected adopt(other: TaskIndex): void {
    this.graphRows = other.graphRows;
    this.attemptOfRun = other.attemptOfRun;
    this.executionOfRun = other.executionOfRun;
    this.runningOfRun = other.runningOfRun;
    this.attemptsOfTask = other.attemptsOfTask;
    this.errorOfRun = other.errorOfRun;
    this.phasesOfRun = other.phasesOfRun;
    this.collectionsOfRun = other.collectionsOfRun;
    this.needs = other.needs;
    this.neededBy = other.neededBy;
  }

  private inputs(): Chains {
    return this.needs.upTo(this.recording.table('edges').numbers('task'));
  }

  private dependents(): Chains {
    return this.neededBy.upTo(this.recording.table('edges').numbers('dependency'));
  }
}

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
