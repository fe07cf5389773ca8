import { BinMeans } from './bin-means';
import { IdIndex } from './columns';
import { grown } from './grown';
import { lackOf } from './lacks';
import { chosenFlags, type Filter } from './selection';
import { taskTest } from './task-filter';
import type { Tasks } from './tasks';

/**
 * Results of tasks, from when the scheduler knew of each until it let go of it, once however many workers had a
 * copy. Where nobody told when that was (other tools' files), a result is taken to be held until the last task
 * that needs it has ended, and to the end if none does, but no longer than until its task has the next one.
 */
export class Held {
  length = 0;
  /** Seconds since the epoch; Infinity for what is held still. */
  begin: Float64Array = new Float64Array(0);
  end: Float64Array = new Float64Array(0);
  bytes: Float64Array = new Float64Array(0);
  /** Rows of `attempts`. */
  row: Uint32Array = new Uint32Array(0);
  /** Whether it was worked out from who needed what. */
  guessed = false;
  /** Why none are taken, in words: what would tell until when results were held was left out. */
  lack: string | undefined;
  private known = '';
  /** Rows that were there before, and how far they have been taken. */
  private base = '';
  private taken = { attempts: 0, releases: 0 };
  /** By task: the result that came last, and by result the one before of the same task; -1 for none. */
  private last = new IdIndex();
  private before: Int32Array = new Int32Array(0);

  constructor(private readonly tasks: Tasks) {}

  /** Takes what is new. True if there was anything. */
  update(): boolean {
    const { recording } = this.tasks;
    const known = recording.state('about', 'attempts', 'releases', 'edges');
    if (known === this.known) return false;
    this.known = known;
    this.guessed = recording.table('releases').rows === 0 && recording.about('source') !== undefined;
    this.lack = recording.table('edges').rows > 0 ? undefined : lackOf(recording, ['releases']);
    const base = [recording.generation, recording.table('attempts').late, this.guessed, this.lack].join();
    if (base !== this.base || this.guessed) this.clear();
    this.base = base;
    if (this.lack) return true;
    this.takeResults();
    if (this.guessed) this.guessEnds();
    else this.takeEnds();
    return true;
  }

  /** Which results a filter leaves. */
  passing(filter: Filter): (result: number) => boolean {
    const { recording } = this.tasks;
    const attempts = recording.table('attempts');
    const workers = attempts.symbols('worker');
    const isWorker = chosenFlags(workers.names, filter.workers);
    const runs = attempts.numbers('run');
    const ids = attempts.numbers('task');
    const test = taskTest(this.tasks, filter);
    return result => {
      const row = this.row[result];
      return isWorker[workers.codes[row]] === 1 && (test?.(runs[row], ids[row]) ?? true);
    };
  }

  /** Index into `Tasks.names` of each result. */
  names(): Uint16Array {
    const ids = this.tasks.recording.table('attempts').numbers('task');
    const nameOf = this.tasks.namer();
    return Uint16Array.from(this.row.subarray(0, this.length), row => nameOf(ids[row]));
  }

  private clear(): void {
    this.length = 0;
    this.taken = { attempts: 0, releases: 0 };
    this.last = new IdIndex();
  }

  private takeResults(): void {
    const attempts = this.tasks.recording.table('attempts');
    const status = attempts.symbols('status');
    const ok = status.find('ok');
    const ids = attempts.numbers('task');
    const done = attempts.times('done');
    const stop = attempts.times('stop');
    const nbytes = attempts.numbers('nbytes');
    const { rows } = attempts;
    this.reserve(rows);
    let at = this.length;
    for (let row = this.taken.attempts; row < rows; row++) {
      if (status.codes[row] !== ok || !(nbytes[row] > 0)) continue;
      this.begin[at] = done[row] >= stop[row] || Number.isNaN(stop[row]) ? done[row] : stop[row];
      this.end[at] = Number.POSITIVE_INFINITY;
      this.bytes[at] = nbytes[row];
      this.row[at] = row;
      this.before[at] = this.last.get(ids[row]);
      this.last.set(ids[row], at++);
    }
    this.length = at;
    this.taken.attempts = rows;
  }

  private reserve(rows: number): void {
    this.begin = grown(this.begin, rows);
    this.end = grown(this.end, rows);
    this.bytes = grown(this.bytes, rows);
    this.row = grown(this.row, rows);
    this.before = grown(this.before, rows);
  }

  private takeEnds(): void {
    const releases = this.tasks.recording.table('releases');
    const ids = releases.numbers('task');
    const times = releases.times('time');
    for (let row = this.taken.releases; row < releases.rows; row++) {
      const time = times[row];
      const last = this.last.get(ids[row]);
      // A task's only result, whatever clocks say; of several the last one that was there.
      let best = this.before[last] < 0 ? last : -1;
      for (let at = last; at >= 0; at = this.before[at]) {
        if (this.begin[at] <= time && (best < 0 || this.begin[at] > this.begin[best])) best = at;
      }
      if (best >= 0) this.end[best] = Math.min(this.end[best], Math.max(time, this.begin[best]));
    }
    this.taken.releases = releases.rows;
  }

  private guessEnds(): void {
    const { recording } = this.tasks;
    const edges = recording.table('edges');
    const needed = edges.numbers('dependency');
    const needing = edges.numbers('task');
    const attempts = recording.table('attempts');
    const ids = attempts.numbers('task');
    const done = attempts.times('done');
    const newest = new IdIndex();
    newest.setAll(ids, 0, attempts.rows);
    // When the last attempt of each task had ended, by its newest row; 0 where that is not known.
    const ended = new Float64Array(attempts.rows);
    for (let row = 0; row < attempts.rows; row++) {
      const at = newest.get(ids[row]);
      if (done[row] > ended[at]) ended[at] = done[row];
    }
    const until = new Float64Array(attempts.rows);
    for (let row = 0; row < edges.rows; row++) {
      const time = ended[newest.get(needing[row])];
      const at = newest.get(needed[row]);
      if (time > until[at]) until[at] = time;
    }
    for (let at = 0; at < this.length; at++) {
      const time = until[newest.get(ids[this.row[at]])];
      if (time > 0) this.end[at] = Math.max(time, this.begin[at]);
    }
    for (let at = 0; at < this.length; at++) {
      const other = this.before[at];
      // Files may have the newest first.
      const first = this.begin[other] > this.begin[at] ? at : other;
      this.end[first] = Math.min(this.end[first], Math.max(this.begin[at], this.begin[other]));
    }
  }
}

/** Mean bytes in each bin, layer by layer. */
export function binnedHeld(
  held: Held,
  layerOf: ArrayLike<number>,
  layers: number,
  from: number,
  to: number,
  bins: number
): Float64Array[] {
  const made = new BinMeans(layers, from, to, bins);
  for (let at = 0; at < held.length; at++) {
    if (layerOf[at] < layers) made.add(layerOf[at], held.begin[at], held.end[at], held.bytes[at]);
  }
  return made.means();
}
