import { expect, test, vi } from 'vitest';
import { Tasks } from '../core/tasks';
import { batchOf, recordingOf } from '../core/test-recording';
import type { Pen } from '../draw/pen';
import { TextWidth } from '../draw/text-width';
import { drawLabels, fittedLabel, workerLabel } from './worker-label';

const widths = new TextWidth('10px sans-serif');

/** A label in as much room as another text needs. */
function fitted(label: string, like: string): string {
  return fittedLabel(label, widths.of(like), widths);
}

test('what tells workers apart stays where there is little room', () => {
  expect(fitted('worker 7', 'worker 7')).toBe('worker 7');
  expect(fitted('worker 1234', 'worker 7')).toBe('1234');
  expect(fitted('127.0.0.1:44359', '127.…4359')).toMatch(/^127.*….*59$/);
  expect(fitted('worker 1234', '1')).toBe('');
});

test('of workers of several clusters those of one name tell their cluster', () => {
  const recording = recordingOf({
    workers: [
      { worker: 'tcp://a:1', name: '0', cluster: 'tcp://a:8786' },
      { worker: 'tcp://a:2', name: '1', cluster: 'tcp://a:8786' }
    ]
  });
  const tasks = new Tasks(recording);
  const labels = (...workers: string[]) => workers.map(worker => workerLabel(tasks, worker));
  expect(labels('tcp://a:1', 'tcp://a:2')).toEqual(['worker 0', 'worker 1']);
  recording.take(
    batchOf('workers', [
      { worker: 'tcp://b:1', name: '0', cluster: 'tcp://b:8786' },
      { worker: 'tcp://b:2', name: 'gpu', cluster: 'tcp://b:8786' },
      { worker: 'tcp://a:3', name: '1', cluster: 'tcp://a:8786' }
    ])
  );
  expect(labels('tcp://a:1', 'tcp://b:1')).toEqual(['worker 0 · cluster 1', 'worker 0 · cluster 2']);
  expect(labels('tcp://a:2', 'tcp://a:3', 'tcp://b:2', '')).toEqual([
    'worker 1',
    'worker 1',
    'gpu',
    'no worker'
  ]);
  expect(fitted('worker 0 · cluster 2', '0 · cluster 2')).toBe('0 · cluster 2');
  expect(fitted('worker 0 · cluster 2', '0·2')).toBe('0·2');
});

test('what is cut fits', () => {
  for (const like of ['1', '12', '12345', '123456789', '12345678901234']) {
    for (const label of ['worker 12', 'ip-10-0-0-12.ec2.internal', 'a']) {
      expect(widths.of(fitted(label, like))).toBeLessThanOrEqual(widths.of(like));
    }
  }
});

test.each([1, 3, 20])('labels of lines %s pixels high stay under what stands over the first', each => {
  const fillText = vi.fn();
  drawLabels({ font: '12px sans-serif', fillText } as unknown as Pen, 200, String, 80, 100, each);
  for (const [, , y] of fillText.mock.calls) expect(y).toBeGreaterThanOrEqual(106);
});
