import { describe, expect, it } from 'vitest';
import { awayStretches } from './away';
import { busyThreads, mostThreads } from './busy';
import { Selection } from './selection';
import { Tasks } from './tasks';
import { batchOf, recordingOf } from './test-recording';

const attempt = (run: number, task: number, worker: string, start: number, stop: number) => ({
  run,
  task,
  worker,
  thread: '1',
  start,
  stop,
  done: stop,
  status: 'ok'
});

const tasks = new Tasks(
  recordingOf({
    graph: [
      { task: 1, key: 'inc-1', prefix: 'inc' },
      { task: 2, key: 'sum-2', prefix: 'sum' }
    ],
    workers: [
      { worker: 'a', threads: 2, joined: 0, left: 5 },
      { worker: 'b', threads: 4, joined: 4 },
      { worker: 'c', threads: 8, joined: 5 }
    ],
    attempts: [attempt(1, 1, 'a', 0.5, 3), attempt(2, 2, 'b', 2, 3.5), attempt(3, 1, 'd', 3.25, 3.75)]
  })
);

describe('busy threads', () => {
  it('are the mean over each bin', () => {
    expect([...busyThreads(tasks, new Selection().filter(), 0, 5, 5)]).toEqual([0.5, 1, 2, 1, 0]);
    expect([...busyThreads(tasks, new Selection().filter(), 1, 3, 2)]).toEqual([1, 2]);
  });

  it('follow names and workers', () => {
    const selection = new Selection();
    selection.set({ source: 'x', column: 'name', value: ['inc'] });
    expect([...busyThreads(tasks, selection.filter(), 0, 5, 5)]).toEqual([0.5, 1, 1, 0.5, 0]);
    selection.set({ source: 'x', column: 'worker', value: ['b', 'd'] });
    expect([...busyThreads(tasks, selection.filter(), 0, 5, 5)]).toEqual([0, 0, 0, 0.5, 0]);
  });

  it('are none where something was lost of which nobody knows when it started', () => {
    const { start: _, stop: __, ...unseen } = attempt(1, 1, 'a', 0, 0);
    const lost = recordingOf({ attempts: [{ ...unseen, status: 'killed', assigned: 1, done: 3 }] });
    expect([...busyThreads(new Tasks(lost), new Selection().filter(), 0, 4, 4)]).toEqual([0, 0, 0, 0]);
  });

  it('are not those that had given their thread back, however often that is told', () => {
    const seceded = (run: number, start: number, stop: number) => ({ run, action: 'seceded', start, stop });
    const tasks = new Tasks(
      recordingOf({
        graph: [
          { task: 1, key: 'inc-1', prefix: 'inc' },
          { task: 2, key: 'sum-2', prefix: 'sum' }
        ],
        attempts: [attempt(1, 1, 'a', 0, 4), attempt(2, 2, 'a', 1, 3)],
        phases: [seceded(1, 1, 2.5), seceded(1, 2, 9), { run: 2, action: 'transfer', start: 1, stop: 3 }]
      })
    );
    expect([...busyThreads(tasks, new Selection().filter(), 0, 5, 5)]).toEqual([1, 1, 1, 0, 0]);
    const selection = new Selection();
    selection.set({ source: 'x', column: 'name', value: ['sum'] });
    expect([...busyThreads(tasks, selection.filter(), 0, 5, 5)]).toEqual([0, 1, 1, 0, 0]);
  });

  it('look for such once, until more of them come', () => {
    const phases = [{ run: 1, action: 'seceded', start: 1, stop: 2 }];
    const recording = recordingOf({ phases });
    const away = awayStretches(recording);
    expect(awayStretches(recording)).toBe(away);
    recording.take(batchOf('phases', [{ ...phases[0], run: 2 }]));
    expect([...awayStretches(recording).keys()]).toEqual([1, 2]);
  });

  it('are at most as many as there were at once', () => {
    expect(mostThreads(tasks, undefined)).toBe(13);
    expect(mostThreads(tasks, new Set(['a', 'b']))).toBe(6);
    expect(mostThreads(tasks, new Set(['d']))).toBe(1);
  });
});
