import { IdIndex } from './columns';
import type { Recording } from './recording';
import { NOTHING } from './schema';
import { chosenFlags, type Filter } from './selection';
import { taskTest, timeOf } from './task-filter';
import type { Tasks } from './tasks';

/** What went from one worker to another. */
export interface Flow {
  /** Addresses; '' is none of the workers, as the client that fetches results. */
  readonly from: string;
  readonly to: string;
  readonly transfers: number;
  readonly nbytes: number;
  /** Seconds that the transfers took, summed: those at one time count each. */
  readonly seconds: number;
}

/** Results of one task name that were carried. */
export interface Carried {
  readonly name: string;
  /** Types of them, that with most bytes first. */
  readonly types: readonly string[];
  readonly results: number;
  readonly nbytes: number;
  /** Their part of the seconds that their transfers took, by bytes. */
  readonly seconds: number;
}

export interface Flows {
  readonly pairs: readonly Flow[];
  readonly carried: readonly Carried[];
}

/**
 * Who sent what to whom within a filter, the most bytes first.
 *
 * Both sides report a transfer. The receiver's word is taken, and the sender's where there is none:
 * of what went to clients, and to workers that are gone without having told.
 */
export function flowsOf(tasks: Tasks, filter: Filter): Flows {
  const moved = movedIn(tasks.recording, filter);
  const { ends, pairs, nbytes, seconds } = moved;
  const { list, shares } = carriedBy(tasks, filter, moved);
  const byPair = new Map<number, { -readonly [K in keyof Flow]: Flow[K] }>();
  for (let row = 0; row < pairs.length; row++) {
    const pair = pairs[row];
    const share = shares ? shares[row] : 1;
    if (pair === NOTHING || share === 0) continue;
    let flow = byPair.get(pair);
    if (!flow) {
      const [from, to] = [ends[Math.floor(pair / ends.length)], ends[pair % ends.length]];
      flow = { from, to, transfers: 0, nbytes: 0, seconds: 0 };
      byPair.set(pair, flow);
    }
    flow.transfers++;
    flow.nbytes += share * (nbytes[row] || 0);
    flow.seconds += share * seconds(row);
  }
  const largest = (a: { nbytes: number }, b: { nbytes: number }): number => b.nbytes - a.nbytes;
  return { pairs: [...byPair.values()].sort(largest), carried: list.sort(largest) };
}

/** The transfers of a filter, each once. There are millions: arrays are by row of `transfers`. */
interface Moved {
  /** Addresses of senders and receivers. */
  readonly ends: readonly string[];
  /** Place of the sender times the number of ends, plus that of the receiver; NOTHING for what does not count. */
  readonly pairs: Uint32Array;
  readonly nbytes: ArrayLike<number>;
  seconds(row: number): number;
}

function movedIn(recording: Recording, filter: Filter): Moved {
  const table = recording.table('transfers');
  const [starts, stops] = [table.times('start'), table.times('stop')];
  const [worker, peer, direction] = (['worker', 'peer', 'direction'] as const).map(name =>
    table.symbols(name)
  );
  const ends = [...new Set(['', ...worker.names, ...peer.names])];
  const place = new Map(ends.map((address, at) => [address, at]));
  const [workers, peers] = [worker, peer].map(({ codes, names }) => {
    const places = Uint32Array.from(names, name => place.get(name) as number);
    return (row: number) => places[codes[row]] ?? 0;
  });
  const incoming = direction.find('in');
  const isIncoming = (row: number): boolean => direction.codes[row] === incoming;
  const pairOf = (row: number): number =>
    isIncoming(row) ? peers(row) * ends.length + workers(row) : workers(row) * ends.length + peers(row);
  const told = new Set<number>();
  for (let row = 0; row < table.rows; row++) if (isIncoming(row)) told.add(pairOf(row));
  const time = timeOf(recording, filter);
  const wanted = chosenFlags(ends, filter.workers);
  const pairs = new Uint32Array(table.rows).fill(NOTHING);
  for (let row = 0; row < table.rows; row++) {
    if (time && !(stops[row] >= time.start && starts[row] <= time.stop)) continue;
    const pair = pairOf(row);
    if (!isIncoming(row) && told.has(pair)) continue;
    if (wanted[workers(row)] + wanted[peers(row)] === 0) continue;
    pairs[row] = pair;
  }
  const seconds = (row: number): number => Math.max(0, stops[row] - starts[row]) || 0;
  return { ends, pairs, nbytes: table.numbers('nbytes'), seconds };
}

/** What they carried by task name; and, where tasks are chosen, which share of each is theirs, by row. */
function carriedBy(
  tasks: Tasks,
  filter: Filter,
  { pairs, seconds }: Moved
): { readonly list: Carried[]; readonly shares: Float64Array | undefined } {
  const { recording } = tasks;
  const index = new IdIndex();
  index.setAll(recording.table('transfers').numbers('transfer'), 0, pairs.length);
  const table = recording.table('transferred');
  const [ids, carriedTasks, nbytes] = [
    table.numbers('transfer'),
    table.numbers('task'),
    table.numbers('nbytes')
  ];
  const whole = new Float64Array(pairs.length);
  for (let at = 0; at < table.rows; at++) {
    const row = index.get(ids[at]);
    if (row >= 0) whole[row] += nbytes[at] || 0;
  }
  const nameOf = tasks.namer();
  const typeOf = typesOf(tasks);
  // What moved while a cell ran is that cell's doing, whoever made it.
  const passes = taskTest(tasks, { ...filter, runs: undefined, cells: undefined });
  const shares = filter.names || passes ? new Float64Array(pairs.length) : undefined;
  const sums = new Map<number, Sum>();
  for (let at = 0; at < table.rows; at++) {
    const row = index.get(ids[at]);
    if (row < 0 || pairs[row] === NOTHING) continue;
    const name = nameOf(carriedTasks[at]);
    if (filter.names && !filter.names.has(tasks.names[name])) continue;
    if (passes && !passes(0, carriedTasks[at])) continue;
    const share = whole[row] > 0 ? (nbytes[at] || 0) / whole[row] : 0;
    if (shares) shares[row] += share;
    let sum = sums.get(name);
    if (!sum) {
      sum = { results: 0, nbytes: 0, seconds: 0, types: new Map() };
      sums.set(name, sum);
    }
    sum.results++;
    sum.nbytes += nbytes[at] || 0;
    sum.seconds += share * seconds(row);
    const type = typeOf(carriedTasks[at]);
    sum.types.set(type, (sum.types.get(type) ?? 0) + (nbytes[at] || 0));
  }
  const list = [...sums].map(([name, { types, ...sum }]) => ({
    name: tasks.names[name],
    types: [...types]
      .sort((a, b) => b[1] - a[1])
      .map(([type]) => type)
      .filter(type => type !== ''),
    ...sum
  }));
  return { list, shares };
}

interface Sum {
  results: number;
  nbytes: number;
  seconds: number;
  readonly types: Map<string, number>;
}

/** The type of a task's result, '' if unknown. */
function typesOf(tasks: Tasks): (task: number) => string {
  const attempts = tasks.recording.table('attempts');
  const ids = attempts.numbers('task');
  const { codes, names } = attempts.symbols('typename');
  const types = new Uint32Array(tasks.recording.table('graph').rows);
  for (let row = 0; row < attempts.rows; row++) {
    const at = tasks.graphRow(ids[row]);
    if (at >= 0 && names[codes[row]]) types[at] = codes[row] + 1;
  }
  return task => names[types[tasks.graphRow(task)] - 1] ?? '';
}
