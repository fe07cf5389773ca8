import { IdIndex } from './columns';
import type { Samples } from './flame';
import { buildCallTree, type CallTree } from './flame-stacks';
import type { Recording } from './recording';
import { NOTHING } from './schema';
import type { Filter } from './selection';
import type { Tasks } from './tasks';

/** Whose threads: those that ran tasks, or all of the scheduler's, the client's, or of every process. */
export type Threads = 'tasks' | 'scheduler' | 'client' | 'all';

/** The samples of a recording with what they can be filtered by. */
export interface SampleIndex {
  readonly tree: CallTree;
  readonly samples: Samples;
  /** What each sample may be told by: index into `Tasks.names`; 0 where no task is known. */
  readonly name: Uint16Array;
  accept(threads: Threads, filter: Filter): (sample: number) => boolean;
  has(threads: Threads): boolean;
}

export function indexSamples(recording: Recording, tasks: Tasks): SampleIndex {
  const stacks = recording.table('stacks');
  const functions = stacks.symbols('function');
  const files = stacks.symbols('file');
  const tree = buildCallTree({
    stack: stacks.numbers('stack') as Uint32Array,
    parent: stacks.numbers('parent') as Uint32Array,
    line: stacks.numbers('line') as Uint32Array,
    firstLine: stacks.numbers('first_line') as Uint32Array,
    functionOf: row => functions.names[functions.codes[row]],
    fileOf: row => files.names[files.codes[row]]
  });
  const table = recording.table('samples');
  const stack = table.numbers('stack');
  const samples: Samples = {
    row: Int32Array.from(stack, id => (id < tree.rowOfStack.length ? tree.rowOfStack[id] : -1)),
    time: table.times('time'),
    duration: table.numbers('duration') as Float32Array
  };
  const runs = table.numbers('run');
  const processes = table.symbols('process');
  const taskOf = tasksOfRuns(recording, tasks);
  const name = Uint16Array.from(runs, run => {
    const task = run === NOTHING ? NOTHING : taskOf(run);
    return task === NOTHING ? 0 : tasks.nameOf(task);
  });

  const isOf = (threads: Threads): ((sample: number) => boolean) => {
    if (threads === 'tasks') return sample => runs[sample] !== NOTHING;
    if (threads === 'all') return () => true;
    const code = processes.find(threads);
    return sample => processes.codes[sample] === code;
  };
  const accept = (threads: Threads, filter: Filter): ((sample: number) => boolean) => {
    const tests = [isOf(threads)];
    const { names, workers, spans, runs: chosen } = filter;
    if (workers) {
      const wanted = processes.names.map(each => workers.has(each));
      tests.push(sample => wanted[processes.codes[sample]]);
    }
    if (names) {
      const wanted = tasks.names.map(each => names.has(each));
      tests.push(sample => wanted[name[sample]]);
    }
    if (chosen) tests.push(sample => chosen.has(runs[sample]));
    if (spans) {
      const known = recording.table('graph').symbols('span');
      tests.push(sample => {
        const row = runs[sample] === NOTHING ? -1 : tasks.graphRow(taskOf(runs[sample]));
        return row >= 0 && spans.has(known.names[known.codes[row]]);
      });
    }
    return sample => {
      for (const test of tests) if (!test(sample)) return false;
      return true;
    };
  };
  const has = (threads: Threads): boolean => {
    const test = isOf(threads);
    for (let sample = 0; sample < runs.length; sample++) if (test(sample)) return true;
    return false;
  };
  return { tree, samples, name, accept, has };
}

/** From an attempt to its task, for attempts that ended and for those that were seen running. */
function tasksOfRuns(recording: Recording, tasks: Tasks): (run: number) => number {
  const attempted = recording.table('attempts').numbers('task');
  const running = recording.table('running');
  const begun = running.numbers('task');
  const rows = new IdIndex();
  running.numbers('run').forEach((run, row) => {
    rows.set(run, row);
  });
  return run => {
    const ended = tasks.attemptRow(run);
    if (ended >= 0) return attempted[ended];
    const row = rows.get(run);
    return row >= 0 ? begun[row] : NOTHING;
  };
}
