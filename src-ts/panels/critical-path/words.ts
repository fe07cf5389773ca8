import { type CriticalPath, KINDS, type Kind, REASONS, type Reason } from '../../core/critical-path';
import { duration } from '../../core/format';
import type { Tasks } from '../../core/tasks';

export const KIND_WORDS: Readonly<Record<Kind, string>> = {
  compute: 'computing',
  disk: 'disk',
  worker: 'worker around tasks',
  transfer: 'waiting for data',
  thread: 'waiting for a thread',
  scheduler: 'scheduler',
  client: 'client'
};

/** The same as heads of columns. */
export const KIND_TITLES: Readonly<Record<Kind, string>> = {
  compute: 'Computing',
  disk: 'Disk',
  worker: 'Worker',
  transfer: 'Data',
  thread: 'Thread',
  scheduler: 'Scheduler',
  client: 'Client'
};

/** Where a step has no task: before the first one that anybody asked for. */
export const NO_TASK = 'before the first task';

export function nameOf(path: CriticalPath, tasks: Tasks, step: number): string {
  return tasks.names[path.name[path.first[step]]] || '';
}

/** What a step waited for last: the step before it, and how that held it. */
export function waitedFor(path: CriticalPath, tasks: Tasks, step: number): string {
  if (step === 0) return 'the client, at the beginning';
  const before = nameOf(path, tasks, step - 1);
  if (before === '') return 'the client';
  const reason = REASONS[path.because[step - 1]];
  const words: Readonly<Record<Reason, string>> = {
    input: `the result of ${before}`,
    thread: `the thread that ${before} had`,
    submission: `the client, after ${before}`,
    retry: `another attempt, after ${before} failed`,
    end: ''
  };
  return words[reason];
}

/** What waited for a step. */
export function neededBy(path: CriticalPath, tasks: Tasks, step: number): string {
  if (step === path.steps - 1) return 'the end of the run';
  const next = nameOf(path, tasks, step + 1);
  const words: Readonly<Record<Reason, string>> = {
    input: `${next} needed its result`,
    thread: `${next} needed its thread`,
    submission: 'the client, to ask for more',
    retry: 'the next attempt at it',
    end: 'the end of the run'
  };
  return words[REASONS[path.because[step]]];
}

/** Seconds of a step by kind, in the order of `KINDS`. */
export function kindsOf(path: CriticalPath, step: number, seconds?: Float64Array): Float64Array {
  const sums = new Float64Array(KINDS.length);
  for (let tile = path.first[step]; tile < path.first[step + 1]; tile++) {
    sums[path.kind[tile]] += seconds ? seconds[tile] : path.stop[tile] - path.start[tile];
  }
  return sums;
}

/** `waiting for data 12 ms, scheduler 3 ms`: what is not computing and lasts longer than `least`, most first. */
export function restWords(kinds: Float64Array, least: number): string {
  return KINDS.map((kind, at) => ({ kind, seconds: kinds[at] }))
    .filter(({ kind, seconds }) => kind !== 'compute' && seconds > least)
    .sort((a, b) => b.seconds - a.seconds)
    .map(({ kind, seconds }) => `${KIND_WORDS[kind]} ${duration(seconds)}`)
    .join(', ');
}
