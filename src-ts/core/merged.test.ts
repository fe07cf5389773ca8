import { expect, test } from 'vitest';
import { merged } from './merged';

function sorted(values: readonly number[]): number[] {
  return [...values.keys()].sort((a, b) => values[a] - values[b] || a - b);
}

test('sorted parts, rising, falling and equal numbers come into order, equal ones as they stood', () => {
  const many = Array.from({ length: 1000 }, (_, index) => (index * 181) % 97);
  const parts = [0, 1, 2, 3, 4].flatMap(part => Array.from({ length: 50 }, (_, index) => 3 * index + part));
  for (const values of [[], [1], [2, 1], [1, 1, 1], [3, 2, 1], [1, 2, 3], many, parts, [...many].reverse()]) {
    expect([...merged(Float64Array.from(values))]).toEqual(sorted(values));
  }
});

test('numbers that are none neither hang nor get lost', () => {
  const order = merged(Float64Array.of(2, Number.NaN, 1, Number.POSITIVE_INFINITY, Number.NaN, 0));
  expect([...order].sort()).toEqual([0, 1, 2, 3, 4, 5]);
});
