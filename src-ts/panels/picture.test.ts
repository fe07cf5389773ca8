import { expect, test, vi } from 'vitest';
import { MOST_PIXELS } from '../draw/surface';
import { PLAIN } from '../draw/theme';
import { toPng, toSvg } from './picture';

const PICTURE = {
  title: 'Memory',
  caption: 'a run of mine · Nov 27, 2026 · 0–3.42 s of 3.42 s · inc · dask_insight',
  height: 40,
  theme: PLAIN,
  signs: [{ color: '#123456', label: 'a very long name of something that has a colour of its own' }],
  draw: () => {}
};

async function textsAt(width: number): Promise<{ readonly texts: string[]; readonly height: number }> {
  const svg = await toSvg({ ...PICTURE, width }).text();
  const texts = [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);
  return { texts, height: Number(/height="(\d+)"/.exec(svg)?.[1]) };
}

test('a caption that is wider than its picture goes on in lines of their own, and nothing is cut off', async () => {
  const wide = await textsAt(1000);
  expect(wide.texts).toEqual([PICTURE.title, PICTURE.signs[0].label, PICTURE.caption]);
  const narrow = await textsAt(180);
  const [, sign, ...lines] = narrow.texts;
  expect(sign).toMatch(/^a very .*…$/);
  expect(lines).toEqual(['a run of mine · Nov 27, 2026', '0–3.42 s of 3.42 s · inc', 'dask_insight']);
  expect(narrow.height).toBe(wide.height + 2 * 18);
});

test('a PNG has no more pixels than every browser draws', async () => {
  const sizes: number[] = [];
  const pen = new Proxy(
    {},
    { get: (_, name) => (name === 'measureText' ? () => ({ width: 10 }) : () => {}) }
  );
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(pen as CanvasRenderingContext2D);
  vi.spyOn(HTMLCanvasElement.prototype, 'toBlob').mockImplementation(function (
    this: HTMLCanvasElement,
    done
  ) {
    sizes.push(this.width * this.height);
    done(new Blob());
  });
  await toPng({ ...PICTURE, width: 1000 });
  await toPng({ ...PICTURE, width: 1500, height: 8000 });
  vi.restoreAllMocks();
  expect(sizes[0]).toBe(2048 * 2 * (40 + 34 + 26 + 24));
  expect(sizes[1] / MOST_PIXELS).toBeCloseTo(1, 3);
});

test('a sign as dark as the ground has an outline', async () => {
  const svg = await toSvg({ ...PICTURE, width: 1000, signs: [{ color: '#000', label: 'failed' }] }).text();
  expect(svg).toMatch(/<rect[^>]* fill="none" stroke="#59616b"/);
});
