import { encode } from '@msgpack/msgpack';
import { expect, test } from 'vitest';
import { BatchError, decode } from './batch';

const steps = (...codes: number[]): object => ({ planes: 1, data: Uint8Array.from(codes) });

/** Two forms, one in each group; `inc` counts by itself, `sum` has no number. */
const KEY = {
  name: 'key',
  kind: 'str',
  forms: [['inc-', ''], ['sum'], ['(', ', ', ')']],
  since: 'group',
  within: [[0, 2], [1]],
  width: 1,
  data: Uint8Array.of(0, 0, 1, 0),
  numbers: [{ ...steps(8, 0, 2, 2), alike: true }, steps(0, 0, 6, 1)]
};
const GROUP = { name: 'group', kind: 'sym', width: 1, data: Uint8Array.of(0, 1, 0, 0), symbols: ['a', 'b'] };

function keys(changes: object = {}): string[] {
  const columns = [{ ...KEY, ...changes }, GROUP];
  const read = decode(encode({ table: 'graph', rows: 4, columns }))
    .columns.get('key')
    ?.read();
  return read?.kind === 'str' ? Array.from({ length: read.length }, (_, row) => read.text(row)) : [];
}

test('texts are put together from their forms and numbers', () => {
  expect(keys()).toEqual(['inc-4', 'sum', '(1, 3)', 'inc-5']);
});

test.each([
  ['a place that the group does not have', { data: Uint8Array.of(0, 1, 0, 0) }],
  ['a form that is not there', { within: [[0, 9], [1]] }],
  ['a form below the first', { within: [[0, -1], [1]] }],
  ['a group that is not there', { since: 'span' }],
  ['a form with more numbers than there are', { numbers: [] }],
  ['numbers that are too few', { numbers: [steps(1), steps(1)] }],
  ['no list', { forms: [3] }]
])('%s is refused', (_, changes) => {
  expect(() => keys(changes)).toThrow(BatchError);
});
