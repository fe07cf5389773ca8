import type { Box, Pen } from '../draw/pen';
import { SvgPen } from '../draw/svg-pen';
import type { Theme } from '../draw/theme';

/** A drawing that can be saved. */
export interface Picture {
  readonly title: string;
  /** What it shows, for whoever has only the picture: recording, time range, filters. */
  readonly caption: string;
  readonly width: number;
  readonly height: number;
  readonly theme: Theme;
  draw(pen: Pen): void;
}

const HEAD = 34;
const FOOT = 26;
const SIDE = 12;
/** Pixels of a saved PNG in a CSS pixel. */
const RATIO = 2;

export function toSvg(picture: Picture): Blob {
  const pen = new SvgPen(picture.width + 2 * SIDE, picture.height + HEAD + FOOT);
  drawFramed(pen, picture);
  return new Blob([pen.toString()], { type: 'image/svg+xml' });
}

/** Throws if the browser cannot make so large a picture. */
export async function toPng(picture: Picture): Promise<Blob> {
  const canvas = document.createElement('canvas');
  canvas.width = Math.round((picture.width + 2 * SIDE) * RATIO);
  canvas.height = Math.round((picture.height + HEAD + FOOT) * RATIO);
  const context = canvas.getContext('2d', { alpha: false }) as CanvasRenderingContext2D;
  context.scale(RATIO, RATIO);
  drawFramed(context, picture);
  return new Promise((resolve, reject) => {
    canvas.toBlob(blob => {
      if (blob) resolve(blob);
      else
        reject(new Error('The browser could not make this picture; make the window smaller and try again.'));
    }, 'image/png');
  });
}

function drawFramed(pen: Pen, { title, caption, width, height, theme, draw }: Picture): void {
  const all: Box = { x: 0, y: 0, width: width + 2 * SIDE, height: height + HEAD + FOOT };
  pen.fillStyle = theme.backgroundText;
  pen.fillRect(all.x, all.y, all.width, all.height);
  pen.textAlign = 'left';
  pen.textBaseline = 'middle';
  pen.fillStyle = theme.text;
  pen.font = `600 14px ${theme.font}`;
  pen.fillText(title, SIDE, HEAD / 2);
  pen.fillStyle = theme.muted;
  pen.font = `11px ${theme.font}`;
  pen.fillText(caption, SIDE, HEAD + height + FOOT / 2);
  pen.save();
  pen.translate(SIDE, HEAD);
  draw(pen);
  pen.restore();
}

/** Hands a file to the person. */
export function offer(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
