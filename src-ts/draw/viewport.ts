/** From time to pixels in one chart: `start` and `perPixel` in seconds, `width` in CSS pixels. */
export interface Scale {
  readonly start: number;
  readonly perPixel: number;
  readonly width: number;
  readonly stop: number;
  x(time: number): number;
  time(x: number): number;
}

/** The scale of a chart whose left end is a moment. */
export function scaleOf(start: number, perPixel: number, width: number): Scale {
  return {
    start,
    perPixel,
    width,
    stop: start + perPixel * width,
    x: time => (time - start) / perPixel,
    time: x => start + x * perPixel
  };
}

/**
 * Shortest span that can be shown: beyond it, times of a double run out of digits, which are 2.4e-7 s apart, and a drag
 * by a pixel moves nothing, of charts up to 4000 pixels wide.
 */
const SHORTEST = 5e-4;

/**
 * Where between two pixels the snap tips over. Not half-way: zooms about the middle land there, and the last
 * digit would then move the picture by a pixel.
 */
const SNAP = 0.43;

/** How long after the last change a viewport still counts as moving, milliseconds. */
const SETTLING = 120;

/**
 * The time that the charts of a page show, shared by them. Times are seconds
 * since the epoch. While `follow` is on, new data move it; a zoom or a pan
 * turns `follow` off, and data never move it then.
 */
export class Viewport {
  /** The whole recording. */
  private first = 0;
  private last = 1;
  private from = 0;
  private length = 1;
  private following = true;
  private touched = false;
  /** Where the picture begins while it is followed and not touched; the whole recording is shown without. */
  private anchor = Number.NEGATIVE_INFINITY;
  private until = Number.POSITIVE_INFINITY;
  private zero = 0;
  private pointer = Number.NaN;
  private settling: ReturnType<typeof setTimeout> | undefined;
  /** Share of the length that may stand empty at the right, so that what goes on seldom changes the scale. */
  private ahead = 0;
  private readonly callbacks = new Set<() => void>();
  private readonly cursorCallbacks = new Set<() => void>();

  /** `live`: the recording goes on, and what is followed leaves a little room for it. */
  constructor({ live = false }: { readonly live?: boolean } = {}) {
    if (live) this.ahead = 1 / 32;
  }

  get start(): number {
    return this.from;
  }

  get span(): number {
    return this.length;
  }

  get stop(): number {
    return this.from + this.length;
  }

  get extent(): { readonly start: number; readonly stop: number } {
    return { start: this.first, stop: this.last };
  }

  /** Where all time axes have their zero. */
  get origin(): number {
    return this.zero;
  }

  get follow(): boolean {
    return this.following;
  }

  set follow(on: boolean) {
    if (on === this.following) return;
    this.following = on;
    if (on) this.toEnd();
    this.changed(false);
  }

  /** True while a person is zooming or panning, and a moment longer. */
  get moving(): boolean {
    return this.settling !== undefined;
  }

  /** True once the whole recording is shown. */
  get fitted(): boolean {
    return this.from === this.first && this.length >= this.last - this.first;
  }

  /** The moment under the pointer, in whichever chart it is; NaN if in none. */
  get cursor(): number {
    return this.pointer;
  }

  set cursor(time: number) {
    if (Object.is(time, this.pointer)) return;
    this.pointer = time;
    for (const callback of [...this.cursorCallbacks]) callback();
  }

  /** The time that can be shown, as far as it is known by now, and the zero of all axes. */
  setExtent(start: number, stop: number, zero = start): void {
    const end = Math.max(stop, start + SHORTEST);
    if (start === this.first && end === this.last && zero === this.zero) return;
    this.zero = zero;
    const shift = start !== this.first && !this.touched;
    this.first = start;
    this.last = end;
    if (this.following || shift) this.toEnd();
    this.changed(false);
  }

  /** Shows everything, and follows again. */
  fit(): void {
    this.touched = false;
    this.following = true;
    this.anchor = Number.NEGATIVE_INFINITY;
    this.until = Number.POSITIVE_INFINITY;
    this.toEnd();
    this.changed(true);
  }

  /** True while `followFrom` decides where the picture begins. */
  get anchored(): boolean {
    return Number.isFinite(this.anchor);
  }

  /**
   * Shows what comes from a moment on, as long as nobody has zoomed or panned;
   * what came before stays in reach. After `until` the picture stands.
   */
  followFrom(start: number, until = Number.POSITIVE_INFINITY): void {
    if (start === this.anchor && until === this.until) return;
    this.anchor = start;
    this.until = until;
    if (!this.following || this.touched) return;
    this.toEnd();
    this.changed(false);
  }

  /** Shows a range. */
  show(start: number, stop: number): void {
    const span = stop - start;
    // What is too short to be shown stands in the middle.
    this.set(start - Math.max(0, SHORTEST - span) / 2, span);
  }

  /** Zooms about a place of the chart, 0 its left and 1 its right end; `factor` below 1 zooms in. */
  zoom(place: number, factor: number): void {
    const span = this.bounded(this.length * factor);
    this.set(this.from + place * (this.length - span), span);
  }

  /** Pans by a share of the width; positive shows later times. */
  pan(share: number): void {
    this.set(this.from + share * this.length, this.length);
  }

  /** The scale of a chart, its start snapped to whole device pixels so that a pan recolours nothing. */
  scale(width: number, ratio = 1): Scale {
    const perPixel = this.length / Math.max(1, width);
    const column = perPixel / ratio;
    const start = this.zero + Math.floor((this.from - this.zero) / column + SNAP) * column;
    return scaleOf(start, perPixel, width);
  }

  /** Tells of every change of what is shown, and again when it has come to rest. */
  subscribe(callback: () => void): () => void {
    this.callbacks.add(callback);
    return () => this.callbacks.delete(callback);
  }

  /** Tells when the moment under the pointer changes. */
  onCursor(callback: () => void): () => void {
    this.cursorCallbacks.add(callback);
    return () => this.cursorCallbacks.delete(callback);
  }

  private bounded(span: number): number {
    return Math.min(Math.max(span, SHORTEST), this.edge - this.first);
  }

  private set(start: number, span: number): void {
    const length = this.bounded(span);
    const from = Math.min(Math.max(start, this.first), Math.max(this.first, this.edge - length));
    if (from === this.from && length === this.length) return;
    this.touched = true;
    this.following = false;
    this.from = from;
    this.length = length;
    this.changed(true);
  }

  private toEnd(): void {
    if (this.touched) {
      this.from = Math.max(this.first, this.edgeFor(this.length) - this.length);
      return;
    }
    this.from = Math.min(Math.max(this.first, this.anchor), this.last - SHORTEST);
    const last = Math.max(this.from + SHORTEST, Math.min(this.last, this.until));
    this.length = this.edgeFor(last - this.from, last) - this.from;
  }

  /** The latest moment that can be shown, where everything is. */
  private get edge(): number {
    return Math.max(this.edgeFor(this.last - this.first), this.from + this.length);
  }

  /** The same where only so much is shown: the room that is left is a share of that. */
  private edgeFor(span: number, last = this.last): number {
    if (this.ahead === 0) return last;
    const step = 2 ** Math.floor(Math.log2(span * this.ahead));
    return this.zero + Math.ceil((last - this.zero) / step) * step;
  }

  private changed(byPerson: boolean): void {
    if (byPerson) {
      clearTimeout(this.settling);
      this.settling = setTimeout(() => {
        this.settling = undefined;
        this.tell();
      }, SETTLING);
    }
    this.tell();
  }

  private tell(): void {
    for (const callback of [...this.callbacks]) callback();
  }
}
