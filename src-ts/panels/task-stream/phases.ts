import { Lane, OK } from '../../core/lane';
import { runOf } from '../../core/task-run';
import type { Tasks } from '../../core/tasks';
import type { Reserved } from '../../draw/palette';

/** The actions of the `phases` table, as indices into this list. */
export const ACTIONS = ['transfer', 'disk-read', 'disk-write', 'deserialize', 'compress', 'other'] as const;

/** The colour that Dask gives an action. */
export function reservedOf(action: number): Reserved {
  if (action === 0) return 'transfer';
  if (action <= 2) return 'disk';
  return action === 3 ? 'deserialize' : 'compress';
}

/** What happened around the tasks of each lane, as lanes of their own. */
export class Phases {
  private readonly lanes = new Map<string, Lane>();
  private taken = 0;
  /** Grows when the lanes of phases have all become others. */
  generation = 0;
  /** Rows whose attempt has not arrived. */
  private waiting: number[] = [];
  /** Changes with what `of` returns. */
  version = '';

  constructor(private readonly tasks: Tasks) {}

  /** Takes what has arrived since. */
  update(): void {
    const table = this.tasks.recording.table('phases');
    const state = `${this.tasks.version} ${this.tasks.recording.state('phases')}`;
    if (state === this.version) return;
    this.version = state;
    if (this.generation !== this.tasks.recording.generation) this.clear();
    const again = this.waiting;
    this.waiting = [];
    for (const row of again) this.take(row);
    for (; this.taken < table.rows; this.taken++) this.take(this.taken);
  }

  /** The phases of a lane of tasks; their `name` is an index into `ACTIONS`. */
  of(lane: Lane): Lane | undefined {
    return this.lanes.get(`${lane.worker}\n${lane.thread}`);
  }

  private clear(): void {
    this.generation = this.tasks.recording.generation;
    this.lanes.clear();
    this.taken = 0;
    this.waiting = [];
  }

  private take(row: number): void {
    const { recording } = this.tasks;
    const table = recording.table('phases');
    const attempt = this.tasks.attemptRow(table.numbers('run')[row]);
    if (attempt < 0) {
      this.waiting.push(row);
      return;
    }
    const attempts = recording.table('attempts');
    const worker = attempts.text('worker', attempt);
    const thread = attempts.text('thread', attempt) || runOf(this.tasks, attempt).thread;
    const key = `${worker}\n${thread}`;
    let lane = this.lanes.get(key);
    if (!lane) {
      lane = new Lane(worker, thread);
      this.lanes.set(key, lane);
    }
    const found = ACTIONS.indexOf(table.text('action', row) as (typeof ACTIONS)[number]);
    const action = found < 0 ? ACTIONS.length - 1 : found;
    const start = table.times('start')[row];
    const stop = table.times('stop')[row];
    if (start <= stop) lane.add(start, stop, action, OK, row);
  }
}
