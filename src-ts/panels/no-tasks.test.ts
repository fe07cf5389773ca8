import { expect, test } from 'vitest';
import { batchOf, recordingOf } from '../core/test-recording';
import { Surface } from '../draw/surface';
import { PANELS } from './index';
import { noTasks } from './no-tasks';
import type { Panel } from './panel';
import { createStage } from './stage';

test('nobody is told to run something once the recording has ended', () => {
  const ended = recordingOf({ about: [{ name: 'stopped', value: '3.5' }] });
  expect(noTasks(ended)).toBe('No task ran while this was recorded.');
  expect(noTasks(recordingOf({}))).toContain('Run a Dask computation.');
  const ofKilled = recordingOf({ about: [{ name: 'signs', value: '[]' }] });
  expect(noTasks(ofKilled)).toBe('No finished task was recorded.');
  ended.cut();
  expect(noTasks(ended)).toBe('No finished task was recorded.');
});

test.each(['flame-graph', 'memory', 'workers', 'fine-metrics'])(
  '%s has nothing for good only when all has ended',
  id => {
    const recording = recordingOf({});
    const stage = createStage(recording);
    const panel = PANELS.find(each => each.id === id) as Panel;
    const empty = (): string | undefined =>
      panel.create({ ...stage, surface: new Surface(), say: () => {} }).empty();
    expect(empty()).toBe(noTasks(recording));
    recording.take(batchOf('attempts', [{ worker: 'w', thread: 't', status: 'ok', start: 1, stop: 2 }]));
    if (id !== 'workers') expect(empty()).toContain('have come yet');
    recording.take(batchOf('about', [{ name: 'stopped', value: '3' }]));
    if (id !== 'workers') expect(empty()).toContain('were recorded');
  }
);
