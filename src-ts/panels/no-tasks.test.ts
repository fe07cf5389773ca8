import { expect, test } from 'vitest';
import { recordingOf } from '../core/test-recording';
import { noTasks } from './no-tasks';

test('nobody is told to run something once the recording has ended', () => {
  const ended = recordingOf({ about: [{ name: 'stopped', value: '3.5' }] });
  expect(noTasks(ended)).toBe('No task ran while this was recorded.');
  expect(noTasks(recordingOf({}))).toContain('Run a Dask computation.');
  const ofKilled = recordingOf({ about: [{ name: 'signs', value: '[]' }] });
  expect(noTasks(ofKilled)).toBe('No finished task was recorded.');
  ended.cut();
  expect(noTasks(ended)).toBe('No finished task was recorded.');
});
