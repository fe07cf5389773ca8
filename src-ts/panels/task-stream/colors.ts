import { grown } from '../../core/grown';
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
/** How much there is of the colour in a pixel that is 0 to `FULL` parts full. */
const SHARES = Array.from({ length: FULL + 1 }, (_, at) => at && LEAST + ((1 - LEAST) * at) / FULL);

/** Cell to colour, as a canvas stores it. */
export interface ColorTable {
  readonly tasks: Uint32Array;
  /** The same for lanes that are not chosen. */
  readonly dimmed: Uint32Array;
  readonly phases: Uint32Array;
  /** The same for lanes that are not chosen. */
  readonly dimmedPhases: Uint32Array;
  readonly background: number;
  readonly grid: number;
  /** Drawn beside failures where they would not stand out from the background; 0 where they do. */
  readonly outline: number;
}

export function failureColor(failure: number, theme: Theme): Rgb {
  if (failure === ERRED) return reservedColor('erred', theme);
  if (failure === KILLED) return theme.dark ? [70, 20, 20] : [90, 10, 10];
  return theme.dark ? [60, 60, 66] : [70, 70, 76];
}

/** The colours of cells in one theme; those of each name, of which there only come more, are mixed once. */
export class CellColors {
  /** With all names in full colour, and with all of them dimmed. */
  private tables: readonly Uint32Array[];
  private readonly phases: readonly Uint32Array[];
  private count = 0;

  constructor(
    readonly theme: Theme,
    readonly names: readonly string[],
    private readonly colors: ColorRegistry
  ) {
    this.tables = [1, 0.5].map(left => failuresOf(theme, left));
    this.phases = [1, 2 * DIMMED].map(most => phasesOf(theme, most));
  }

  /** With names in full colour that are `bright`. `chosen`: some are, and what belongs to none of them steps back too. */
  table(bright: (name: string) => boolean, chosen: boolean): ColorTable {
    const { theme, names } = this;
    this.mixNew();
    const [full, dimmed] = this.tables;
    const [phases, faint] = this.phases;
    const tasks = full.slice();
    names.forEach((name, index) => {
      const from = placeOf(index);
      if (!bright(name)) tasks.set(dimmed.subarray(from, from + 64), from);
    });
    return {
      tasks,
      dimmed,
      phases: chosen ? faint : phases,
      dimmedPhases: faint,
      background: packed(theme.background),
      grid: packed(theme.gridColor),
      outline: theme.dark ? packed([235, 235, 235]) : 0
    };
  }

  private mixNew(): void {
    const { names, theme } = this;
    const { background } = theme;
    this.tables = this.tables.map(table => grown(table, placeOf(names.length)));
    for (; this.count < names.length; this.count++) {
      const color = this.colors.color(names[this.count], theme);
      [color, mixed(background, color, DIMMED)].forEach((over, at) => {
        this.tables[at].set(mixtures(background, over, SHARES), placeOf(this.count));
      });
    }
  }
}

/** Where the colours of a name begin. */
const placeOf = (name: number): number => (name + FIRST_NAME) * 64;

/** The colours of cells without a name; `left` is how much there is of the colour of failures. */
function failuresOf(theme: Theme, left: number): Uint32Array {
  const { background } = theme;
  const table = new Uint32Array(placeOf(0)).fill(packed(background));
  for (const failure of [ERRED, KILLED, RETRIED]) {
    const color = packed(mixed(background, failureColor(failure, theme), left));
    table.fill(color, failure * 64, failure * 64 + 64);
  }
  return table;
}

function phasesOf(theme: Theme, most: number): Uint32Array {
  const { background } = theme;
  const phases = new Uint32Array(placeOf(ACTIONS.length));
  const shares = SHARES.map((_, at) => at && (0.35 + (0.65 * at) / FULL) * most);
  ACTIONS.forEach((_, action) => {
    const color = action === AWAY ? background : reservedColor(reservedOf(action), theme);
    phases.set(mixtures(background, color, shares), placeOf(action));
  });
  return phases;
}

/** The colour of a name as text for elements and pens. */
export function nameColor(name: string, colors: ColorRegistry, theme: Theme): string {
  return css(colors.color(name, theme));
}
