import { expect, test } from 'vitest';
import { Touched } from './touched';

test('tells the earliest change after a version, and never less than there was', () => {
  const touched = new Touched();
  const history: number[] = [];
  let state = 1;
  for (let step = 0; step < 2000; step++) {
    state = (state * 48271) % 2147483647;
    const time = step + (state % 100 === 0 ? -(state % 700) : state % 5);
    touched.touch(time);
    history.push(time);
    for (const version of [0, step >> 1, step - 5, step, step + 1]) {
      const exact = Math.min(...history.slice(Math.max(0, version)));
      expect(touched.since(version)).toBeLessThanOrEqual(exact);
    }
    expect(touched.since(step)).toBe(time);
  }
  expect(touched.version).toBe(2000);
  expect(touched.since(1990)).toBeGreaterThan(1000);
});
