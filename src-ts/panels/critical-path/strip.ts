import { type CriticalPath, KINDS } from '../../core/critical-path';
import type { Selection } from '../../core/selection';
import type { Tasks } from '../../core/tasks';
import { type ColorRegistry, css, mixed, textOn } from '../../draw/palette';
import { type Box, type Pen, writeWith } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import type { Scale } from '../../draw/viewport';
import { HEIGHTS, kindColor } from './colors';
import { EMPTY, FIRST_NAME, PathRaster } from './raster';

/** Pixels from which on a stretch has its name in it. */
const LABEL_FROM = 34;
/** How much is left of the colour of what is not chosen. */
const DIMMED = 0.2;

export interface StripLook {
  readonly tasks: Tasks;
  readonly colors: ColorRegistry;
  readonly selection: Selection;
  readonly theme: Theme;
  readonly ratio: number;
}

/** The path as one strip: names in colour where a task computes, lower bars where it waits. */
export class Strip {
  private readonly raster = new PathRaster();

  draw(pen: Pen, path: CriticalPath, box: Box, scale: Scale, look: StripLook): void {
    const { ratio, theme } = look;
    const columns = Math.max(1, Math.round(box.width * ratio));
    const cells = this.raster.fill(path, columns, scale.start, scale.perPixel / ratio);
    const widths = writeWith(pen, theme, 11);
    for (let from = 0; from < columns; ) {
      const filling = cells[from];
      let to = from + 1;
      while (to < columns && cells[to] === filling) to++;
      if (filling !== EMPTY) {
        const part = { ...box, x: box.x + from / ratio, width: (to - from) / ratio };
        if (filling >= FIRST_NAME) {
          const name = look.tasks.names[filling - FIRST_NAME];
          drawName(pen, name, part, look);
          const words = part.width >= LABEL_FROM ? widths.fitted(name, part.width - 8) : '';
          if (words) pen.fillText(words, part.x + 4, part.y + part.height / 2 + 0.5);
        } else {
          drawKind(pen, filling - 1, part, look);
        }
      }
      from = to;
    }
  }
}

/** Fills a part with a name's colour, and leaves the pen with that of its text. */
function drawName(pen: Pen, name: string, part: Box, { colors, selection, theme }: StripLook): void {
  const color = colors.color(name, theme);
  const isBright = selection.isBright(name);
  pen.fillStyle = css(isBright ? color : mixed(theme.background, color, DIMMED));
  pen.fillRect(part.x, part.y, part.width, part.height);
  pen.fillStyle = !isBright ? theme.faint : textOn(color);
}

function drawKind(pen: Pen, kind: number, part: Box, { theme }: StripLook): void {
  const share = HEIGHTS[KINDS[kind]];
  const height = Math.max(1, Math.round(part.height * share));
  pen.fillStyle = kindColor(KINDS[kind], theme);
  if (KINDS[kind] !== 'disk') {
    pen.fillRect(part.x, part.y + part.height - height, part.width, height);
    return;
  }
  // Disk is hatched, as in the task stream.
  for (let x = 0; x < part.width; x += 4) {
    pen.fillRect(part.x + x, part.y + part.height - height, Math.min(2, part.width - x), height);
  }
}
