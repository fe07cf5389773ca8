import { totalsOf, weigh } from './flame';
import type { SampleIndex, Threads } from './flame-samples';
import type { Filter } from './selection';

/** Seconds by row of `stacks` of the samples that a filter leaves, kept up to date sample by sample. */
export class FlameWeights {
  values = new Float64Array(0);
  private key = '';
  private taken = 0;
  private sums: Float64Array | undefined;

  /** Takes what the index has learned; `choice` changes with threads and filter. True if anything changed. */
  update(index: SampleIndex, threads: Threads, filter: Filter, choice: string): boolean {
    const rows = index.tree.nodeOfRow.length;
    const key = `${index.revision} ${choice}`;
    const anew = key !== this.key;
    if (!anew && this.taken === index.length && this.values.length === rows) return false;
    const values = new Float64Array(rows);
    if (!anew) values.set(this.values);
    const first = anew ? 0 : this.taken;
    this.key = key;
    this.values = values;
    this.sums = undefined;
    this.taken = index.length;
    const { start, stop } = filter.time ?? {};
    weigh(index.tree, index.samples, index.accept(threads, filter), start, stop, { into: values, first });
    return true;
  }

  /** The same with what each row called, worked out once somebody asks. */
  totals({ tree }: SampleIndex): Float64Array {
    this.sums ??= totalsOf(tree, this.values);
    return this.sums;
  }
}
