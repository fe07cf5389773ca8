import { NATIVE, OWN_CODE, packageOf, STANDARD_LIBRARY } from '../../core/package-of';
import { placeIn } from '../../core/place-in';
import { hash, mixed, oklch, packed, type Rgb } from '../../draw/palette';
import type { Theme } from '../../draw/theme';

/** Steps from an empty pixel to a full one. */
export const COVERAGES = 16;

/** Hues that are given to packages, away from each other; red and orange are kept free. */
const HUES = [255, 150, 310, 200, 115, 340, 175, 280, 225];
const KNOWN = new Map([
  ['distributed', 255],
  ['dask', 235],
  ['numpy', 150],
  ['pandas', 310]
]);
const OWN_HUE = 88;
/** Frames of one package differ a little, so that neighbours can be told apart. */
const VARIANTS = 4;

/** Which package each frame belongs to, and the colours of both. */
export class FrameColors {
  readonly packages: readonly string[];
  readonly packageOfFrame: Uint16Array;
  private readonly variantOfFrame: Uint8Array;

  constructor(names: readonly string[], files: readonly string[]) {
    const known = new Map<string, number>();
    this.packageOfFrame = Uint16Array.from(files, file => placeIn(known, packageOf(file)));
    this.packages = [...known.keys()];
    this.variantOfFrame = Uint8Array.from(names, name => hash(name) % VARIANTS);
  }

  /** The colour of a package, as its legend shows it. */
  packageColor(at: number, theme: Theme): Rgb {
    return this.color(this.packages[at], 0, theme);
  }

  frameColor(frame: number, theme: Theme): Rgb {
    return this.color(this.packages[this.packageOfFrame[frame]], this.variantOfFrame[frame], theme);
  }

  /** Packed colours: entry `frame * COVERAGES + step`, for pixels that are more or less full. */
  table(theme: Theme, matched: Uint8Array | undefined): Uint32Array {
    const frames = this.packageOfFrame.length;
    const out = new Uint32Array(frames * COVERAGES);
    const kept = new Map<number, Uint32Array>();
    for (let frame = 0; frame < frames; frame++) {
      const state = matched ? (matched[frame] ? 1 : 2) : 0;
      const key = (this.packageOfFrame[frame] * VARIANTS + this.variantOfFrame[frame]) * 3 + state;
      let ramp = kept.get(key);
      if (!ramp) {
        ramp = rampOf(this.stateColor(frame, state, theme), theme.background);
        kept.set(key, ramp);
      }
      out.set(ramp, frame * COVERAGES);
    }
    return out;
  }

  private stateColor(frame: number, state: number, theme: Theme): Rgb {
    if (state === 1) return matchColor(theme);
    const color = this.frameColor(frame, theme);
    return state === 2 ? mixed(theme.background, grey(color), theme.dark ? 0.3 : 0.35) : color;
  }

  private color(name: string, variant: number, theme: Theme): Rgb {
    const { dark, contrast } = theme;
    // With high contrast both a frame on the page and the text on a frame stand out.
    const base = contrast ? (dark ? 0.525 : 0.65) : dark ? 0.42 : 0.87;
    const step = (dark ? (contrast ? 0.008 : 0.022) : -0.022) * variant;
    if (name === STANDARD_LIBRARY || name === NATIVE) return oklch(base + step, 0.006, 250);
    const hue = name === OWN_CODE ? OWN_HUE : (KNOWN.get(name) ?? HUES[hash(name) % HUES.length]);
    const strength = name === OWN_CODE ? 0.11 : 0.065;
    return oklch(base + step, contrast ? strength * 1.3 : strength, hue);
  }
}

/** What a search has found stands out from every package. */
export function matchColor(theme: Theme): Rgb {
  return oklch(theme.dark ? 0.53 : theme.contrast ? 0.66 : 0.75, 0.19, 330);
}

function grey([red, green, blue]: Rgb): Rgb {
  const level = Math.round(0.3 * red + 0.59 * green + 0.11 * blue);
  return [level, level, level];
}

/** Packed colours of a frame, for pixels that are more or less full. */
export function rampOf(color: Rgb, background: Rgb): Uint32Array {
  return Uint32Array.from({ length: COVERAGES }, (_, step) =>
    // Even what fills a pixel by a hair stays visible.
    packed(mixed(background, color, 0.25 + (0.75 * step) / (COVERAGES - 1)))
  );
}
