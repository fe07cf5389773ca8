import { expect, test } from 'vitest';
import { type CellRun, cellsOf, cellWords } from './cells';
import { THIN } from './format';
import { batchOf, recordingOf } from './test-recording';

test('runs of cells are read once, and anew where rows have come', () => {
  const recording = recordingOf({ cells: [{ execution: 1, code: 'a', start: 1 }] });
  const cells = cellsOf(recording);
  expect(cellsOf(recording)).toBe(cells);
  recording.take(batchOf('cells', [{ execution: 1, code: 'a', start: 1, stop: 3 }]));
  expect(cells.map(({ stop }) => stop)).toEqual([Number.POSITIVE_INFINITY]);
  expect(cellsOf(recording).map(({ stop }) => stop)).toEqual([3]);
});

test('cells are known by what they run, not by the magic that stands before it', () => {
  const words = (code: string): string => cellWords({ execution: 3, start: 0, stop: 1, code } as CellRun);
  expect(words('%%dprofile fit\n# load\n\nmodel.fit(x)')).toBe(`[3] model.fit(x) (1${THIN}s)`);
  expect(words('%%dprofile fit')).toBe(`[3] %%dprofile fit (1${THIN}s)`);
  expect(words('%load_ext dask_insight')).toBe(`[3] %load_ext dask_insight (1${THIN}s)`);
  expect(words('')).toBe(`[3]  (1${THIN}s)`);
});
