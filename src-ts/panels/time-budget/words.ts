import { CUSTOM } from '../../core/budget-layers';
import { nameOrNone, shortened } from '../../core/format';
import type { Part } from '../../core/time-budget';
import { activityWords } from '../fine-metrics/words';

/** A part in the words of the sentence at the top of a report, and what it means. */
interface PartWords {
  readonly words: string;
  readonly meaning: string;
}

const WITHOUT_RESULT: PartWords = {
  words: 'computing, no result',
  meaning: 'Task functions of attempts without a result: failed, cancelled, stolen or rescheduled.'
};

const WORDS: Readonly<Record<string, PartWords | undefined>> = {
  cpu: { words: 'computing on a CPU', meaning: 'Task functions that ended well or still run, on a CPU.' },
  compute: {
    words: 'computing',
    meaning: 'Task functions that ended well or still run; their CPU time is not known.'
  },
  'off-cpu': {
    words: 'computing off the CPU',
    meaning: 'Inside task functions, while the thread used no CPU: I/O, locks, the GIL, a GPU.'
  },
  failed: WITHOUT_RESULT,
  deserialize: { words: 'deserializing', meaning: 'Unpacking tasks, and results that had been spilled.' },
  serialize: { words: 'serializing', meaning: 'Packing results.' },
  disk: {
    words: 'reading from disk and writing to it',
    meaning: 'Results that were spilled to disk, or read back.'
  },
  overhead: {
    words: 'starting and ending tasks',
    meaning: 'From being given a thread to the function’s start, and back to a free thread.'
  },
  data: {
    words: 'waiting for data from other workers',
    meaning: 'Idle: inputs were on their way to this worker.'
  },
  processes: {
    words: 'starting processes and moving data between them',
    meaning: 'Processes of a local scheduler started, or inputs and results were on their way.'
  },
  inputs: { words: 'waiting for tasks', meaning: 'Idle: inputs of what comes next were still computed.' },
  placement: {
    words: 'idle beside busy workers',
    meaning: 'Idle: tasks were ready on other workers, and waited there for a thread.'
  },
  scheduler: {
    words: 'waiting for the scheduler',
    meaning: 'Idle: ready tasks were queued, or on their way.'
  },
  paused: {
    words: 'paused for lack of memory',
    meaning: 'Idle while tasks waited: Dask had paused the worker, for it was short of memory.'
  },
  resources: {
    words: 'waiting for resources of workers',
    meaning: 'Idle: tasks were ready on this worker, for resources that others had there.'
  },
  client: {
    words: 'without tasks',
    meaning: 'Idle: nobody had submitted a task.'
  },
  joining: {
    words: 'on workers that had just joined',
    meaning: 'Idle while tasks waited: the worker had joined, and had no task yet.'
  },
  leaving: {
    words: 'on workers that were leaving or died',
    meaning: 'Idle: the worker was closing, or died.'
  },
  'no worker': { words: 'without a worker', meaning: 'No worker was there.' }
};

/** What is said of a part; `name` is the task name that was waited for, `others` that some have parts of their own. */
export function partWords(part: string, name: string, others: boolean): PartWords {
  const label = part.startsWith(CUSTOM) ? part.slice(CUSTOM.length) : part;
  const activity = activityWords(label);
  const whose =
    activity === label ? 'An activity of your own within tasks.' : `Dask’s ${label} within tasks.`;
  const known = (Object.hasOwn(WORDS, part) ? WORDS[part] : undefined) ?? {
    words: shortened(nameOrNone(activity), 40),
    meaning: part.startsWith(CUSTOM) ? whose : ''
  };
  if (part !== 'inputs') return known;
  const words = name
    ? `waiting for ${shortened(name, 48)}`
    : others
      ? 'waiting for other tasks'
      : known.words;
  return { ...known, words };
}

/** The same for what a page can tell by itself. */
export const PAGE_WORDS: Readonly<Record<Part, PartWords>> = {
  computing: { words: 'computing', meaning: 'Task functions that ended well or still run.' },
  other: { words: 'other tasks', meaning: 'Tasks that are not chosen.' },
  failed: WITHOUT_RESULT,
  transfer: { words: 'waiting for data', meaning: 'Fetching data, while the thread computed nothing.' },
  disk: { words: 'waiting for disk', meaning: 'Reading and writing, while the thread computed nothing.' },
  deserialize: { words: 'deserializing', meaning: 'Unpacking, while the thread computed nothing.' },
  idle: { words: 'idle', meaning: 'Why has not been worked out.' }
};
