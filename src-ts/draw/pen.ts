import { type TextWidth, textWidth } from './text-width';
import type { Theme } from './theme';

/**
 * What panels draw with: the part of a canvas context that an SVG can follow,
 * so that one drawing function makes the screen, a PNG and an SVG.
 */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | 'fillStyle'
  | 'strokeStyle'
  | 'lineWidth'
  | 'globalAlpha'
  | 'font'
  | 'textAlign'
  | 'textBaseline'
  | 'imageSmoothingEnabled'
  | 'fillRect'
  | 'strokeRect'
  | 'fillText'
  | 'beginPath'
  | 'moveTo'
  | 'lineTo'
  | 'rect'
  | 'closePath'
  | 'fill'
  | 'stroke'
  | 'clip'
  | 'save'
  | 'restore'
  | 'translate'
> & {
  /** Puts a raster into a box; pixels stay sharp unless `imageSmoothingEnabled`. */
  drawImage(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void;
};

/** A box in CSS pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Whether a place lies in a box or on its edge. */
export function holds({ x, y, width, height }: Box, left: number, top: number): boolean {
  return left >= x && left <= x + width && top >= y && top <= y + height;
}

/** Keeps what is drawn until `restore` within a box. */
export function clipTo(pen: Pen, { x, y, width, height }: Box): void {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
}

/**
 * What is written from now on is so many CSS pixels in size and begins at the place that is told, with its middle at
 * that height; how wide it is.
 */
export function writeWith(
  pen: Pen,
  theme: Pick<Theme, 'font'>,
  size = 12,
  baseline: CanvasTextBaseline = 'middle'
): TextWidth {
  const font = `${size}px ${theme.font}`;
  pen.font = font;
  pen.textBaseline = baseline;
  pen.textAlign = 'left';
  return textWidth(font);
}
