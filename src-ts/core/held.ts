import type { Filter } from './selection';
import { taskTest } from './task-filter';
import type { Tasks } from './tasks';

/**
 * Results of tasks, from when the scheduler knew of each until it let go of it, once however many workers had a
 * copy. Where nobody told when that was (other tools' files), a result is taken to be held until the last task
 * that needs it has ended, and to the end if none does.
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
  private known = '';
  /** Rows that were there before, and how far they have been taken. */
  private base = '';
  private taken = { attempts: 0, releases: 0 };
  /** By task: the result that came last, and by result the one before of the same task; -1 for none. */
  private last: Int32Array = new Int32Array(0);
  private before: Int32Array = new Int32Array(0);

  constructor(private readonly tasks: Tasks) {}

  /** Takes what is new. True if there was anything. */
  update(): boolean {
    const { recording } = this.tasks;
    const known = recording.state('attempts', 'releases', 'edges');
    if (known === this.known) return false;
    this.known = known;
    this.guessed = recording.table('releases').rows === 0;
    const base = `${recording.generation} ${recording.table('attempts').late} ${this.guessed}`;
    if (base !== this.base || this.guessed) this.clear();
    this.base = base;
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
    const isWorker = workers.names.map(name => filter.workers?.has(name) ?? true);
    const runs = attempts.numbers('run');
    const ids = attempts.numbers('task');
    const test = taskTest(this.tasks, filter);
    return result => {
      const row = this.row[result];
      return isWorker[workers.codes[row]] && (test?.(runs[row], ids[row]) ?? true);
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
    this.last.fill(-1);
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
    let most = this.last.length - 1;
    for (let row = this.taken.attempts; row < rows; row++) if (ids[row] > most) most = ids[row];
    this.reserve(rows, most + 1);
    let at = this.length;
    for (let row = this.taken.attempts; row < rows; row++) {
      if (status.codes[row] !== ok || !(nbytes[row] > 0)) continue;
      this.begin[at] = done[row] >= stop[row] || Number.isNaN(stop[row]) ? done[row] : stop[row];
      this.end[at] = Number.POSITIVE_INFINITY;
      this.bytes[at] = nbytes[row];
      this.row[at] = row;
      this.before[at] = this.last[ids[row]];
      this.last[ids[row]] = at++;
    }
    this.length = at;
    this.taken.attempts = rows;
  }

  private reserve(rows: number, tasks: number): void {
    if (rows > this.row.length) {
      const room = Math.max(rows, this.row.length === 0 ? 0 : 2 * this.row.length);
      this.begin = grown(this.begin, new Float64Array(room));
      this.end = grown(this.end, new Float64Array(room));
      this.bytes = grown(this.bytes, new Float64Array(room));
      this.row = grown(this.row, new Uint32Array(room));
      this.before = grown(this.before, new Int32Array(room));
    }
    if (tasks > this.last.length) {
      const room = Math.max(tasks, this.last.length === 0 ? 0 : 2 * this.last.length);
      this.last = grown(this.last, new Int32Array(room).fill(-1));
    }
  }

  private takeEnds(): void {
    const releases = this.tasks.recording.table('releases');
    const ids = releases.numbers('task');
    const times = releases.times('time');
    for (let row = this.taken.releases; row < releases.rows; row++) {
      const time = times[row];
      const last = this.last[ids[row]] ?? -1;
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
    // When the last attempt of each task had ended; 0 where there is none.
    const ended = new Float64Array(this.last.length);
    for (let row = 0; row < attempts.rows; row++)
      if (done[row] > ended[ids[row]]) ended[ids[row]] = done[row];
    const until = new Float64Array(this.last.length);
    for (let row = 0; row < edges.rows; row++) {
      const time = ended[needing[row]];
      if (time > until[needed[row]]) until[needed[row]] = time;
    }
    for (let at = 0; at < this.length; at++) {
      const time = until[ids[this.row[at]]];
      if (time > 0) this.end[at] = Math.max(time, this.begin[at]);
    }
  }
}

function grown<T extends Float64Array | Uint32Array | Int32Array>(from: T, to: T): T {
  to.set(from);
  return to;
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
  const sums = Array.from({ length: layers }, () => new Float64Array(bins));
  const steps = Array.from({ length: layers }, () => new Float64Array(bins + 1));
  const step = (to - from) / bins;
  for (let at = 0; at < held.length; at++) {
    const layer = layerOf[at];
    const begin = (held.begin[at] - from) / step;
    const end = Math.min((held.end[at] - from) / step, bins);
    if (layer >= layers || !(end > 0) || !(begin < end)) continue;
    const left = Math.max(begin, 0);
    const [first, last] = [Math.floor(left), Math.floor(end)];
    const size = held.bytes[at];
    if (first === last) {
      sums[layer][first] += size * (end - left);
      continue;
    }
    sums[layer][first] += size * (first + 1 - left);
    steps[layer][first + 1] += size;
    steps[layer][last] -= size;
    if (last < bins) sums[layer][last] += size * (end - last);
  }
  sums.forEach((sum, layer) => {
    let whole = 0;
    for (let bin = 0; bin < bins; bin++) {
      whole += steps[layer][bin];
      sum[bin] += whole;
    }
  });
  return sums;
}
