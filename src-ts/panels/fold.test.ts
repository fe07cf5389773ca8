import { expect, test } from 'vitest';
import { Fold } from './fold';

/** How many lines are drawn after each asking, and what the next one would do. */
function asked(all: number, times: number): [number, string][] {
  const fold = new Fold(12);
  return Array.from({ length: times }, () => {
    const now: [number, string] = [fold.drawn(all), fold.words(all, 'bar')];
    fold.ask(all);
    return now;
  });
}

test('a long list opens step by step, and closes again', () => {
  expect(asked(232, 4)).toEqual([
    [12, 'Show 200 of 220 more bars'],
    [212, 'Show 20 more bars'],
    [232, 'Show fewer bars'],
    [12, 'Show 200 of 220 more bars']
  ]);
});

test('no more is drawn than a canvas can hold; the table has the rest', () => {
  expect(asked(10_000, 3)).toEqual([
    [12, 'Show 200 of 9,988 more bars'],
    [212, 'Show 188 of 9,788 more bars'],
    [400, 'Show fewer bars; the table has all 10,000']
  ]);
});

test('one line is shown itself rather than told of', () => {
  const fold = new Fold(12);
  expect([fold.drawn(13), fold.isLong(13), fold.drawn(14), fold.isLong(14)]).toEqual([13, false, 12, true]);
});

test('one list is open at a time', () => {
  const fold = new Fold(12);
  fold.ask(100, 'a');
  fold.ask(100, 'b');
  expect([fold.drawn(100, 'a'), fold.drawn(100, 'b')]).toEqual([12, 100]);
});
