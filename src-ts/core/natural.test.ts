import { expect, test } from 'vitest';
import { natural } from './natural';

test('numbers in names count as numbers, capitals stand beside small letters', () => {
  const names = [
    '10',
    '9',
    'b',
    'A',
    'a-10',
    'a-9',
    'a-009',
    'worker-2',
    'Worker-1',
    '',
    'tcp://10.0.0.12:80',
    'tcp://10.0.0.2:80'
  ];
  const order = [
    '',
    '9',
    '10',
    'A',
    'a-009',
    'a-9',
    'a-10',
    'b',
    'tcp://10.0.0.2:80',
    'tcp://10.0.0.12:80',
    'Worker-1',
    'worker-2'
  ];
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
