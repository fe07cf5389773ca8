import type { Samples } from './flame';
import { CallTree, type StackColumns } from './flame-stacks';
import { grown } from './grown';
import type { Recording } from './recording';
import { NOTHING } from './schema';
import { chosenFlags, type Filter } from './selection';
import { taskTest, timeOf } from './task-filter';
import type { Tasks } from './tasks';
import { workersOf } from './workers-of';

/** Whose threads: those that ran tasks, or all of the scheduler's, the client's, workers' others, or of every process. */
export const THREADS = ['tasks', 'scheduler', 'client', 'workers', 'all'] as const;
export type Threads = (typeof THREADS)[number];

/**
 * The samples of a recording with what they can be filtered by. Follows the
 * recording as it grows, when `update` is called: what has been looked up stays.
 */
export class SampleIndex {
  /** Its frames keep their numbers in a session, whatever of its stacks is dropped. */
  tree = new CallTree();
  /** How many samples are there. */
  length = 0;
  /** Grows when samples that were there before have come to say something else. */
  revision = 0;
  /** Row of `stacks` of each sample, -1 where there is none. */
  private rows = new Int32Array(256);
  /** What each sample may be told by: index into `Tasks.names`; 0 where no task is known. */
  private names = new Uint16Array(256);
  /** Samples whose task, or whose stack, has not arrived. */
  private nameless: number[] = [];
  private stackless: number[] = [];
  private generation: number;
  /** When the session began that they are of. */
  private session: unknown;
  private readonly seen = new Set<Threads>();

  constructor(
    private readonly recording: Recording,
    private readonly tasks: Tasks
  ) {
    this.generation = recording.generation;
    this.update();
  }

  get samples(): Samples {
    const table = this.recording.table('samples');
    return {
      row: this.rows.subarray(0, this.length),
      time: table.times('time'),
      duration: table.numbers('duration') as Float32Array
    };
  }

  /** Index into `Tasks.names` of each sample. */
  get name(): Uint16Array {
    return this.names.subarray(0, this.length);
  }

  /** Takes what has arrived since. */
  update(): void {
    const { recording } = this;
    if (this.generation !== recording.generation) this.clear();
    this.session = recording.about('started');
    this.tree.take(stacksOf(recording));
    const findName = this.nameFinder();
    const findStack = this.stackFinder();
    const known = this.nameless.length + this.stackless.length;
    this.nameless = this.nameless.filter(sample => !findName(sample));
    this.stackless = this.stackless.filter(sample => !findStack(sample));
    if (this.nameless.length + this.stackless.length < known) this.revision++;
    this.takeNew(findName, findStack);
  }

  accept(threads: Threads, filter: Filter): (sample: number) => boolean {
    const { recording, tasks, names } = this;
    const table = recording.table('samples');
    const runs = table.numbers('run');
    const tests = [this.isOf(threads)];
    if (filter.workers) {
      const processes = table.symbols('process');
      const wanted = chosenFlags(processes.names, filter.workers);
      tests.push(sample => wanted[processes.codes[sample]] === 1);
    }
    if (filter.names) {
      const wanted = chosenFlags(tasks.names, filter.names);
      tests.push(sample => wanted[names[sample]] === 1);
    }
    const ofRun = taskTest(tasks, filter);
    if (ofRun) {
      const taskOf = this.taskOf();
      const times = table.times('time');
      // What ran no task belongs to a notebook cell by its time.
      const byTask = [filter.spans, filter.runs, filter.lines].some(chosen => chosen !== undefined);
      const ran = byTask ? undefined : timeOf(recording, { ...filter, time: undefined });
      tests.push(sample => {
        const run = runs[sample];
        if (run !== NOTHING) return ofRun(run, taskOf(run));
        return ran !== undefined && times[sample] > ran.start && times[sample] <= ran.stop;
      });
    }
    return sample => {
      for (const test of tests) if (!test(sample)) return false;
      return true;
    };
  }

  has(threads: Threads): boolean {
    return this.seen.has(threads);
  }

  private isOf(threads: Threads): (sample: number) => boolean {
    const table = this.recording.table('samples');
    const runs = table.numbers('run');
    const processes = table.symbols('process');
    if (threads === 'tasks') return sample => runs[sample] !== NOTHING;
    if (threads === 'all') return () => true;
    if (threads === 'workers') {
      const workers = workersOf(this.recording);
      const isWorker = processes.names.map(name => workers.has(name));
      return sample => runs[sample] === NOTHING && isWorker[processes.codes[sample]];
    }
    const code = processes.find(threads);
    return sample => processes.codes[sample] === code;
  }

  private takeNew(findName: (sample: number) => boolean, findStack: (sample: number) => boolean): void {
    const { rows } = this.recording.table('samples');
    this.rows = grown(this.rows, rows);
    this.names = grown(this.names, rows);
    const from = this.length;
    this.length = rows;
    for (let sample = from; sample < rows; sample++) {
      if (!findName(sample)) this.nameless.push(sample);
      if (!findStack(sample)) this.stackless.push(sample);
    }
    for (const threads of THREADS) {
      if (this.seen.has(threads)) continue;
      const test = this.isOf(threads);
      for (let sample = from; sample < rows; sample++) {
        if (!test(sample)) continue;
        this.seen.add(threads);
        break;
      }
    }
  }

  /** Finds names of samples; true where there is nothing more to find. */
  private nameFinder(): (sample: number) => boolean {
    const runs = this.recording.table('samples').numbers('run');
    const taskOf = this.taskOf();
    const nameOf = this.tasks.namer();
    return sample => {
      const run = runs[sample];
      if (run === NOTHING) return true;
      const task = taskOf(run);
      this.names[sample] = task === NOTHING ? 0 : nameOf(task);
      return this.names[sample] !== 0;
    };
  }

  private stackFinder(): (sample: number) => boolean {
    const ids = this.recording.table('samples').numbers('stack');
    const { rowOfStack } = this.tree;
    return sample => {
      this.rows[sample] = rowOfStack.get(ids[sample]);
      return this.rows[sample] >= 0;
    };
  }

  /** From an attempt to its task, for attempts that ended and for those that were seen running. */
  private taskOf(): (run: number) => number {
    const { tasks, recording } = this;
    const attempted = recording.table('attempts').numbers('task');
    const begun = recording.table('running').numbers('task');
    return run => {
      const ended = tasks.attemptRow(run);
      if (ended >= 0) return attempted[ended];
      const row = tasks.runningRow(run);
      return row >= 0 ? begun[row] : NOTHING;
    };
  }

  private clear(): void {
    this.generation = this.recording.generation;
    const isSame = this.recording.about('started') === this.session;
    this.tree = new CallTree(isSame ? this.tree.frames : undefined);
    this.revision++;
    this.length = 0;
    this.nameless = [];
    this.stackless = [];
    this.seen.clear();
  }
}

function stacksOf(recording: Recording): StackColumns {
  const stacks = recording.table('stacks');
  const functions = stacks.symbols('function');
  const files = stacks.symbols('file');
  return {
    stack: stacks.numbers('stack') as Uint32Array,
    parent: stacks.numbers('parent') as Uint32Array,
    line: stacks.numbers('line') as Uint32Array,
    firstLine: stacks.numbers('first_line') as Uint32Array,
    functionOf: row => functions.names[functions.codes[row]],
    fileOf: row => files.names[files.codes[row]]
  };
}
