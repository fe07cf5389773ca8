import { Lane } from './lane';
import { natural } from './natural';
import type { Recording } from './recording';

interface Known {
  readonly name: string;
  readonly joined: number;
  readonly cluster: string;
}

/** The lanes of a recording, one a thread of a worker, and the names of the workers. */
export class Lanes {
  private readonly byKey = new Map<string, Lane>();
  private sorted: readonly Lane[] | undefined;
  private workers: ReadonlyMap<string, Known> | undefined;

  constructor(private readonly recording: Recording) {}

  /** Cluster by cluster, grouped by worker, in the order of their names; of those called alike, as they joined. */
  get inOrder(): readonly Lane[] {
    this.sorted ??= this.sort();
    return this.sorted;
  }

  find(worker: string, thread: string): Lane | undefined {
    return this.byKey.get(keyOf(worker, thread));
  }

  /** The lane of a thread, made where there is none. */
  get(worker: string, thread: string): Lane {
    const key = keyOf(worker, thread);
    let lane = this.byKey.get(key);
    if (!lane) {
      lane = new Lane(worker, thread);
      this.byKey.set(key, lane);
      this.sorted = undefined;
    }
    return lane;
  }

  delete({ worker, thread }: Lane): void {
    this.byKey.delete(keyOf(worker, thread));
    this.sorted = undefined;
  }

  clear(): void {
    this.byKey.clear();
    this.rename();
  }

  /** Names of workers have changed. */
  rename(): void {
    this.sorted = undefined;
    this.workers = undefined;
  }

  /** A worker's name in the cluster, or its address; '' for no worker. */
  workerName(worker: string): string {
    return this.known(worker)?.name || worker;
  }

  private known(worker: string): Known | undefined {
    this.workers ??= this.readWorkers();
    return this.workers.get(worker);
  }

  private readWorkers(): Map<string, Known> {
    const told = this.recording.table('workers');
    const joined = told.times('joined');
    const workers = new Map<string, Known>();
    // A later row replaces an earlier one.
    for (let row = 0; row < told.rows; row++)
      workers.set(told.text('worker', row), {
        name: told.text('name', row),
        joined: joined[row],
        cluster: told.text('cluster', row)
      });
    return workers;
  }

  private sort(): Lane[] {
    const place = ({ worker }: Lane): string =>
      `${this.known(worker)?.cluster ?? ''} ${this.workerName(worker)}`;
    return [...this.byKey.values()].sort(
      (a, b) =>
        Number(a.worker === '') - Number(b.worker === '') ||
        natural(place(a), place(b)) ||
        (this.known(a.worker)?.joined ?? 0) - (this.known(b.worker)?.joined ?? 0) ||
        natural(a.worker, b.worker) ||
        Number(a.thread === '') - Number(b.thread === '') ||
        natural(a.thread, b.thread)
    );
  }
}

function keyOf(worker: string, thread: string): string {
  return `${worker}\n${thread}`;
}
