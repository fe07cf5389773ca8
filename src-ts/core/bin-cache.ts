/** What a picture shows of time; seconds since the epoch. */
export interface Window {
  readonly start: number;
  readonly stop: number;
  /** Seconds a CSS pixel. */
  readonly perPixel: number;
}

export interface Cached<T> {
  readonly from: number;
  readonly to: number;
  /** Seconds a bin. */
  readonly step: number;
  readonly bins: number;
  readonly value: T;
}

/** A bin is at least this wide when it is drawn, CSS pixels. */
const NARROWEST = 1.5;

/**
 * Keeps what was worked out bin by bin, so that a pan costs nothing and a
 * zoom little. Bins are powers of two wide and stand on multiples of their
 * width: the same moment always falls into the same bin, and a pan never
 * changes a picture but by moving it.
 */
export class BinCache<T> {
  private kept = new Map<string, Cached<T>>();
  private version: unknown;

  /** Forgets everything when `version` is another than last time. */
  renew(version: unknown): void {
    if (version === this.version) return;
    this.version = version;
    this.kept.clear();
  }

  /** While a person is `moving` what is shown, what is at hand of it is good enough. */
  get(
    key: string,
    view: Window,
    moving: boolean,
    make: (from: number, to: number, bins: number) => T
  ): Cached<T> {
    const step = stepOf(view.perPixel);
    const known = this.kept.get(key);
    const covers = known && known.from <= view.start + step && known.to >= view.stop - step;
    if (known && covers && (known.step === step || moving)) return known;
    const span = view.stop - view.start;
    const first = Math.floor((view.start - span) / step);
    const last = Math.ceil((view.stop + span) / step);
    const from = first * step;
    const to = last * step;
    const made = { from, to, step, bins: last - first, value: make(from, to, last - first) };
    this.kept.set(key, made);
    return made;
  }
}

export function stepOf(perPixel: number): number {
  return 2 ** Math.ceil(Math.log2(perPixel * NARROWEST));
}
