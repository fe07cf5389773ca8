import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { natural } from './natural';

test('numbers in names count as numbers, capitals stand beside small letters', () => {
  const golden = new URL('../../tests/golden/names.json', import.meta.url);
  const order: string[] = JSON.parse(readFileSync(golden, 'utf-8'));
  const names = [...order].sort();
  expect(names).not.toEqual(order);
  expect([...names].sort(natural)).toEqual(order);
  expect([...names].reverse().sort(natural)).toEqual(order);
});

test('numbers of any length are told apart', () => {
  const long = ['140000000000000000000001', '140000000000000000000002', '99999999999999999999999'];
  expect([...long].sort(natural)).toEqual([long[2], long[0], long[1]]);
});

test('it is the order of Intl.Collator for names as clusters have them', () => {
  const order = new Intl.Collator('en', { numeric: true });
  const names = [
    'tcp://127.0.0.1:40001',
    'tcp://127.0.0.1:9000',
    'worker-1',
    'worker-12',
    'worker-3',
    '0',
    '1',
    '10',
    'gpu-a',
    'gpu-b'
  ];
  expect([...names].sort(natural)).toEqual([...names].sort(order.compare));
});
