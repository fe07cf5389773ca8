import { firstAbove } from '../../core/first-above';
import type { FlameTree } from '../../core/flame-tree';
import { packed } from '../../draw/palette';
import { type Box, type Pen, writeWith } from '../../draw/pen';
import type { Theme } from '../../draw/theme';
import { COVERAGES } from './colors';
import type { FlameWindow } from './window';

/** Height of one frame with the line under it, CSS pixels. */
export const ROW = 18;

/** Frames narrower than this have no text, CSS pixels. */
const NARROWEST_TEXT = 28;

/** Frames that are wide enough for text: triples of node, left and width in CSS pixels; `depth` beside. */
interface Labels {
  count: number;
  places: Float64Array;
}

/**
 * Draws a flame tree by columns of pixels: one line of pixels a depth, made in
 * memory and stretched to the height of a row. What is narrower than a pixel
 * is skipped over by galloping, and lightens its pixel by what it leaves empty.
 */
export class FlamePainter {
  private readonly canvas = document.createElement('canvas');
  private image: ImageData | undefined;
  private pixels = new Uint32Array(0);
  private readonly labels: Labels = { count: 0, places: new Float64Array(4 * 4096) };
  private widths = new Float64Array(0);
  private widthsOf: FlameTree | undefined;

  draw(
    pen: Pen,
    tree: FlameTree,
    box: Box,
    window: FlameWindow,
    colors: Uint32Array,
    names: readonly string[],
    theme: Theme,
    ratio: number
  ): void {
    const rows = Math.ceil(box.height / ROW);
    const width = Math.max(1, Math.round(box.width * ratio));
    this.prepare(width, rows, theme);
    this.measure(tree);
    this.labels.count = 0;
    const last = Math.min(tree.deepest, window.depth + rows - 1);
    for (let depth = window.depth; depth <= last; depth++) {
      this.line(tree, depth, depth - window.depth, width, window, colors, ratio);
    }
    this.canvas.getContext('2d')?.putImageData(this.image as ImageData, 0, 0);
    pen.save();
    pen.beginPath();
    pen.rect(box.x, box.y, box.width, box.height);
    pen.clip();
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.canvas, box.x, box.y, box.width, rows * ROW);
    pen.fillStyle = theme.backgroundText;
    for (let row = 1; row <= rows; row++) pen.fillRect(box.x, box.y + row * ROW - 1, box.width, 1);
    this.write(pen, tree, box, names, theme);
    pen.restore();
  }

  private prepare(width: number, rows: number, theme: Theme): void {
    if (!this.image || this.image.width !== width || this.image.height !== rows) {
      this.canvas.width = width;
      this.canvas.height = rows;
      this.image = new ImageData(width, rows);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.pixels.fill(packed(theme.background));
  }

  /** Sums of widths up to each entry, to know how full a pixel is without looking at all that is in it. */
  private measure(tree: FlameTree): void {
    if (this.widthsOf === tree) return;
    this.widthsOf = tree;
    this.widths = new Float64Array(tree.size + 1);
    for (let entry = 0; entry < tree.size; entry++) {
      this.widths[entry + 1] = this.widths[entry] + (tree.right[entry] - tree.left[entry]);
    }
  }

  private line(
    tree: FlameTree,
    depth: number,
    row: number,
    width: number,
    { from, to }: FlameWindow,
    colors: Uint32Array,
    ratio: number
  ): void {
    const { left, right, nodes, frame } = tree;
    const { pixels, widths } = this;
    const perPixel = (to - from) / width;
    const offset = row * width;
    const end = tree.levels[depth + 1];
    for (let entry = firstAbove(right, from, tree.levels[depth], end); entry < end && left[entry] < to; ) {
      const x = (left[entry] - from) / perPixel;
      const stop = (right[entry] - from) / perPixel;
      const code = frame[nodes[entry]];
      if (stop - x < 1) {
        const pixel = Math.max(0, x | 0);
        const edge = from + (pixel + 1) * perPixel;
        const next = gallop(right, entry, end, edge);
        const covered = Math.min(1, (widths[Math.max(next, entry + 1)] - widths[entry]) / perPixel);
        pixels[offset + pixel] = code < 0 ? 0 : colors[code * COVERAGES + stepOf(covered)];
        entry = Math.max(entry + 1, next);
        continue;
      }
      const begin = x < 0 ? 0 : Math.round(x);
      const close = stop >= width ? width : Math.round(stop);
      const gap = close - begin >= 4 * ratio && stop < width ? 1 : 0;
      const color = code < 0 ? 0 : colors[code * COVERAGES + COVERAGES - 1];
      pixels.fill(color, offset + begin, offset + Math.max(begin + 1, close - gap));
      if (close - begin > NARROWEST_TEXT * ratio)
        this.label(nodes[entry], begin / ratio, (close - begin) / ratio, row);
      entry++;
    }
  }

  private label(node: number, x: number, width: number, row: number): void {
    const { labels } = this;
    if (4 * labels.count >= labels.places.length) return;
    labels.places.set([node, x, width, row], 4 * labels.count++);
  }

  private write(pen: Pen, tree: FlameTree, box: Box, names: readonly string[], theme: Theme): void {
    const text = writeWith(pen, theme, 11);
    pen.fillStyle = theme.text;
    const { places, count } = this.labels;
    for (let at = 0; at < 4 * count; at += 4) {
      const frame = tree.frame[places[at]];
      if (frame < 0) continue;
      const words = text.fitted(names[frame], places[at + 2] - 8);
      if (words) pen.fillText(words, box.x + places[at + 1] + 4, box.y + places[at + 3] * ROW + ROW / 2);
    }
  }
}

function stepOf(covered: number): number {
  return Math.min(COVERAGES - 1, Math.floor(covered * COVERAGES));
}

/** The first entry whose right end lies beyond a place that is most likely near. */
function gallop(right: Float64Array, begin: number, end: number, place: number): number {
  let step = 1;
  let low = begin;
  while (begin + step < end && right[begin + step] <= place) {
    low = begin + step;
    step <<= 1;
  }
  return firstAbove(right, place, low, Math.min(end, begin + step));
}
