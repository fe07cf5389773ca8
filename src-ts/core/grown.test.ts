import { expect, test } from 'vitest';
import { grown } from './grown';

test('an array stays the same while there is room, and doubles at least where there is none', () => {
  const few = Uint16Array.of(1, 2, 3);
  expect(grown(few, 3)).toBe(few);
  expect(grown(few, 4)).toEqual(Uint16Array.of(1, 2, 3, 0, 0, 0));
  expect(grown(few, 8)).toHaveLength(8);
});
