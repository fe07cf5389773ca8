import { type Band, type Binned, band, summed } from '../../core/series';
import type { Line } from '../chart-row';

/** More processes than this are drawn as a band with the chosen ones on it. */
const MOST_LINES = 8;

/** What is kept of one column, bin by bin: of many processes no more than is drawn. */
export class Drawn {
  /** NaN where nothing is known: means of each process, one after another, or of all together. */
  readonly known: ArrayLike<number>;
  readonly band: Band | undefined;
  readonly sum: Float64Array | undefined;
  private readonly lines = new Map<number, Line>();

  /** `read` gives the bins of one process, or of all. */
  constructor(
    processes: readonly number[],
    as: 'lines' | 'stack' | 'map',
    private readonly read: (process?: number) => Binned
  ) {
    const all = read();
    if (as === 'stack') this.sum = summed(all, processes);
    else if (as === 'lines' && processes.length > MOST_LINES) this.band = band(all, processes);
    else if (as === 'lines') {
      for (const process of processes) this.lines.set(process, lineOf(all, process));
    }
    this.known = this.sum ?? this.band?.median ?? all.mean;
  }

  /** The line of one process; worked out anew each time unless it is to be kept. */
  line(process: number, keep: boolean): Line {
    const line = this.lines.get(process) ?? this.read(process);
    if (keep) this.lines.set(process, line);
    return line;
  }
}

function lineOf({ bins, low, high }: Binned, process: number): Line {
  const [begin, end] = [process * bins, (process + 1) * bins];
  return { low: low.subarray(begin, end), high: high.subarray(begin, end) };
}
