import {
  type ColorRegistry,
  css,
  mixed,
  mixtures,
  packed,
  type Rgb,
  reservedColor
} from '../../draw/palette';
import type { Theme } from '../../draw/theme';
import { ERRED, FIRST_NAME, FULL, KILLED, RETRIED } from './cells';
import { ACTIONS, AWAY, reservedOf } from './phases';

/** A pixel with anything in it is at least this much of its colour, so that a lone short task is seen. */
const LEAST = 0.18;
/** How much is left of the colour of what is not chosen. */
const DIMMED = 0.2;
/** How much there is of the colour in a pixel that is 1 to `FULL` parts full. */
const SHARES = Array.from({ length: FULL }, (_, at) => LEAST + ((1 - LEAST) * (at + 1)) / FULL);

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

export function failureColor(failure: number, theme: Theme): Rgb {
  if (failure === ERRED) return reservedColor('erred', theme);
  if (failure === KILLED) return theme.dark ? [70, 20, 20] : [90, 10, 10];
  return theme.dark ? [60, 60, 66] : [70, 70, 76];
}

export function colorTable(choice: ColorChoice): ColorTable {
  const { theme, chosen } = choice;
  const { background } = theme;
  let dimmed: Uint32Array | undefined;
  const phases = new Uint32Array((ACTIONS.length + FIRST_NAME) * 64);
  ACTIONS.forEach((_, action) => {
    const color = action === AWAY ? background : reservedColor(reservedOf(action), theme);
    const most = chosen ? 2 * DIMMED : 1;
    const shares = SHARES.map((_, at) => (0.35 + (0.65 * (at + 1)) / FULL) * most);
    phases.set(mixtures(background, color, shares), (action + FIRST_NAME) * 64 + 1);
  });
  return {
    tasks: tableOf(choice, choice.bright, 1),
    get dimmed() {
      dimmed ??= tableOf(choice, () => false, 0.5);
      return dimmed;
    },
    phases,
    background: packed(background),
    grid: packed(theme.gridColor),
    outline: theme.dark ? packed([235, 235, 235]) : 0
  };
}

/** The colours of all cells; `failures` is how much is left of the colour of failures. */
function tableOf(
  { names, colors, theme }: ColorChoice,
  bright: (name: string) => boolean,
  failures: number
): Uint32Array {
  const { background } = theme;
  const table = new Uint32Array((names.length + FIRST_NAME) * (FULL + 1)).fill(packed(background));
  for (const failure of [ERRED, KILLED, RETRIED]) {
    const color = packed(mixed(background, failureColor(failure, theme), failures));
    table.fill(color, failure * 64, failure * 64 + 64);
  }
  names.forEach((name, index) => {
    const color = colors.color(name, theme.dark, theme.contrast);
    const shown = bright(name) ? color : mixed(background, color, DIMMED);
    table.set(mixtures(background, shown, SHARES), (index + FIRST_NAME) * 64 + 1);
  });
  return table;
}

/** The colour of a name as text for elements and pens. */
export function nameColor(name: string, colors: ColorRegistry, theme: Theme): string {
  return css(colors.color(name, theme.dark, theme.contrast));
}
