import type { Lane } from '../../core/lane';
import type { Tasks } from '../../core/tasks';

/** How much of each task name there is, kept up to date as lanes grow. */
export class Totals {
  /** Seconds computed and number of entries, by index into `Tasks.names`. */
  seconds = new Float64Array(0);
  counts = new Uint32Array(0);
  private readonly built = new Map<Lane, { epoch: number; length: number }>();

  constructor(private readonly tasks: Tasks) {}

  update(): void {
    const { lanes, names } = this.tasks;
    const now = new Set(lanes);
    const gone = [...this.built.keys()].some(lane => !now.has(lane));
    const changed = lanes.some(lane => {
      const known = this.built.get(lane);
      return known !== undefined && (lane.length < known.length || lane.epoch !== known.epoch);
    });
    if (changed || gone) this.clear();
    if (this.seconds.length < names.length) this.grow(names.length);
    for (const lane of lanes) {
      const { length, epoch } = lane;
      const from = this.built.get(lane)?.length ?? 0;
      for (let entry = from; entry < length; entry++) {
        const took = lane.stop[entry] - lane.start[entry];
        this.counts[lane.name[entry]]++;
        if (took < Number.POSITIVE_INFINITY) this.seconds[lane.name[entry]] += took;
      }
      if (length !== from) this.built.set(lane, { epoch, length });
    }
  }

  /** Indices of the names that occur, those with the most time first. */
  ranked(): number[] {
    return Array.from(this.counts.keys())
      .filter(name => this.counts[name] > 0)
      .sort((a, b) => this.seconds[b] - this.seconds[a] || this.counts[b] - this.counts[a]);
  }

  private clear(): void {
    this.built.clear();
    this.seconds.fill(0);
    this.counts.fill(0);
  }

  private grow(names: number): void {
    const seconds = new Float64Array(names);
    const counts = new Uint32Array(names);
    seconds.set(this.seconds);
    counts.set(this.counts);
    this.seconds = seconds;
    this.counts = counts;
  }
}
