import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type FlameTree, layOut } from '../../core/flame-tree';
import { packed } from '../../draw/palette';
import { SvgPen } from '../../draw/svg-pen';
import { PLAIN } from '../../draw/theme';
import { COVERAGES } from './colors';
import { FlamePainter, ROW } from './painter';

/** Pixels of the line of children of the root, as they were put on the canvas. */
let pixels: readonly number[] = [];

beforeEach(() => {
  const putImageData = ({ data }: ImageData): void => {
    pixels = [...new Uint32Array(data.buffer)];
  };
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue({ putImageData } as never);
});

afterEach(() => vi.restoreAllMocks());

/** Frames of such widths beside each other, each of another function. */
const row = (widths: readonly number[]): FlameTree =>
  layOut({
    size: widths.length + 1,
    parent: [-1, ...widths.map(() => 0)],
    frame: [-1, ...widths.keys()],
    self: Float64Array.of(0, ...widths)
  });

/** Draws a row into so many pixels, a second each; each frame's colours say which it is and its tone. */
function drawn(tree: FlameTree, width: number, hits: readonly number[] = []): void {
  const frames = tree.size - 1;
  const colors = Uint32Array.from({ length: frames * COVERAGES }, (_, at) => at + 1);
  const matched =
    hits.length > 0 ? Uint8Array.from({ length: frames }, (_, at) => +hits.includes(at)) : undefined;
  const names = Array.from({ length: frames }, String);
  const box = { x: 0, y: 0, width, height: ROW };
  const window = { from: 0, to: width, depth: 1 };
  new FlamePainter().draw(new SvgPen(width, ROW), tree, box, window, colors, names, PLAIN, 1, matched);
}

const tones = (): number[] => pixels.map(pixel => (pixel - 1) % COVERAGES);
const shown = (): number[] =>
  pixels.map(pixel => (pixel > packed(PLAIN.background) / 2 ? -1 : Math.floor((pixel - 1) / COVERAGES)));

test.each([0.3, 0.013])('frames beside each other of %f pixels fill all of them', each => {
  drawn(row(Array(1000).fill(each)), Math.floor(1000 * each));
  expect(pixels).toHaveLength(Math.floor(1000 * each));
  expect(Math.min(...tones())).toBeGreaterThanOrEqual(COVERAGES - 2);
});

test('what a pixel lacks lightens it, and the frame with most of it gives the colour', () => {
  drawn(row([0.75, 0.625, 0.125]), 3);
  expect(shown().slice(0, 2)).toEqual([0, 1]);
  expect(tones()[0]).toBe(COVERAGES - 1);
  expect(tones()[1]).toBe(COVERAGES / 2);
});

test.each([0.3, 0.013])(
  'a frame of %f pixels that was found is seen beside others, wherever it stands',
  each => {
    const tree = row(Array(300).fill(each));
    for (const found of [0, 1, 2, 3, 77, 150]) {
      drawn(tree, Math.floor(300 * each), [found]);
      expect(shown()).toContain(found);
    }
  }
);

test('nor does a wide frame beside it hide what was found', () => {
  const wide = layOut({
    size: 6,
    parent: [-1, 0, 0, 1, 1, 2],
    frame: [-1, 0, 1, 2, 3, 4],
    self: Float64Array.of(0, 0, 0, 3.1, 0.2, 3.1)
  });
  const window = { from: 0, to: 7, depth: 2 };
  const colors = Uint32Array.from({ length: 5 * COVERAGES }, (_, at) => at + 1);
  const matched = Uint8Array.of(0, 0, 0, 1, 0);
  const box = { x: 0, y: 0, width: 7, height: ROW };
  new FlamePainter().draw(new SvgPen(7, ROW), wide, box, window, colors, [...'abcde'], PLAIN, 1, matched);
  expect(shown()).toEqual([2, 2, 2, 3, 4, 4, -1]);
});
