import type { Box, Pen } from '../draw/pen';
import { MOST_PIXELS } from '../draw/surface';
import { SvgPen } from '../draw/svg-pen';
import { type TextWidth, textWidth } from '../draw/text-width';
import type { Theme } from '../draw/theme';
import type { Sign } from './panel';

/** A drawing that can be saved. */
export interface Picture {
  readonly title: string;
  /** What it shows, for whoever has only the picture: recording, time range, filters. */
  readonly caption: string;
  readonly width: number;
  readonly height: number;
  readonly theme: Theme;
  /** What the colours mean, the most important first. */
  readonly signs: readonly Sign[];
  draw(pen: Pen): void;
}

const HEAD = 34;
const FOOT = 26;
const SIDE = 12;
/** Height of a line of signs or of the caption, and the most lines of signs. */
const LINE = 18;
const MOST_LINES = 3;
/** Most pixels of a saved PNG in a CSS pixel. */
const RATIO = 2;

export function toSvg(picture: Picture): Blob {
  const framed = frame(picture);
  const pen = new SvgPen(framed.width, framed.height);
  framed.draw(pen);
  return new Blob([pen.toString()], { type: 'image/svg+xml' });
}

/** Throws if the browser cannot make so large a picture. */
export async function toPng(picture: Picture): Promise<Blob> {
  const framed = frame(picture);
  const { width, height } = framed;
  const ratio = Math.min(RATIO, Math.sqrt(MOST_PIXELS / (width * height)));
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d', { alpha: false }) as CanvasRenderingContext2D;
  context.scale(ratio, ratio);
  framed.draw(context);
  return new Promise((resolve, reject) => {
    canvas.toBlob(blob => {
      if (blob) resolve(blob);
      else
        reject(new Error('The browser could not make this picture; make the window smaller and try again.'));
    }, 'image/png');
  });
}

/** The drawing with its title, its signs and its caption around it. */
function frame({ title, caption, width, height, theme, signs, draw }: Picture): {
  readonly width: number;
  readonly height: number;
  draw(pen: Pen): void;
} {
  const font = `11px ${theme.font}`;
  const widths = textWidth(font);
  const placed = placeSigns(signs, width, widths);
  const said = linesOf(caption, width, widths);
  const last = placed.at(-1);
  const top = HEAD + (last ? (last.line + 1) * LINE + 6 : 0);
  const foot = FOOT + (said.length - 1) * LINE;
  const all: Box = { x: 0, y: 0, width: width + 2 * SIDE, height: top + height + foot };
  return {
    ...all,
    draw: pen => {
      pen.fillStyle = theme.backgroundText;
      pen.fillRect(all.x, all.y, all.width, all.height);
      pen.textAlign = 'left';
      pen.textBaseline = 'middle';
      pen.fillStyle = theme.text;
      pen.font = `600 14px ${theme.font}`;
      pen.fillText(title, SIDE, HEAD / 2);
      pen.font = font;
      pen.strokeStyle = theme.muted;
      pen.lineWidth = 1;
      for (const { color, label, x, line } of placed) {
        const y = HEAD + (line + 0.5) * LINE;
        pen.fillStyle = color;
        pen.fillRect(SIDE + x, y - 5, 9, 9);
        // One may be as dark as the ground.
        pen.strokeRect(SIDE + x + 0.5, y - 4.5, 8, 8);
        pen.fillStyle = theme.text;
        pen.fillText(label, SIDE + x + 14, y);
      }
      pen.fillStyle = theme.muted;
      said.forEach((line, at) => {
        pen.fillText(line, SIDE, top + height + FOOT / 2 + at * LINE);
      });
      pen.save();
      pen.translate(SIDE, top);
      draw(pen);
      pen.restore();
    }
  };
}

/** The parts of a caption in lines so wide; one that is wider still is cut. */
function linesOf(caption: string, width: number, widths: TextWidth): string[] {
  const lines: string[] = [];
  for (const part of caption.split(' · ')) {
    const longer = [...lines.slice(-1), part].join(' · ');
    if (widths.of(longer) <= width) lines.splice(-1, 1, longer);
    else lines.push(widths.fitted(part, width));
  }
  return lines;
}

/** As many signs as fit into a few lines. */
function placeSigns(
  signs: readonly Sign[],
  width: number,
  widths: TextWidth
): (Sign & { readonly x: number; readonly line: number })[] {
  const placed: (Sign & { readonly x: number; readonly line: number })[] = [];
  let x = 0;
  let line = 0;
  for (const sign of signs) {
    const label = widths.fitted(sign.label, width - 14);
    const room = 14 + widths.of(label);
    if (x > 0 && x + room > width) {
      x = 0;
      line++;
    }
    if (line >= MOST_LINES) break;
    placed.push({ ...sign, label, x, line });
    x += room + 18;
  }
  return placed;
}

/** Hands a file to the person. */
export function offer(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
