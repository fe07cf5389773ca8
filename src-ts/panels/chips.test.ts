import { expect, test } from 'vitest';
import { recordingOf } from '../core/test-recording';
import { clauseWords } from './chips';
import { createStage } from './stage';

test('a chip of task names counts names, which may have any number of tasks', () => {
  const stage = createStage(recordingOf({}));
  const words = (...value: string[]): string => clauseWords({ source: 'x', column: 'name', value }, stage);
  expect(words('inc', 'sum')).toBe('2 task names');
  expect(words('inc')).toBe('inc');
});
