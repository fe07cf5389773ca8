import { expect, test } from 'vitest';
import { luminance, mixed, type Rgb } from '../../draw/palette';
import { PLAIN, type Theme } from '../../draw/theme';
import { FrameColors, matchColor } from './colors';

const WHITE: Rgb = [255, 255, 255];
const DARK: Theme = { ...PLAIN, dark: true, background: [22, 24, 28] };

const ratio = (one: Rgb, other: Rgb): number => {
  const [low, high] = [one, other].map(color => luminance(color) + 0.05).sort((a, b) => a - b);
  return high / low;
};

const files = ['numpy', 'pandas', 'dask', 'distributed', 'zarr', 'xarray', 'scipy', 'numba'].flatMap(name =>
  Array.from({ length: 8 }, () => `/env/lib/python3.12/site-packages/${name}/core.py`)
);
const names = files.map((_, at) => `function_${at}`);
const frames = new FrameColors(
  [...names, 'mine', 'wait'],
  [...files, '/home/me/work.py', '/usr/lib/python3.12/threading.py']
);
const all = (theme: Theme): Rgb[] =>
  Array.from({ length: names.length + 2 }, (_, frame) => frames.frameColor(frame, theme));

test.each([
  ['light', { ...PLAIN, contrast: true }, [0, 0, 0] as Rgb],
  ['dark', { ...DARK, contrast: true }, WHITE],
  ['black', { ...DARK, contrast: true, background: [0, 0, 0] as Rgb }, WHITE]
])('with high contrast frames stand out from the page, and their names from them: %s', (_, theme, ink) => {
  for (const color of [...all(theme), matchColor(theme)]) {
    expect(ratio(color, theme.background)).toBeGreaterThan(3);
    expect(ratio(color, ink)).toBeGreaterThan(4.5);
  }
});

test('a package may be called as what every object has', () => {
  const named = new FrameColors(['make'], ['/env/lib/python3.12/site-packages/constructor/main.py']);
  expect(named.packages).toEqual(['constructor']);
  expect(named.frameColor(0, PLAIN).every(Number.isFinite)).toBe(true);
});

test.each([
  ['light', PLAIN, mixed(WHITE, [0, 0, 0], 0.985)],
  ['dark', DARK, mixed(DARK.background, WHITE, 0.78)]
])('names of frames can be read, also of those that a search has found: %s', (_, theme, ink) => {
  for (const color of [...all(theme), matchColor(theme)]) expect(ratio(color, ink)).toBeGreaterThan(4.5);
});
