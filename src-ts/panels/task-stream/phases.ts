import { Lane, OK } from '../../core/lane';
import { SECEDED } from '../../core/schema';
import { isSizing, sizersOf } from '../../core/sizing';
import { runOf } from '../../core/task-run';
import type { Tasks } from '../../core/tasks';
import type { Reserved } from '../../draw/palette';
import { FIRST_NAME, FULL } from './cells';

/** The actions of the `phases` table, as indices into this list; finding out sizes is none of Dask's. */
export const ACTIONS = [
  'transfer',
  'disk-read',
  'disk-write',
  'deserialize',
  'compress',
  SECEDED,
  'sizing',
  'other'
] as const;

/** Its index: the task ran, but held no thread. */
export const AWAY = ACTIONS.indexOf(SECEDED);

const SIZING = ACTIONS.indexOf('sizing');

/** Whether that fills most of a cell of phases. */
export function isAway(cell: number): boolean {
  return cell >>> 6 === AWAY + FIRST_NAME && (cell & FULL) > FULL / 2;
}

/** The colour that Dask gives an action. */
export function reservedOf(action: number): Reserved {
  if (action === 0) return 'transfer';
  if (action <= 2) return 'disk';
  if (action === SIZING) return 'overhead';
  return action === 3 ? 'deserialize' : 'compress';
}

/** What happened around the tasks of each lane, as lanes of their own. */
export class Phases {
  private readonly lanes = new Map<string, Lane>();
  private taken = 0;
  /** Grows when the lanes of phases have all become others. */
  generation = 0;
  private ofRecording = 0;
  private sizers: ReadonlySet<string> = new Set();
  /** Rows whose attempt has not arrived. */
  private waiting: number[] = [];
  /** Changes with what `of` returns. */
  version = '';

  constructor(private readonly tasks: Tasks) {}

  /** Takes what has arrived since. */
  update(): void {
    const { recording } = this.tasks;
    const state = `${this.tasks.version}|${recording.state('phases', 'metrics')}`;
    if (state === this.version) return;
    this.version = state;
    const sizers = sizersOf(recording);
    const isOther = [...sizers].join() !== [...this.sizers].join();
    if (isOther || this.ofRecording !== recording.generation) this.clear();
    this.sizers = sizers;
    const again = this.waiting;
    this.waiting = [];
    const take = this.taker();
    for (const row of again) take(row);
    const table = recording.table('phases');
    for (; this.taken < table.rows; this.taken++) take(this.taken);
  }

  /** The phases of a lane of tasks; their `name` is an index into `ACTIONS`. */
  of(lane: Lane): Lane | undefined {
    return this.lanes.get(`${lane.worker}\n${lane.thread}`);
  }

  private clear(): void {
    this.generation++;
    this.ofRecording = this.tasks.recording.generation;
    this.lanes.clear();
    this.taken = 0;
    this.waiting = [];
  }

  /** Takes rows one by one: valid until the next append. */
  private taker(): (row: number) => void {
    const { tasks } = this;
    const table = tasks.recording.table('phases');
    const runs = table.numbers('run');
    const starts = table.times('start');
    const stops = table.times('stop');
    const { codes, names } = table.symbols('action');
    const actions = names.map(actionOf);
    const attempts = tasks.recording.table('attempts');
    const workers = attempts.symbols('worker');
    const threads = attempts.symbols('thread');
    const wide = threads.names.length;
    const lanes = new Map<number, Lane>();
    return row => {
      const attempt = tasks.attemptRow(runs[row]);
      if (attempt < 0) {
        this.waiting.push(row);
        return;
      }
      if (!(starts[row] <= stops[row])) return;
      const place = workers.codes[attempt] * wide + threads.codes[attempt];
      let lane = lanes.get(place);
      if (!lane) {
        const worker = workers.names[workers.codes[attempt]];
        const thread = threads.names[threads.codes[attempt]];
        lane = this.lane(worker, thread || runOf(tasks, attempt).thread);
        // Where the thread is not known, each attempt may have another.
        if (thread !== '') lanes.set(place, lane);
      }
      const sizes = isSizing(names[codes[row]], workers.names[workers.codes[attempt]], this.sizers);
      lane.add(starts[row], stops[row], sizes ? SIZING : actions[codes[row]], OK, row);
    };
  }

  private lane(worker: string, thread: string): Lane {
    const key = `${worker}\n${thread}`;
    let lane = this.lanes.get(key);
    if (!lane) {
      lane = new Lane(worker, thread);
      this.lanes.set(key, lane);
    }
    return lane;
  }
}

function actionOf(name: string): number {
  const found = ACTIONS.indexOf(name as (typeof ACTIONS)[number]);
  return found < 0 ? ACTIONS.length - 1 : found;
}
