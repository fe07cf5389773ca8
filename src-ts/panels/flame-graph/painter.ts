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

/** A frame that is wide enough for text; CSS pixels. */
type Label = readonly [frame: number, x: number, width: number, row: number];

/**
 * Draws a flame tree by columns of pixels: one line of pixels a depth, made in
 * memory and stretched to the height of a row. What is narrower than a pixel
 * is skipped over by galloping, and lightens its pixels by what it leaves empty.
 */
export class FlamePainter {
  private readonly canvas = document.createElement('canvas');
  private image: ImageData | undefined;
  private pixels = new Uint32Array(0);
  private labels: Label[] = [];
  private widths = new Float64Array(0);
  /** Before each entry, the last that a search has found, plus 1. */
  private hits = new Uint32Array(0);
  private measured: readonly unknown[] = [];

  draw(
    pen: Pen,
    tree: FlameTree,
    box: Box,
    window: FlameWindow,
    colors: Uint32Array,
    names: readonly string[],
    theme: Theme,
    ratio: number,
    matched?: Uint8Array
  ): void {
    const rows = Math.ceil(box.height / ROW);
    const width = Math.max(1, Math.round(box.width * ratio));
    this.prepare(width, rows, theme);
    this.measure(tree, matched);
    this.labels = [];
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
    this.write(pen, box, names, theme);
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

  /** What comes before each entry, to know how full a pixel is, and if with a hit, without looking at all in it. */
  private measure(tree: FlameTree, matched: Uint8Array | undefined): void {
    if (this.measured[0] === tree && this.measured[1] === matched) return;
    this.measured = [tree, matched];
    const { size, left, right, nodes, frame } = tree;
    this.widths = new Float64Array(size + 1);
    this.hits = new Uint32Array(size + 1);
    for (let entry = 0; entry < size; entry++) {
      this.widths[entry + 1] = this.widths[entry] + (right[entry] - left[entry]);
      this.hits[entry + 1] = matched?.[frame[nodes[entry]]] ? entry + 1 : this.hits[entry];
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
    const { pixels, widths, hits } = this;
    const perPixel = (to - from) / width;
    const offset = row * width;
    const end = tree.levels[depth + 1];
    /** Of what is no frame there is none: nothing is painted. */
    const color = (entry: number, covered: number): number =>
      colors[frame[nodes[entry]] * COVERAGES + stepOf(covered)];
    // Pixels before `free` stay as they are, with the sum of widths up to `painted`: the rest goes into the next.
    let free = 0;
    let painted = 0;
    for (
      let entry = firstAbove(right, from, tree.levels[depth], end);
      entry < end && left[entry] < to && free < width;
    ) {
      const x = (left[entry] - from) / perPixel;
      const stop = (right[entry] - from) / perPixel;
      if (stop - x < 1) {
        free = Math.max(free, x | 0) + 1;
        const edge = from + free * perPixel;
        const next = gallop(right, entry, end, edge);
        // What of the next lies in this pixel.
        const part = next < end ? Math.max(0, edge - left[next]) : 0;
        const sum = widths[next] + part;
        const hit = hits[part > 0 ? next + 1 : next];
        const shown = hit > entry ? hit - 1 : part > perPixel / 2 ? next : entry;
        pixels[offset + free - 1] = color(shown, (sum - Math.max(painted, widths[entry])) / perPixel);
        painted = sum;
        entry = next;
        continue;
      }
      const begin = Math.max(free, Math.round(x));
      const close = Math.min(width, Math.round(stop));
      const gap = close - begin >= 4 * ratio && stop < width ? 1 : 0;
      pixels.fill(color(entry, 1), offset + begin, offset + close - gap);
      if (close - begin > NARROWEST_TEXT * ratio)
        this.labels.push([frame[nodes[entry]], begin / ratio, (close - begin) / ratio, row]);
      entry++;
    }
  }

  private write(pen: Pen, box: Box, names: readonly string[], theme: Theme): void {
    const text = writeWith(pen, theme, 11);
    pen.fillStyle = theme.text;
    for (const [frame, x, width, row] of this.labels) {
      const words = frame >= 0 && text.fitted(names[frame], width - 8);
      if (words) pen.fillText(words, box.x + x + 4, box.y + row * ROW + ROW / 2);
    }
  }
}

function stepOf(covered: number): number {
  // Sums round: of nothing it may be a little less.
  return Math.min(COVERAGES - 1, (covered * COVERAGES) | 0);
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
