import { describe, expect, it } from 'vitest';
import { Selection } from './selection';
import { Tasks } from './tasks';
import { batchOf, recordingOf } from './test-recording';
import { PARTS, timeBudget } from './time-budget';

const attempt = (run: number, task: number, thread: string, start: number, stop: number, status = 'ok') => ({
  run,
  task,
  worker: 'a',
  thread,
  start,
  stop,
  done: stop,
  submitted: 0,
  status
});

const tasks = new Tasks(
  recordingOf({
    workers: [{ worker: 'a', threads: 2, joined: -5 }],
    graph: [
      { task: 1, key: 'inc-1', prefix: 'inc' },
      { task: 2, key: 'sum-2', prefix: 'sum' }
    ],
    attempts: [attempt(1, 1, 't1', 1, 4), attempt(2, 2, 't1', 6, 10), attempt(3, 1, 't2', 2, 3, 'erred')],
    phases: [
      { run: 1, action: 'transfer', start: 0, stop: 1 },
      // overlaps the task before it and another wait: only 4 to 5.5 is left of the two
      { run: 2, action: 'transfer', start: 3, stop: 5 },
      { run: 2, action: 'disk-read', start: 4.5, stop: 5.5 },
      { run: 3, action: 'compress', start: 0, stop: 2 }
    ]
  })
);

describe('time budget', () => {
  it('gives each second of each thread to one part', () => {
    const budget = timeBudget(tasks, new Selection().filter());
    expect(budget.offered).toBe(20);
    expect(budget.parts).toEqual({
      computing: 7,
      other: 0,
      failed: 1,
      transfer: 2,
      disk: 0.5,
      deserialize: 0,
      idle: 9.5
    });
    expect(PARTS.reduce((sum, part) => sum + budget.parts[part], 0)).toBe(budget.offered);
  });

  it('counts no disk where a worker wrote nothing', () => {
    const kept = (activity: string): number => {
      const recording = recordingOf({
        workers: [{ worker: 'a', threads: 1, joined: -5 }],
        graph: [{ task: 1, key: 'book-1', prefix: 'book' }],
        attempts: [{ ...attempt(1, 1, 't1', 0, 2), done: 4 }],
        phases: [{ run: 1, action: 'disk-write', start: 2, stop: 4 }],
        metrics: [{ time: 4, worker: 'a', context: 'execute', activity, unit: 'seconds', value: 2 }]
      });
      return timeBudget(new Tasks(recording), new Selection().filter()).parts.disk;
    };
    expect([kept('thread-cpu'), kept('disk-write')]).toEqual([0, 2]);
  });

  it('counts no thread for a task that gave it back', () => {
    const nested = new Tasks(
      recordingOf({
        workers: [{ worker: 'a', threads: 1, joined: -5 }],
        graph: [
          { task: 1, key: 'parent-1', prefix: 'parent' },
          { task: 2, key: 'child-2', prefix: 'child' }
        ],
        attempts: [attempt(1, 1, 't1', 0, 10), attempt(2, 2, 't2', 1, 7)],
        // Told in two parts, as it comes live.
        phases: [
          { run: 1, action: 'seceded', start: 1, stop: 4 },
          { run: 1, action: 'seceded', start: 4, stop: 8 }
        ]
      })
    );
    const selection = new Selection();
    expect(timeBudget(nested, selection.filter())).toMatchObject({
      offered: 10,
      parts: { computing: 9, idle: 1 }
    });
    selection.set({ source: 'x', column: 'name', value: ['parent'] });
    expect(timeBudget(nested, selection.filter()).parts).toMatchObject({ computing: 3, other: 6 });
    selection.set({ source: 'x', column: 'time', value: { start: 3, stop: 9 } });
    expect(timeBudget(nested, selection.filter()).parts).toMatchObject({ computing: 1, other: 4 });
  });

  it('knows an attempt without a result, however that came about, as Python does', () => {
    const partsOf = (status: string) =>
      timeBudget(
        new Tasks(
          recordingOf({
            workers: [{ worker: 'a', threads: 1, joined: -5 }],
            attempts: [attempt(1, 1, 't1', 0, 4, status)]
          })
        ),
        new Selection().filter()
      ).parts;
    for (const status of ['erred', 'retried', 'killed', 'cancelled', 'rescheduled', 'stolen'])
      expect(partsOf(status)).toMatchObject({ computing: 0, failed: 4 });
    expect(partsOf('ok')).toMatchObject({ computing: 4, failed: 0 });
  });

  it('is idle while something was lost of which nobody knows when it started', () => {
    const { start: _, stop: __, ...unseen } = attempt(2, 2, '', 0, 0, 'killed');
    const lost = recordingOf({
      workers: [{ worker: 'a', threads: 1, joined: -5 }],
      attempts: [attempt(1, 1, 't1', 0, 4), { ...unseen, assigned: 4, done: 6 }]
    });
    expect(timeBudget(new Tasks(lost), new Selection().filter())).toMatchObject({
      offered: 6,
      parts: { computing: 4, failed: 0, idle: 2 }
    });
  });

  it('is of no more than the part that was cut out of a run', () => {
    const part = recordingOf({
      about: [
        { name: 'since', value: '2.5' },
        { name: 'until', value: '6.0' }
      ],
      workers: [{ worker: 'a', threads: 1, joined: -5 }],
      attempts: [attempt(1, 1, 't1', 1, 4), attempt(2, 2, 't1', 5, 10)]
    });
    expect(timeBudget(new Tasks(part), new Selection().filter())).toMatchObject({
      offered: 3.5,
      parts: { computing: 2.5, idle: 1 }
    });
  });

  it('is of what runs on, and of what ran after it was called off', () => {
    const { stop: _, ...off } = attempt(2, 2, 't2', 1, 0, 'cancelled');
    const recording = recordingOf({
      about: [{ name: 'stopped', value: '12' }],
      workers: [{ worker: 'a', threads: 2, joined: -5 }],
      attempts: [attempt(1, 1, 't1', 0, 1), { ...off, done: 2 }],
      executions: [{ run: 2, worker: 'a', thread: 't2', start: 1, stop: 8 }]
    });
    expect(timeBudget(new Tasks(recording), new Selection().filter())).toMatchObject({
      offered: 16,
      parts: { computing: 1, failed: 7 }
    });
    recording.take(batchOf('running', [{ run: 3, task: 1, worker: 'a', thread: 't1', start: 2 }]));
    recording.take(batchOf('resources', [{ process: 'a', time: 12 }]));
    expect(timeBudget(new Tasks(recording), new Selection().filter())).toMatchObject({
      offered: 24,
      parts: { computing: 11, failed: 7 }
    });
  });

  it('follows time, names and workers', () => {
    const selection = new Selection();
    selection.set({ source: 'x', column: 'time', value: { start: 3.5, stop: 7 } });
    expect(timeBudget(tasks, selection.filter())).toMatchObject({
      offered: 7,
      parts: { computing: 1.5, failed: 0, transfer: 1, disk: 0.5, idle: 4 }
    });
    selection.clear();
    selection.set({ source: 'x', column: 'name', value: ['inc'] });
    expect(timeBudget(tasks, selection.filter()).parts).toMatchObject({ computing: 3, other: 4, failed: 1 });
    selection.set({ source: 'x', column: 'worker', value: ['nobody'] });
    expect(timeBudget(tasks, selection.filter())).toMatchObject({ offered: 0 });
  });
});
