import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KINDS } from '../../core/critical-path';
import { ColorRegistry, luminance, type Rgb } from '../../draw/palette';
import { PLAIN, type Theme } from '../../draw/theme';
import { kindColor } from '../critical-path/colors';
import { partColor } from './colors';
import { partWords } from './words';

/** Parts that nothing but their colour tells apart: kinds of computing, and of idle time that no name is blamed for. */
const BESIDE = [
  ['cpu', 'compute', 'off-cpu', 'other'],
  ['inputs', 'client', 'joining', 'leaving']
];
const OTHERS = ['failed', 'deserialize', 'serialize', 'overhead', 'disk', 'data', 'processes', 'placement'];
const PARTS = [...BESIDE.flat(), ...OTHERS, 'scheduler', 'paused', 'resources', 'idle'];
const DARK: Theme = { ...PLAIN, dark: true, background: [22, 24, 28] };
const LIGHT_CONTRAST: Theme = { ...PLAIN, contrast: true };
const DARK_CONTRAST: Theme = { ...DARK, contrast: true };
const BLACK_CONTRAST: Theme = { ...DARK_CONTRAST, background: [0, 0, 0] };

/** What Python draws and says; see tests/test_words_hold.py. */
const golden: {
  readonly words: Readonly<Record<string, string>>;
  readonly light: Readonly<Record<string, Rgb>>;
  readonly dark: Readonly<Record<string, Rgb>>;
} = JSON.parse(readFileSync(join(import.meta.dirname, '../../../tests/golden/parts.json'), 'utf8'));

const distance = (one: Rgb, other: Rgb): number => Math.hypot(...one.map((value, at) => value - other[at]));

test('parts have the words and the colours that they have in Python', () => {
  const words = Object.keys(golden.words).map(part => [part, partWords(part, '', false).words]);
  expect(Object.fromEntries(words)).toEqual(golden.words);
  for (const [told, theme] of [
    [golden.light, PLAIN],
    [golden.dark, { ...DARK, background: [24, 26, 30] }]
  ] as const) {
    const colors = Object.keys(told).map(part => [part, partColor(part, '', new ColorRegistry(), theme)]);
    expect(Object.fromEntries(colors)).toEqual(told);
  }
});

test.each([
  ['light', PLAIN],
  ['dark', DARK],
  ['light, high contrast', LIGHT_CONTRAST],
  ['dark, high contrast', BLACK_CONTRAST]
])('parts that can stand side by side look different: %s', (_, theme) => {
  const colors = new ColorRegistry();
  for (const parts of BESIDE) {
    const found = parts.map(part => partColor(part, '', colors, theme));
    const apart = found.flatMap((one, at) => found.slice(at + 1).map(other => distance(one, other)));
    expect(Math.min(...apart)).toBeGreaterThan(20);
  }
});

test.each([
  ['light', LIGHT_CONTRAST],
  ['dark', DARK_CONTRAST],
  ['black', BLACK_CONTRAST]
])(
  'with high contrast every part, and every kind of a critical path, stands out from the page: %s',
  (_, theme) => {
    const colors = new ColorRegistry();
    const parts = PARTS.map(part => [part, partColor(part, '', colors, theme)] as const);
    const names = Array.from({ length: 48 }, (_, at) => `name-${at}`);
    const waits = names.map(name => [name, partColor('inputs', name, colors, theme)] as const);
    const kinds = KINDS.map(
      kind => [kind, (kindColor(kind, theme).match(/\d+/g) ?? []).map(Number) as unknown as Rgb] as const
    );
    const ground = luminance(theme.background) + 0.05;
    const pale = [...parts, ...waits, ...kinds].filter(([, color]) => {
      const light = luminance(color) + 0.05;
      return Math.max(light, ground) / Math.min(light, ground) < 3;
    });
    expect(pale).toEqual([]);
  }
);
