import { expect, test } from 'vitest';
import { cellsOf } from './cells';
import { batchOf, recordingOf } from './test-recording';

test('runs of cells are read once, and anew where rows have come', () => {
  const recording = recordingOf({ cells: [{ execution: 1, code: 'a', start: 1 }] });
  const cells = cellsOf(recording);
  expect(cellsOf(recording)).toBe(cells);
  recording.take(batchOf('cells', [{ execution: 1, code: 'a', start: 1, stop: 3 }]));
  expect(cells.map(({ stop }) => stop)).toEqual([Number.POSITIVE_INFINITY]);
  expect(cellsOf(recording).map(({ stop }) => stop)).toEqual([3]);
});
