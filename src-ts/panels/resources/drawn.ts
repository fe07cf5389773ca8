import { type Band, type Binned, band, type Means, summed } from '../../core/series';

/** More processes than this are drawn as a band with the chosen ones on it. */
const MOST_LINES = 8;

/** What is kept of one column, bin by bin: of many processes no more than is drawn. */
export class Drawn {
  /** NaN where nothing is known: means of each process, or of all together. */
  readonly known: readonly Means[];
  readonly band: Band | undefined;
  readonly sum: Float64Array | undefined;
  private readonly lines = new Map<number, Binned | undefined>();

  /** `read` gives the bins of one process. */
  constructor(
    processes: readonly number[],
    as: 'lines' | 'stack' | 'map',
    bins: number,
    private readonly read: (process: number) => Binned | undefined
  ) {
    if (as === 'stack') this.sum = summed(processes, bins, process => read(process)?.mean);
    else if (as === 'lines' && processes.length > MOST_LINES) this.band = band(processes, bins, read);
    const all = this.sum ?? this.band?.median;
    this.known = all ? [all] : processes.map(process => this.line(process, as === 'lines')?.mean);
  }

  /** The line of one process; worked out anew each time unless it is to be kept. */
  line(process: number, keep: boolean): Binned | undefined {
    const line = this.lines.get(process) ?? this.read(process);
    if (keep) this.lines.set(process, line);
    return line;
  }
}
