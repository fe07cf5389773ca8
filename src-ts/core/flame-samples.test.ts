import { describe, expect, it } from 'vitest';
import { callees, weigh } from './flame';
import { SampleIndex, type Threads } from './flame-samples';
import { NOTHING } from './schema';
import { type Filter, Selection } from './selection';
import { Tasks } from './tasks';
import { recordingOf } from './test-recording';

const sample = (process: string, time: number, stack: number, run: number) => ({
  process,
  thread: '1',
  time,
  duration: 1,
  stack,
  run
});

const recording = recordingOf({
  graph: [
    { task: 7, key: 'inc-7', prefix: 'inc', span: 's1' },
    { task: 8, key: 'sum-8', prefix: 'sum', span: 's2' }
  ],
  attempts: [{ run: 1, task: 7, worker: 'a', thread: '1', start: 0, stop: 2, status: 'ok' }],
  running: [{ run: 2, task: 8, worker: 'b', thread: '1', start: 0 }],
  stacks: [
    { stack: 0, parent: NOTHING, function: 'call', file: 'dask.py', line: 1, first_line: 1 },
    { stack: 5, parent: 0, function: 'inc', file: 'own.py', line: 2, first_line: 1 }
  ],
  samples: [
    sample('a', 1, 5, 1),
    sample('a', 2, 0, 1),
    sample('b', 2, 5, 2),
    sample('scheduler', 2, 0, NOTHING),
    sample('b', 3, 99, 2),
    sample('b', 4, 0, NOTHING),
    // Of a file of another tool.
    sample('python', 4, 0, NOTHING)
  ],
  workers: ['a', 'b'].map(worker => ({ worker }))
});
const index = new SampleIndex(recording, new Tasks(recording));

function seconds(threads: Threads, change: (selection: Selection) => void = () => {}): number {
  const selection = new Selection();
  change(selection);
  const filter: Filter = selection.filter();
  return callees(index.tree, weigh(index.tree, index.samples, index.accept(threads, filter))).total[0];
}

describe('samples', () => {
  it('are told apart by threads, and unknown stacks are left out', () => {
    expect(seconds('tasks')).toBe(3);
    expect(seconds('scheduler')).toBe(1);
    expect(seconds('client')).toBe(0);
    expect(seconds('workers')).toBe(1);
    expect(seconds('all')).toBe(6);
    expect([index.has('tasks'), index.has('client')]).toEqual([true, false]);
  });

  it('know the task of attempts that ended and of those that still ran', () => {
    expect(
      seconds('tasks', selection => selection.set({ source: 'x', column: 'name', value: ['inc'] }))
    ).toBe(2);
    expect(
      seconds('tasks', selection => selection.set({ source: 'x', column: 'name', value: ['sum'] }))
    ).toBe(1);
    expect(seconds('tasks', selection => selection.set({ source: 'x', column: 'span', value: ['s2'] }))).toBe(
      1
    );
    expect(seconds('tasks', selection => selection.set({ source: 'x', column: 'run', value: [1] }))).toBe(2);
    expect(seconds('all', selection => selection.set({ source: 'x', column: 'worker', value: ['b'] }))).toBe(
      2
    );
  });
});
