import { encode } from '@msgpack/msgpack';
import { expect, test } from 'vitest';
import { Unpacker } from './msgpack';

const read = (...bytes: Uint8Array[]): unknown[] => {
  const all = Uint8Array.from(bytes.flatMap(each => [...each]));
  // Somewhere within a larger buffer, as batches stand.
  const within = new Uint8Array(all.length + 8).subarray(3, 3 + all.length);
  within.set(all);
  const unpacker = new Unpacker(within);
  const values: unknown[] = [];
  while (!unpacker.ended) values.push(unpacker.next());
  return values;
};

test.each([
  [[0, 1, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, 1.75e15, Number.MAX_SAFE_INTEGER]],
  [[-1, -32, -33, -128, -129, -32_768, -32_769, -(2 ** 31), -(2 ** 31) - 1, -1.75e15]],
  [[0.5, -1e300, Number.NaN, Number.POSITIVE_INFINITY]],
  [['', 'table', 'שלום 🙂', 'x'.repeat(31), 'x'.repeat(32), 'y'.repeat(256), 'z'.repeat(70_000)]],
  [[null, true, false, [], {}, { name: 'a', data: [1, { deep: ['x'] }] }]],
  [[Array.from({ length: 15 }, (_, at) => at), Array.from({ length: 70_000 }, (_, at) => at % 5)]],
  [[Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${at}`, at]))]]
])('%#: what was packed comes back', values => {
  expect(read(...values.map(value => encode(value)))).toEqual(values);
});

test('bytes are views, of any length', () => {
  for (const length of [0, 1, 255, 256, 70_000]) {
    const bytes = Uint8Array.from({ length }, (_, at) => at % 251);
    expect(read(encode(bytes))).toEqual([bytes]);
  }
});

test('single precision is read too', () => {
  expect(read(encode(0.5, { forceFloat32: true }))).toEqual([0.5]);
});

test('no name means anything', () => {
  const [map] = read(Uint8Array.of(0x81, 0xa9, ...new TextEncoder().encode('__proto__'), 0x80)) as [object];
  expect(Object.keys(map)).toEqual(['__proto__']);
  expect('toString' in map).toBe(false);
});

test.each([
  ['nothing', []],
  ['a byte that is never used', [0xc1]],
  ['an extension', [0xd4, 1, 2]],
  ['text that is cut off', [0xa3, 0x61]],
  ['a list longer than its bytes', [0xdd, 0xff, 0xff, 0xff, 0xff, 1]],
  ['a map longer than its bytes', [0xdf, 0x7f, 0xff, 0xff, 0xff, 1]],
  ['bytes that are not there', [0xc6, 0xff, 0xff, 0xff, 0xff]],
  ['a number as key', [0x81, 1, 1]],
  ['lists without end', Array.from({ length: 5000 }, () => 0x91)]
])('%s is refused', (_, bytes) => {
  expect(() => new Unpacker(Uint8Array.from(bytes)).next()).toThrow(RangeError);
});
