import { deflateSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { inflate } from './load';

/** Has each piece that comes in come out as so many bytes; returns the sizes of those that have come. */
function unpackingTo(size: (piece: number) => number): number[] {
  const pieces: number[] = [];
  class Unpacking extends TransformStream<Uint8Array, Uint8Array> {
    constructor() {
      super({
        transform: ({ length }, controller) => {
          pieces.push(length);
          controller.enqueue(new Uint8Array(size(length)));
        }
      });
    }
  }
  vi.stubGlobal('DecompressionStream', Unpacking);
  return pieces;
}

describe('inflate', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  test('undoes zlib', async () => {
    expect(await inflate(Uint8Array.from(deflateSync(Uint8Array.of(1, 2, 3))))).toEqual(
      Uint8Array.of(1, 2, 3)
    );
  });

  test('stops where bytes unpack to far more than they are', async () => {
    const zeros = deflateSync(new Uint8Array(40 * 2 ** 20));
    await expect(inflate(Uint8Array.from(zeros))).rejects.toThrow('unpacks to too much');
  });

  test('unpacks piece by piece, and no further than it counts', async () => {
    const pieces = unpackingTo(length => length);
    expect(await inflate(new Uint8Array(40_000))).toHaveLength(40_000);
    expect(pieces).toEqual([16_384, 16_384, 7232]);
    const vast = unpackingTo(() => 12 * 2 ** 20);
    await expect(inflate(new Uint8Array(2 ** 17))).rejects.toThrow('unpacks to too much');
    expect(vast.length).toBeLessThanOrEqual(4);
  });
});
