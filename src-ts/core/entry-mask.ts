import { grown } from './grown';
import { OK, RUNNING } from './lane';
import type { Filter } from './selection';
import { entryTest } from './task-filter';
import type { Tasks } from './tasks';

/**
 * Which entries of lanes a filter by attempt, span or notebook cell leaves,
 * worked out once a row, so that a run that goes on costs what is new.
 */
export class EntryMask {
  /** 1 for rows of `attempts`, and of `running`, that pass. */
  ended = new Uint8Array(1024);
  running = new Uint8Array(64);
  private counts = { ended: 0, running: 0 };
  private known = '';

  constructor(
    private readonly tasks: Tasks,
    private readonly filter: Filter
  ) {
    this.update();
  }

  /** Takes what has arrived since. True if rows that were there before may have come to pass. */
  update(): boolean {
    const { recording } = this.tasks;
    const { late } = recording.table('graph');
    const known = `${recording.generation} ${recording.table('submissions').rows} ${late} ${this.ungraphed()}`;
    const anew = known !== this.known;
    this.known = known;
    if (anew) this.counts = { ended: 0, running: 0 };
    const rows = { ended: recording.table('attempts').rows, running: recording.table('running').rows };
    const { counts } = this;
    // To make the test costs as much as there are submissions.
    if (rows.ended === counts.ended && rows.running === counts.running) return anew;
    const test = entryTest(this.tasks, this.filter);
    for (const [kind, status] of [
      ['ended', OK],
      ['running', RUNNING]
    ] as const) {
      this[kind] = grown(this[kind], rows[kind]);
      for (let row = counts[kind]; row < rows[kind]; row++) {
        this[kind][row] = Number(test?.(row, status) ?? true);
      }
    }
    this.counts = rows;
    return anew;
  }

  passes(row: number, status: number): boolean {
    return (status === RUNNING ? this.running : this.ended)[row] === 1;
  }

  /** Rows of `graph` while there are attempts that came before theirs; such attempts are looked at again. */
  private ungraphed(): number {
    return this.tasks.namelessCount > 0 ? this.tasks.recording.table('graph').rows : -1;
  }
}
