/** Colours for names: an OKLCH grid of 12 hues by 4 lightnesses, red and orange left free. */

export type Rgb = readonly [red: number, green: number, blue: number];

/** OKLCH to sRGB, each channel 0 to 255; chroma is lowered until the colour exists. */
export function oklch(lightness: number, chroma: number, hue: number): Rgb {
  for (let reduced = chroma; reduced > 0.005; reduced *= 0.93) {
    const linear = linearRgb(lightness, reduced, hue);
    if (linear.every(value => value > -0.002 && value < 1.002)) return gamma(linear);
  }
  return gamma(linearRgb(lightness, 0, hue));
}

function linearRgb(lightness: number, chroma: number, hue: number): [number, number, number] {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s
  ];
}

function gamma([red, green, blue]: readonly [number, number, number]): Rgb {
  return [encoded(red), encoded(green), encoded(blue)];
}

function encoded(linear: number): number {
  const value = Math.min(1, Math.max(0, linear));
  return Math.round(255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055));
}

/** Linear light of an sRGB channel, 0 to 1. */
export function linear(channel: number): number {
  const value = channel / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

/** `steps[channel]`: the linear light from which on the next channel is nearer. */
let steps: Float64Array | undefined;

/**
 * `mixed` for many shares that rise, as a canvas stores colours: what takes a power for each channel there
 * takes a comparison or two here.
 */
export function mixtures(under: Rgb, over: Rgb, shares: readonly number[]): Uint32Array {
  steps ??= Float64Array.from({ length: 256 }, (_, channel) => linear(channel + 0.5));
  const mixtures = new Uint32Array(shares.length).fill(0xff000000);
  for (let place = 0; place < 3; place++) {
    const from = linear(under[place]);
    const to = linear(over[place]);
    let channel = under[place];
    for (let at = 0; at < shares.length; at++) {
      const light = (1 - shares[at]) * from + shares[at] * to;
      while (channel < 255 && light >= steps[channel]) channel++;
      while (channel > 0 && light < steps[channel - 1]) channel--;
      mixtures[at] |= channel << (8 * place);
    }
  }
  return mixtures;
}

/** Two colours mixed in linear light; `share` 1 is all `over`. */
export function mixed(under: Rgb, over: Rgb, share: number): Rgb {
  const mix = (a: number, b: number): number => encoded((1 - share) * linear(a) + share * linear(b));
  return [mix(under[0], over[0]), mix(under[1], over[1]), mix(under[2], over[2])];
}

/** Relative luminance, 0 to 1, as WCAG has it. */
export function luminance([red, green, blue]: Rgb): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** Black or white, whichever is read better on a colour: 4.5 to 1 or more. */
export function textOn(color: Rgb): string {
  return luminance(color) > 0.179 ? '#000' : '#fff';
}

export function css([red, green, blue]: Rgb): string {
  return `rgb(${red},${green},${blue})`;
}

/** As a canvas stores it. */
export function packed([red, green, blue]: Rgb): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

const HUES = 12;
const LIGHTNESSES = 4;

/** Number of places for names. */
export const SLOTS = HUES * LIGHTNESSES;

const FIRST_HUE = 85;
const LAST_HUE = 345;

/** `colour-blind` tells names apart by lightness and between blue and yellow, never between red and green. */
export type Palette = 'standard' | 'colour-blind';

let palette: Palette = 'standard';

/** Chooses the colours of names for the whole page; what is drawn there follows. */
export function choosePalette(chosen: Palette): void {
  palette = chosen;
  // Whoever watches the theme sees this.
  document.documentElement.dataset.diPalette = chosen;
}

/** What was chosen, by whichever script of the page: a widget's is its own. */
export function chosenPalette(): Palette {
  palette = (document.documentElement.dataset.diPalette ?? palette) as Palette;
  return palette;
}

/** What a colour stands on. */
export interface Ground {
  readonly dark: boolean;
  /** With high contrast. */
  readonly contrast: boolean;
}

/** The colour of a place, for a light or a dark background. */
export function slotColor(slot: number, ground: Ground): Rgb {
  const { dark, contrast } = ground;
  const hue = slot % HUES;
  const step = Math.floor(slot / HUES) % LIGHTNESSES;
  if (palette === 'colour-blind') return blueOrYellow(hue, step, ground);
  // Neighbouring steps are far apart, so that two names of one hue differ clearly.
  const place = [0.62, 0, 1, 0.3][step];
  const [low, high] = dark ? (contrast ? [0.72, 0.9] : [0.62, 0.84]) : contrast ? [0.42, 0.62] : [0.5, 0.74];
  const degrees = FIRST_HUE + (hue * (LAST_HUE - FIRST_HUE)) / (HUES - 1);
  return oklch(low + place * (high - low), step === 1 ? 0.14 : 0.115, degrees);
}

/** Neighbours are of the other hue; those of one hue are far apart in lightness. */
function blueOrYellow(hue: number, step: number, { dark, contrast }: Ground): Rgb {
  const level = [0, 3, 1, 4, 2, 5][Math.floor(hue / 2)] / 5;
  const shift = [0, 0.5, 0.25, 0.75][step] / 5;
  const [low, high] = dark ? (contrast ? [0.66, 0.95] : [0.56, 0.92]) : contrast ? [0.3, 0.62] : [0.38, 0.8];
  const lightness = low + ((level + shift) / 1.15) * (high - low);
  return oklch(lightness, [0.13, 0.07, 0.1, 0.04][step], hue % 2 === 0 ? 262 : 98);
}

/** Dask's own colours, with the shapes that tell them apart without colour. */
export type Reserved = 'transfer' | 'disk' | 'deserialize' | 'compress' | 'overhead' | 'erred';

export function reservedColor(kind: Reserved, { dark, contrast }: Ground): Rgb {
  switch (kind) {
    case 'transfer':
      return dark ? [242, 84, 76] : [214, 39, 40];
    case 'disk':
      return dark ? [255, 168, 64] : contrast ? [206, 96, 0] : [236, 126, 10];
    case 'deserialize':
      return dark ? [158, 158, 158] : [128, 128, 128];
    case 'compress':
      return dark ? [190, 190, 190] : [96, 96, 96];
    case 'overhead':
      return dark ? [178, 138, 108] : [150, 108, 80];
    case 'erred':
      return [0, 0, 0];
  }
}

/**
 * Which name has which place. The same names in the same order get the same
 * places everywhere, so panels, reports and compared runs agree; a name gets
 * its hash's place unless that is too near one already given.
 */
export class ColorRegistry {
  private readonly slots = new Map<string, number>();
  /** How far the nearest place that has been given is from each. */
  private readonly nearest = new Uint8Array(SLOTS).fill(255);

  slot(name: string): number {
    let slot = this.slots.get(name);
    if (slot === undefined) {
      slot = this.choose(hash(name));
      this.slots.set(name, slot);
      this.take(slot);
    }
    return slot;
  }

  /** Names that are no more give their places back; those that come get theirs in this order. */
  keep(names: readonly string[]): void {
    const kept = new Set(names);
    this.nearest.fill(255);
    for (const [name, slot] of this.slots) {
      if (kept.has(name)) this.take(slot);
      else this.slots.delete(name);
    }
    for (const name of names) this.slot(name);
  }

  color(name: string, ground: Ground): Rgb {
    return slotColor(this.slot(name), ground);
  }

  private choose(hashed: number): number {
    const first = hashed % SLOTS;
    for (const nearest of [3, 2, 1]) {
      for (let step = 0; step < SLOTS; step++) {
        const slot = (first + step * 17) % SLOTS;
        if (this.nearest[slot] >= nearest) return slot;
      }
    }
    return first;
  }

  private take(slot: number): void {
    for (let other = 0; other < SLOTS; other++) {
      const hues = Math.abs((slot % HUES) - (other % HUES));
      const lightnesses = slot - (slot % HUES) === other - (other % HUES) ? 0 : 1;
      this.nearest[other] = Math.min(this.nearest[other], hues + lightnesses);
    }
  }
}

/** FNV-1a, then mixed so that similar names fall far apart. */
export function hash(text: string): number {
  let value = 2166136261;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 16777619);
  }
  value = Math.imul(value ^ (value >>> 15), 2246822507);
  return (value ^ (value >>> 13)) >>> 0;
}
