import { expect, test } from 'vitest';
import { ColorRegistry, type Rgb } from '../../draw/palette';
import { PLAIN, type Theme } from '../../draw/theme';
import { partColor } from './colors';

/** Parts that nothing but their colour tells apart: kinds of computing, and of idle time that no name is blamed for. */
const BESIDE = [
  ['cpu', 'compute', 'off-cpu', 'other'],
  ['inputs', 'client', 'joining', 'leaving']
];
const DARK: Theme = { ...PLAIN, dark: true, background: [22, 24, 28] };

const distance = (one: Rgb, other: Rgb): number => Math.hypot(...one.map((value, at) => value - other[at]));

test.each([
  ['light', PLAIN],
  ['dark', DARK],
  ['light, high contrast', { ...PLAIN, contrast: true }],
  ['dark, high contrast', { ...DARK, contrast: true, background: [0, 0, 0] as Rgb }]
])('parts that can stand side by side look different: %s', (_, theme) => {
  const colors = new ColorRegistry();
  for (const parts of BESIDE) {
    const found = parts.map(part => partColor(part, '', colors, theme));
    const apart = found.flatMap((one, at) => found.slice(at + 1).map(other => distance(one, other)));
    expect(Math.min(...apart)).toBeGreaterThan(20);
  }
});
