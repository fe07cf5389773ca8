import { expect, test } from 'vitest';
import type { Side, SideName } from '../../core/comparison';
import { partWords } from '../time-budget/words';
import { nameWords, sideFacts, times } from './words';

const side = (name: string): Side => ({
  side: 0,
  name,
  runs: 1,
  workers: 2,
  threads: 4,
  seconds: 1,
  change: 0,
  noise: 0.1,
  verdict: 'same',
  text: ''
});

const task = (change: Partial<SideName>): SideName => ({
  side: 1,
  name: 'x',
  names: '["x"]',
  count: 10,
  seconds: 1,
  mean: 0.1,
  cpu: 0.1,
  share: 1,
  change: 0,
  noise: 0.01,
  cpu_change: 0,
  impact: 0,
  verdict: 'same',
  ...change
});

const plain = (text: string): string => text.replaceAll('\u2009', ' ');

test.each([
  [{ verdict: 'slower', mean: 0.15 }, 'slower by 50 %'],
  [{ verdict: 'slower', mean: 0.4 }, 'takes 4 times as long'],
  [{ verdict: 'faster', mean: 0.05 }, 'takes 50 % less'],
  [{ verdict: 'costlier', cpu: 0.3, cpu_change: 0.2 }, 'takes 3 times the CPU time'],
  [{ verdict: 'costlier', cpu: 0.3, cpu_change: 0.1 }, 'takes 50 % more CPU time'],
  [{ verdict: 'cheaper', cpu: 0.1, cpu_change: -0.1 }, 'takes 50 % less CPU time'],
  [{ verdict: 'fewer', count: 1 }, '1 task instead of 10'],
  [{ verdict: 'came' }, 'only in b'],
  [{ verdict: 'went' }, 'only in a'],
  [{}, 'within the noise, ± 10 ms'],
  [{ noise: Number.NaN }, 'the same']
])('%o reads %s', (change, words) => {
  expect(plain(nameWords(task({}), task(change), [side('a'), side('b')]))).toBe(words);
});

test('a change is told as a share, or as how many times', () => {
  expect([times(1, 1.5), times(1, 3), times(0, 1)].map(plain)).toEqual(['50 %', '3 times', '']);
});

test('time without a worker is a part of the time like others', () => {
  expect(partWords('no worker', '', false).words).toBe('without a worker');
});

test('a side is told by its runs, workers and threads', () => {
  expect(sideFacts(side('a'))).toBe('2 workers, 4 threads');
  expect(sideFacts({ ...side('a'), runs: 3, workers: 1, threads: 1.5 })).toBe(
    '3 runs, 1 worker, 1.5 threads'
  );
});
