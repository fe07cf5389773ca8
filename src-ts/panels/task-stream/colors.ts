import { type ColorRegistry, css, mixed, type Rgb, reservedColor } from '../../draw/palette';
import type { Theme } from '../../draw/theme';
import { ERRED, FIRST_NAME, FULL, KILLED, RETRIED } from './cells';
import { ACTIONS, reservedOf } from './phases';

/** A pixel with anything in it is at least this much of its colour, so that a lone short task is seen. */
const LEAST = 0.18;
/** How much is left of the colour of what is not chosen. */
const DIMMED = 0.2;

/** Cell to colour, as a canvas stores it. */
export interface ColorTable {
  readonly tasks: Uint32Array;
  /** The same for lanes that are not chosen. */
  readonly dimmed: Uint32Array;
  readonly phases: Uint32Array;
  readonly background: number;
  readonly grid: number;
  /** Drawn beside failures where they would not stand out from the background; 0 where they do. */
  readonly outline: number;
}

export interface ColorChoice {
  readonly names: readonly string[];
  readonly colors: ColorRegistry;
  readonly theme: Theme;
  /** Is this name shown in full colour? */
  readonly bright: (name: string) => boolean;
  /** Some names are chosen: what belongs to none of them steps back too. */
  readonly chosen: boolean;
}

function packed([red, green, blue]: Rgb): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

export function failureColor(failure: number, theme: Theme): Rgb {
  if (failure === ERRED) return reservedColor('erred', theme.dark);
  if (failure === KILLED) return theme.dark ? [70, 20, 20] : [90, 10, 10];
  return theme.dark ? [60, 60, 66] : [70, 70, 76];
}

export function colorTable({ names, colors, theme, bright, chosen }: ColorChoice): ColorTable {
  const size = (names.length + FIRST_NAME) * (FULL + 1);
  const tasks = new Uint32Array(size).fill(packed(theme.background));
  const dimmed = tasks.slice();
  const { background } = theme;
  const put = (filling: number, color: Rgb, isBright: boolean): void => {
    const shown = isBright ? color : mixed(background, color, DIMMED);
    const faded = mixed(background, color, DIMMED);
    for (let full = 1; full <= FULL; full++) {
      const share = LEAST + ((1 - LEAST) * full) / FULL;
      tasks[filling * 64 + full] = packed(mixed(background, shown, share));
      dimmed[filling * 64 + full] = packed(mixed(background, faded, share));
    }
  };
  for (const failure of [ERRED, KILLED, RETRIED]) {
    const color = packed(failureColor(failure, theme));
    tasks.fill(color, failure * 64, failure * 64 + 64);
    dimmed.fill(
      packed(mixed(background, failureColor(failure, theme), 0.5)),
      failure * 64,
      failure * 64 + 64
    );
  }
  names.forEach((name, index) => {
    put(index + FIRST_NAME, colors.color(name, theme.dark, theme.contrast), bright(name));
  });
  const phases = new Uint32Array((ACTIONS.length + FIRST_NAME) * 64);
  ACTIONS.forEach((_, action) => {
    const color = reservedColor(reservedOf(action), theme.dark);
    for (let full = 1; full <= FULL; full++) {
      const share = (0.35 + (0.65 * full) / FULL) * (chosen ? 2 * DIMMED : 1);
      phases[(action + FIRST_NAME) * 64 + full] = packed(mixed(background, color, share));
    }
  });
  const outline = theme.dark ? packed([235, 235, 235]) : 0;
  return { tasks, dimmed, phases, background: packed(background), grid: packed(theme.gridColor), outline };
}

/** The colour of a name as text for elements and pens. */
export function nameColor(name: string, colors: ColorRegistry, theme: Theme): string {
  return css(colors.color(name, theme.dark, theme.contrast));
}
