import { afterEach, describe, expect, test } from 'vitest';
import {
  ColorRegistry,
  choosePalette,
  luminance,
  mixed,
  mixtures,
  oklch,
  reservedColor,
  SLOTS,
  slotColor,
  textOn
} from './palette';
import { PLAIN, themeOf } from './theme';

const distance = (a: readonly number[], b: readonly number[]): number =>
  Math.hypot(...a.map((value, at) => value - b[at]));

describe('palette', () => {
  test('colours exist, and stand out from the background', () => {
    for (const dark of [false, true]) {
      for (let slot = 0; slot < SLOTS; slot++) {
        const color = slotColor(slot, { dark, contrast: false });
        expect(color.every(channel => Number.isInteger(channel) && channel >= 0 && channel <= 255)).toBe(
          true
        );
        const light = luminance(color);
        if (dark) expect(light).toBeGreaterThan(0.12);
        else expect(light).toBeLessThan(0.62);
      }
    }
  });

  test('text on a colour stands out from it', () => {
    for (const dark of [false, true]) {
      for (let slot = 0; slot < SLOTS; slot++) {
        const color = slotColor(slot, { dark, contrast: false });
        const ink = textOn(color) === '#fff' ? 1.05 : 0.05;
        const ground = luminance(color) + 0.05;
        expect(Math.max(ink, ground) / Math.min(ink, ground)).toBeGreaterThan(4.5);
      }
    }
  });

  test('red and orange stay free for transfers and disk', () => {
    for (let slot = 0; slot < SLOTS; slot++) {
      expect(distance(slotColor(slot, PLAIN), [214, 39, 40])).toBeGreaterThan(60);
      expect(distance(slotColor(slot, PLAIN), [236, 126, 10])).toBeGreaterThan(60);
    }
  });

  test('with high contrast what is Dask’s own stands out from white, and failures are black', () => {
    const own = ['transfer', 'disk', 'deserialize', 'compress', 'overhead', 'erred'] as const;
    for (const kind of own) {
      const light = luminance(reservedColor(kind, { dark: false, contrast: true }));
      expect(1.05 / (light + 0.05)).toBeGreaterThan(3);
    }
  });

  test('known values: white, black and a blue', () => {
    expect(oklch(1, 0, 0)).toEqual([255, 255, 255]);
    expect(oklch(0, 0, 0)).toEqual([0, 0, 0]);
    expect(distance(oklch(0.452, 0.313, 264), [0, 0, 255])).toBeLessThan(6);
  });

  test('mixing is in linear light', () => {
    expect(mixed([0, 0, 0], [255, 255, 255], 0.5)).toEqual([188, 188, 188]);
    expect(mixed([10, 20, 30], [200, 100, 50], 1)).toEqual([200, 100, 50]);
  });

  test('many mixtures are those that are made one by one', () => {
    const shares = Array.from({ length: 64 }, (_, at) => at / 63);
    const colors = [
      [255, 255, 255],
      [22, 24, 28],
      [0, 0, 0],
      [214, 39, 40],
      [12, 200, 255]
    ] as const;
    for (const under of colors) {
      for (const over of colors) {
        const packed = [...mixtures(under, over, shares)].map(each => [
          each & 255,
          (each >> 8) & 255,
          (each >> 16) & 255,
          each >>> 24
        ]);
        expect(packed).toEqual(shares.map(share => [...mixed(under, over, share), 255]));
      }
    }
  });

  test('a dozen names can be told apart; the same names get the same colours', () => {
    const names = [
      'inc',
      'sum',
      'read_parquet',
      'getitem',
      'add',
      'mean',
      'store',
      'merge',
      'fft',
      'dot',
      'x',
      'y'
    ];
    const registry = new ColorRegistry();
    const colors = names.map(name => registry.color(name, PLAIN));
    for (let a = 0; a < colors.length; a++) {
      for (let b = 0; b < a; b++) expect(distance(colors[a], colors[b])).toBeGreaterThan(20);
    }
    const again = new ColorRegistry();
    expect(names.map(name => again.color(name, PLAIN))).toEqual(colors);
    for (let more = 0; more < 200; more++) expect(registry.slot(`name-${more}`)).toBeLessThan(SLOTS);
  });

  test('names that are kept keep their colours; places of the others are given to those that come', () => {
    const registry = new ColorRegistry();
    const names = Array.from({ length: 500 }, (_, at) => `old-${at}`);
    const places = names.map(name => registry.slot(name));
    registry.keep(names.slice(-3));
    const come = Array.from({ length: 9 }, (_, at) => `new-${at}`);
    const given = [...come, ...names.slice(-3)].map(name => registry.slot(name));
    expect(given.slice(-3)).toEqual(places.slice(-3));
    expect(new Set(given.slice(0, 9)).size).toBe(9);
    expect(given.slice(0, 9).some(place => given.slice(-3).includes(place))).toBe(false);
  });
});

/** What is left of a colour for eyes that do not tell red from green: lightness, and blue against yellow. */
function withoutRedAndGreen([red, green, blue]: readonly number[]): number[] {
  const one = 0.56 * red + 0.44 * green;
  return [one, one, blue];
}

describe('palette for colour-blind eyes', () => {
  afterEach(() => choosePalette('standard'));

  test('what another script of the page has chosen is followed', () => {
    const standard = slotColor(0, PLAIN);
    document.documentElement.dataset.diPalette = 'colour-blind';
    expect(themeOf(document.body).palette).toBe('colour-blind');
    expect(slotColor(0, PLAIN)).not.toEqual(standard);
  });

  test('a dozen names are told apart without red and green', () => {
    choosePalette('colour-blind');
    for (const dark of [false, true]) {
      const colors = Array.from({ length: 12 }, (_, slot) =>
        withoutRedAndGreen(slotColor(slot, { dark, contrast: false }))
      );
      for (const [at, color] of colors.entries()) {
        for (const other of colors.slice(at + 1)) expect(distance(color, other)).toBeGreaterThan(18);
      }
    }
  });

  test('all colours stand out from the background', () => {
    choosePalette('colour-blind');
    for (let slot = 0; slot < SLOTS; slot++) {
      expect(luminance(slotColor(slot, PLAIN))).toBeLessThan(0.62);
      expect(luminance(slotColor(slot, { dark: true, contrast: false }))).toBeGreaterThan(0.08);
    }
  });
});
