import { grown } from './grown';

/** How much there is of each task name, kept up to date entry by entry. */
export class TaskTotals {
  /** Seconds computed and number of entries, by index into `Tasks.names`; what still runs or is lost has no seconds. */
  seconds = new Float64Array(64);
  counts = new Uint32Array(64);

  add(name: number, took: number): void {
    this.reserve(name);
    this.counts[name]++;
    if (Number.isFinite(took)) this.seconds[name] += took;
  }

  /** Adds entries `from` up to `to` of columns, which have all ended. */
  addAll(names: Uint16Array, starts: Float64Array, stops: Float64Array, from: number, to: number): void {
    let most = 0;
    for (let at = from; at < to; at++) if (names[at] > most) most = names[at];
    this.reserve(most);
    const { seconds, counts } = this;
    for (let at = from; at < to; at++) {
      counts[names[at]]++;
      seconds[names[at]] += stops[at] - starts[at];
    }
  }

  remove(name: number, took: number): void {
    this.counts[name]--;
    if (Number.isFinite(took)) this.seconds[name] -= took;
  }

  clear(): void {
    this.seconds.fill(0);
    this.counts.fill(0);
  }

  /** Indices of the names that occur, those with the most time first. */
  ranked(): number[] {
    return Array.from(this.counts.keys())
      .filter(name => this.counts[name] > 0)
      .sort((a, b) => this.seconds[b] - this.seconds[a] || this.counts[b] - this.counts[a]);
  }

  private reserve(name: number): void {
    this.seconds = grown(this.seconds, name + 1);
    this.counts = grown(this.counts, name + 1);
  }
}
