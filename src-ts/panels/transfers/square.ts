import type { Flow } from '../../core/flows';
import { natural } from '../../core/natural';
import type { Tasks } from '../../core/tasks';
import { workerLabel } from '../worker-label';
import type { Sums } from './measures';

/** A line or column: a worker, several that share it for lack of room, or those who are none. */
export interface End {
  readonly label: string;
  /** Addresses; none of who is no worker. */
  readonly workers: readonly string[];
}

/** Cells by sender, a line each, and receiver, a column each. */
export interface Square {
  readonly senders: readonly End[];
  readonly receivers: readonly End[];
  /** By sender times the number of receivers, plus receiver; undefined where nothing was sent. */
  readonly cells: readonly (Sums | undefined)[];
}

/** Puts flows into a square of at most so many lines; neighbours by name share one where there are more. */
export function squareOf(flows: readonly Flow[], tasks: Tasks, most: number): Square {
  const addresses = new Set(flows.flatMap(({ from, to }) => [from, to]).filter(worker => worker !== ''));
  const workers = [...addresses]
    .map(address => [address, workerLabel(tasks, address)] as const)
    .sort((a, b) => natural(a[1], b[1]));
  const share = Math.max(1, Math.ceil(workers.length / Math.max(1, most - 1)));
  const ends: End[] = [];
  for (let first = 0; first < workers.length; first += share) {
    const some = workers.slice(first, first + share);
    const label = rangeOf(some[0][1], some[some.length - 1][1]);
    ends.push({ label, workers: some.map(([address]) => address) });
  }
  const others = (is: boolean, label: string): End[] => (is ? [{ label, workers: [] }] : []);
  const senders = [
    ...ends,
    ...others(
      flows.some(({ from }) => from === ''),
      'unknown'
    )
  ];
  const receivers = [
    ...ends,
    ...others(
      flows.some(({ to }) => to === ''),
      'clients'
    )
  ];
  const placeOf = new Map(ends.flatMap(({ workers: own }, at) => own.map(address => [address, at] as const)));
  const cells: (Sums | undefined)[] = new Array(senders.length * receivers.length).fill(undefined);
  for (const { from, to, transfers, nbytes, seconds } of flows) {
    const [line, column] = [from, to].map(worker => placeOf.get(worker) ?? ends.length);
    const at = line * receivers.length + column;
    const before = cells[at] ?? { transfers: 0, nbytes: 0, seconds: 0 };
    cells[at] = {
      transfers: before.transfers + transfers,
      nbytes: before.nbytes + nbytes,
      seconds: before.seconds + seconds
    };
  }
  return { senders, receivers, cells };
}

/** From one worker to another: `workers 0–3` where they have numbers. */
function rangeOf(one: string, last: string): string {
  const [from, to] = [one, last].map(label => /^worker (\d+)$/.exec(label)?.[1]);
  if (one === last) return one;
  return from && to ? `workers ${from}–${to}` : `${one} … ${last}`;
}
