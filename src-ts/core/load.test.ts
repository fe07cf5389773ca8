import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { inflate } from './load';

describe('inflate', () => {
  test('undoes zlib', async () => {
    expect(await inflate(Uint8Array.from(deflateSync(Uint8Array.of(1, 2, 3))))).toEqual(
      Uint8Array.of(1, 2, 3)
    );
  });

  test('stops where bytes unpack to far more than they are', async () => {
    const zeros = deflateSync(new Uint8Array(40 * 2 ** 20));
    await expect(inflate(Uint8Array.from(zeros))).rejects.toThrow('unpacks to too much');
  });
});
