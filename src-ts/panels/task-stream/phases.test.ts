import { expect, test } from 'vitest';
import { Tasks } from '../../core/tasks';
import { batchOf, recordingOf } from '../../core/test-recording';
import { ACTIONS, Phases } from './phases';

const metric = { time: 3, context: 'execute', prefix: 'load', unit: 'seconds', value: 1 };

test('what a worker that wrote nothing calls writing is finding out sizes, whenever its metrics come', () => {
  const attempt = { task: 1, thread: 't', status: 'ok', start: 0, stop: 1, done: 2, submitted: 0 };
  const recording = recordingOf({
    graph: [{ task: 1, key: 'load-1', prefix: 'load' }],
    attempts: [
      { ...attempt, run: 1, worker: 'a' },
      { ...attempt, run: 2, worker: 'b' }
    ],
    phases: [
      { run: 1, action: 'disk-write', start: 1, stop: 2 },
      { run: 2, action: 'disk-write', start: 1, stop: 2 }
    ]
  });
  const tasks = new Tasks(recording);
  const phases = new Phases(tasks);
  const actions = (): string[] => {
    phases.update();
    return tasks.lanes.map(lane => ACTIONS[phases.of(lane)?.name[0] ?? -1]);
  };
  expect(actions()).toEqual(['disk-write', 'disk-write']);
  const before = phases.generation;
  recording.take(batchOf('metrics', [{ ...metric, worker: 'a', activity: 'thread-cpu' }]));
  expect(actions()).toEqual(['sizing', 'disk-write']);
  expect(phases.generation).toBeGreaterThan(before);
  const wrote = { ...metric, context: 'memory-monitor', activity: 'disk-write' };
  recording.take(batchOf('metrics', [{ ...wrote, worker: 'b' }]));
  expect(actions()).toEqual(['sizing', 'disk-write']);
  recording.take(batchOf('metrics', [{ ...wrote, worker: 'a' }]));
  expect(actions()).toEqual(['disk-write', 'disk-write']);
});
