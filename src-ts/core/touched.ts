/** Marks of changes kept before neighbours are merged. */
const MOST = 64;

/**
 * Remembers from which moment on something has changed, so that what was made
 * from it earlier can be renewed from there and not from the beginning.
 */
export class Touched {
  /** Grows with every change. */
  version = 0;
  /** Marks in order of version and of time alike: an earlier change at a later time tells nothing more. */
  private versions: number[] = [];
  private times: number[] = [];

  /** Something has changed at `time` or after it. */
  touch(time: number): void {
    this.version++;
    const { versions, times } = this;
    while (times.length > 0 && times[times.length - 1] >= time) {
      times.pop();
      versions.pop();
    }
    times.push(time);
    versions.push(this.version);
    if (times.length > MOST) this.thin();
  }

  /** The earliest time touched after a version; Infinity if none was. */
  since(version: number): number {
    const at = this.versions.findIndex(each => each > version);
    return at < 0 ? Number.POSITIVE_INFINITY : this.times[at];
  }

  /** Puts two marks into one that claims no less than both. */
  private thin(): void {
    const kept = this.times.length >> 1;
    const odd = this.times.length % 2;
    this.times = Array.from({ length: kept + odd }, (_, at) => this.times[2 * at]);
    this.versions = Array.from(
      { length: kept + odd },
      (_, at) => this.versions[2 * at + 1] ?? this.versions[2 * at]
    );
  }
}
