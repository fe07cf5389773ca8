import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { partWords } from '../time-budget/words';
import { activityWords } from './words';

const golden: Record<string, string> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../tests/golden/activities.json'), 'utf8')
);

test.each(Object.entries(golden))('%s reads as %s, as in Python', (activity, words) => {
  expect(activityWords(activity)).toBe(words);
});

test('the time budget tells them from activities of the user’s own', () => {
  const { words, meaning } = partWords('custom: p2p-shards', '', false);
  expect([words, meaning]).toEqual(['P2P: pieces', 'Dask’s p2p-shards within tasks.']);
  expect(partWords('custom: load', '', false).meaning).toBe('An activity of your own within tasks.');
});
