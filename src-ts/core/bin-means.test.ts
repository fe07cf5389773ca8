import { expect, test } from 'vitest';
import { BinMeans } from './bin-means';

test('what stands for a part of a bin counts for that part, and nothing outside', () => {
  const made = new BinMeans(2, 10, 14, 4);
  made.add(0, 10.5, 12.25, 8);
  made.add(0, 12.5, 12.75, 4);
  made.add(1, 0, Number.POSITIVE_INFINITY, 3);
  made.add(1, 14, 15, 1);
  made.add(1, Number.NaN, 15, 1);
  expect(made.means().map(means => [...means])).toEqual([
    [4, 8, 3, 0],
    [3, 3, 3, 3]
  ]);
});
