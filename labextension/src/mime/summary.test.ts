import { expect, test } from 'vitest';
import { summaryOf } from './summary';

test('nothing of a notebook is believed', () => {
  const empty = { name: '', verdict: '', table: [], notes: [] };
  for (const data of [undefined, null, 3, 'text', [], { name: 1, table: {}, notes: 'x' }]) {
    expect(summaryOf(data)).toEqual(empty);
  }
  const table = [['a', '1 s', '2 %', 'more'], 'row', [1, 'b']];
  expect(summaryOf({ name: '<b>', verdict: 'v', table, notes: ['n', 2] })).toEqual({
    name: '<b>',
    verdict: 'v',
    table: [['a', '1 s', '2 %'], [], ['', 'b']],
    notes: ['n', '']
  });
});
