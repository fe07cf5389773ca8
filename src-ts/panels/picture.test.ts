import { expect, test } from 'vitest';
import { PLAIN } from '../draw/theme';
import { toSvg } from './picture';

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
