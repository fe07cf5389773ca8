import { expect, test } from 'vitest';
import { lackOf } from './lacks';
import type { Recording } from './recording';

function imported(lacks: unknown, rows: Record<string, number> = {}): Recording {
  return {
    about: (name: string) => (name === 'lacks' ? lacks : undefined),
    table: (name: string) => ({ rows: rows[name] ?? 0 })
  } as unknown as Recording;
}

test('the first table that a file does not hold says why', () => {
  const lacks = { samples: 'No stacks in there.', memory: 'No measures in there.' };
  expect(lackOf(imported(lacks), ['stacks', 'samples', 'memory'])).toBe('No stacks in there.');
});

test('a table that has rows lacks nothing, and our own recordings say nothing', () => {
  expect(lackOf(imported({ samples: 'No stacks.' }, { samples: 3 }), ['samples'])).toBeUndefined();
  expect(lackOf(imported(undefined), ['samples'])).toBeUndefined();
});

test.each([null, 'text', 7, ['samples'], { samples: 5 }])('a strange fact (%j) is no reason', lacks => {
  expect(lackOf(imported(lacks), ['samples', 'toString' as never])).toBeUndefined();
});
