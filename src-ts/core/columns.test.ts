import { expect, test } from 'vitest';
import { IdIndex } from './columns';
import { NOTHING } from './schema';

const rowsOf = (index: IdIndex, ids: readonly number[]): number[] => ids.map(id => index.get(id));

test('ids that count up with their rows are found, before and after others come', () => {
  const index = new IdIndex();
  expect(rowsOf(index, [0, 7])).toEqual([-1, -1]);
  index.setAll([7, 8, 9], 0, 3);
  index.set(10, 3);
  index.set(8, 1);
  expect(rowsOf(index, [6, 7, 8, 9, 10, 11])).toEqual([-1, 0, 1, 2, 3, -1]);
  index.setAll([0, 0, 0, 0, 2, 11, 3], 4, 7);
  expect(rowsOf(index, [0, 2, 3, 7, 10, 11, 500])).toEqual([-1, 4, 6, 0, 3, 5, -1]);
  index.set(8, 9);
  expect(rowsOf(index, [7, 8])).toEqual([0, 9]);
});

test('ids may come in any order, from all that there can be; none is that of nothing', () => {
  const index = new IdIndex();
  index.set(5, 2);
  index.setAll([NOTHING, 1, 900], 0, 3);
  index.set(2 ** 28 + 3, 4);
  index.set(2 ** 31 + 3, 5);
  expect(rowsOf(index, [5, 1, 900, 2 ** 28 + 3, 2 ** 31 + 3])).toEqual([2, 1, 2, 4, 5]);
  expect(rowsOf(index, [NOTHING, 0, 2 ** 30, 2 ** 28 + 4, NOTHING - 1])).toEqual([-1, -1, -1, -1, -1]);
  const first = new IdIndex();
  first.setAll([NOTHING, 5], 0, 2);
  expect(rowsOf(first, [NOTHING, 5])).toEqual([-1, 1]);
});

test('an old id that is kept costs a page of its own, not all ids between', () => {
  const before = process.memoryUsage().arrayBuffers;
  const index = new IdIndex();
  index.set(5, 0);
  index.set(250_000_000, 1);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2e6);
  expect(rowsOf(index, [5, 250_000_000, 250_000_001])).toEqual([0, 1, -1]);
});

test('ids of a run that has gone on for long cost no more than those that are there', () => {
  const before = process.memoryUsage().arrayBuffers;
  const index = new IdIndex();
  const from = 10_000_000;
  const ids = Uint32Array.from({ length: 100_000 }, (_, row) => from + (row ^ 1));
  index.setAll(ids, 0, ids.length);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4e6);
  expect(rowsOf(index, [0, from - 1, from, from + 1, from + 99_999])).toEqual([-1, -1, 1, 0, 99_998]);
});

test('ids of many clusters, with gaps between, are found', () => {
  // As `identity.py` gives them out: each cluster takes a block of 65,536, of which most stay empty.
  const ids = Uint32Array.from({ length: 30_000 }, (_, row) => Math.floor(row / 100) * 65_536 + (row % 100));
  const index = new IdIndex();
  for (let from = 0; from < ids.length; from += 100) index.setAll(ids, from, from + 100);
  expect(ids.findIndex((id, row) => index.get(id) !== row)).toBe(-1);
});

test('an id below all others is found with them, one by one and many at once', () => {
  const index = new IdIndex();
  index.setAll([200_000, 200_002], 0, 2);
  index.set(70_000, 2);
  index.setAll([0, 0, 0, 300_000, 5], 3, 5);
  expect(rowsOf(index, [200_000, 200_002, 70_000, 300_000, 5, 4])).toEqual([0, 1, 2, 3, 4, -1]);
});

test('of many clusters with few tasks each, ids cost what their tasks do', () => {
  const index = new IdIndex();
  for (let block = 0; block < 600; block++) {
    const ids = Uint32Array.from({ length: 100 }, (_, task) => block * 65_536 + task);
    for (let task = 0; task < ids.length; task++) index.set(ids[task], 100 * block + task);
  }
  expect(index.get(599 * 65_536 + 99)).toBe(59_999);
  const arrays = Object.values(index).filter(ArrayBuffer.isView);
  expect(arrays.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThan(6e6);
});
