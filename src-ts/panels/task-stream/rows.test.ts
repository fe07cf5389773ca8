import { expect, test, vi } from 'vitest';
import { Lane, OK, statusCode } from '../../core/lane';
import { Selection } from '../../core/selection';
import { recordingOf } from '../../core/test-recording';
import type { PanelContext } from '../panel';
import { createStage } from '../stage';
import { statusWords, wordsOf } from './card';
import type { Choice } from './choice';
import { rowsOf } from './rows';

test('of many tasks in sight the first are shown, and hardly more than these are picked out', () => {
  const lanes = Array.from({ length: 64 }, (_, at) => new Lane('w', String(at)));
  lanes.forEach((lane, at) => {
    for (let time = at / 64; time < 2500; time++) lane.add(time, time + 1, 0, OK, 0);
  });
  const context = {
    tasks: { lanes, names: ['inc'] },
    recording: recordingOf({}),
    viewport: { start: -1, stop: 9999 },
    selection: new Selection()
  } as unknown as PanelContext;
  const { sort } = Array.prototype;
  const sorted: number[] = [];
  vi.spyOn(Array.prototype, 'sort').mockImplementation(function (this: unknown[], compare) {
    sorted[sorted.length] = this.length;
    return sort.call(this, compare);
  });
  const rows = rowsOf(context, { shows: () => true, hiddenWords: '' } as unknown as Choice);
  vi.restoreAllMocks();
  expect(Math.max(...sorted)).toBeLessThanOrEqual(2 * 20_000);
  expect(sorted.length).toBeLessThan(5);
  expect([rows.length, rows.note]).toEqual([20_000, ': the first 20,000 of 160,000 tasks in sight']);
  const starts = Array.from({ length: rows.length }, (_, row) => rows.value?.(row, 3));
  expect(starts).toEqual(starts.map((_, at) => Math.round((at / 64) * 1e6) / 1e6));
});

test('a task that outlasts the part of a run that is looked at took as long as it did', () => {
  const task = { run: 1, task: 1, worker: 'w', thread: 't' };
  const recording = recordingOf({
    about: [
      { name: 'started', value: '0' },
      { name: 'until', value: '4' }
    ],
    attempts: [{ ...task, start: 2, stop: 6, status: 'ok' }],
    running: [{ ...task, run: 2, start: 3 }]
  });
  const stage = createStage(recording);
  const rows = rowsOf(stage as PanelContext, { shows: () => true, hiddenWords: '' } as unknown as Choice);
  expect([rows.value?.(0, 4), rows.value?.(1, 4)]).toEqual([4, 1]);
  const [lane] = stage.tasks.lanes;
  expect(wordsOf(stage.tasks, lane, 0).replace('\u2009', ' ')).toContain('took 4');
});

test('of what Dask calls rescheduled it is not said where it went', () => {
  expect(['rescheduled', 'killed'].map(status => statusWords(statusCode(status)))).toEqual([
    'rescheduled',
    'lost with its worker'
  ]);
});
