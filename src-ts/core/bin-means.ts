/** What amounts that stand for a while come to in equal bins of time, layer by layer: the mean over each bin. */
export class BinMeans {
  private readonly made: Float64Array[];
  private readonly whole: Float64Array[];
  private readonly step: number;

  constructor(
    layers: number,
    private readonly from: number,
    to: number,
    private readonly bins: number
  ) {
    this.made = Array.from({ length: layers }, () => new Float64Array(bins));
    this.whole = this.made.map(() => new Float64Array(bins + 1));
    this.step = (to - from) / bins;
  }

  /** An amount stands from one moment to another. */
  add(layer: number, start: number, stop: number, amount: number): void {
    const { from, step, bins } = this;
    const begin = Math.max(0, (start - from) / step);
    const end = Math.min(bins, (stop - from) / step);
    if (!(end > begin)) return;
    const [made, whole] = [this.made[layer], this.whole[layer]];
    const first = Math.floor(begin);
    const last = Math.floor(end);
    if (first === last) {
      made[first] += amount * (end - begin);
      return;
    }
    made[first] += amount * (first + 1 - begin);
    if (last < bins) made[last] += amount * (end - last);
    // What it has wholly is added where that begins and taken off where it ends.
    whole[first + 1] += amount;
    whole[last] -= amount;
  }

  /** `[layer][bin]`; asked for once, when all is added. */
  means(): Float64Array[] {
    this.made.forEach((made, layer) => {
      let there = 0;
      for (let bin = 0; bin < this.bins; bin++) {
        there += this.whole[layer][bin];
        made[bin] += there;
      }
    });
    return this.made;
  }
}
