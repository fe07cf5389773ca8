import { append } from './append';
import { Lane } from './lane';
import { byNatural, naturalKey } from './natural';
import type { Recording } from './recording';
import { clustersOf, type Worker, workersOf } from './workers-of';

/** With more lanes than this the threads of a worker that ran nothing share one. */
const MOST_APART = 200;

/** Stands between a worker's name and the number of its cluster. */
export const OF_CLUSTER = ' · cluster ';

/**
 * The lanes of a recording, one a thread of a worker, and the names of the workers. Threads on which nothing has
 * run have lanes too: a thread that comes into use takes the place of one, so that no other lane moves far.
 */
export class Lanes {
  private readonly byKey = new Map<string, Lane>();
  /** Lanes of threads on which nothing ran, kept so that they stay the same. */
  private readonly unused = new Map<string, Lane>();
  private sorted: readonly Lane[] | undefined;
  private workers: ReadonlyMap<string, Worker> | undefined;

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
    this.unused.clear();
    this.rename();
  }

  /** Names of workers have changed. */
  rename(): void {
    this.sorted = undefined;
    this.workers = undefined;
  }

  /** A worker's name, with its cluster's number where others have workers of that name; or its address; '' for none. */
  workerName(worker: string): string {
    return this.known(worker)?.name || worker;
  }

  private known(worker: string): Worker | undefined {
    return this.told().get(worker);
  }

  private told(): ReadonlyMap<string, Worker> {
    this.workers ??= toldApart(this.recording);
    return this.workers;
  }

  private unusedLanes(): Lane[] {
    const counts = [...this.unusedThreads()];
    const apart = counts.reduce((sum, [, count]) => sum + count, this.byKey.size) <= MOST_APART;
    return counts.flatMap(([worker, count]) =>
      apart
        ? Array.from({ length: count }, (_, at) => this.unusedLane(worker, at, 1))
        : [this.unusedLane(worker, 0, count)]
    );
  }

  private unusedLane(worker: string, at: number, threads: number): Lane {
    const thread = `unused ${at}`;
    const key = `${keyOf(worker, thread)} ${threads}`;
    const lane = this.unused.get(key) ?? new Lane(worker, thread, threads);
    this.unused.set(key, lane);
    return lane;
  }

  /** How many threads each worker has on which nothing ran, of those that were there in the recording's time. */
  private unusedThreads(): Map<string, number> {
    const used = new Map<string, number>();
    for (const { worker } of this.byKey.values()) used.set(worker, (used.get(worker) ?? 0) + 1);
    const { begin } = this.recording;
    const until = Number(this.recording.about('until') ?? Number.POSITIVE_INFINITY);
    const counts = new Map<string, number>();
    for (const [worker, { threads, joined, left }] of this.told()) {
      const count = threads - (used.get(worker) ?? 0);
      if (count > 0 && !(left <= begin || joined >= until)) counts.set(worker, count);
    }
    return counts;
  }

  private sort(): Lane[] {
    const byWorker = new Map<string, Lane[]>();
    for (const lane of [...this.byKey.values(), ...this.unusedLanes()]) {
      append(byWorker, lane.worker, lane);
    }
    // Keys are made once: lanes are many, and a new one has them all put in order again.
    const workers = [...byWorker].map(([worker, lanes]) => {
      const known = this.known(worker);
      const place = naturalKey(`${known?.cluster ?? ''} ${this.workerName(worker)}`);
      return { lanes, place, joined: known?.joined ?? 0, address: naturalKey(worker) };
    });
    workers.sort(
      (a, b) =>
        Number(a.address.name === '') - Number(b.address.name === '') ||
        byNatural(a.place, b.place) ||
        a.joined - b.joined ||
        byNatural(a.address, b.address)
    );
    return workers.flatMap(({ lanes }) =>
      lanes.sort(
        (a, b) =>
          Number(a.thread === '') - Number(b.thread === '') ||
          a.unused - b.unused ||
          byNatural(a.threadKey, b.threadKey)
      )
    );
  }
}

/** Names that workers of several clusters have get the number of the cluster, in the order in which those came. */
function toldApart(recording: Recording): ReadonlyMap<string, Worker> {
  const workers = workersOf(recording);
  const clusters = clustersOf(recording);
  if (clusters.length < 2) return workers;
  const clustersByName = new Map<string, Set<string>>();
  for (const { name, cluster } of workers.values()) {
    if (name && cluster) clustersByName.set(name, (clustersByName.get(name) ?? new Set()).add(cluster));
  }
  const apart = new Map(workers);
  for (const [worker, known] of workers) {
    const { name, cluster } = known;
    if (!cluster || (clustersByName.get(name)?.size ?? 0) < 2) continue;
    apart.set(worker, { ...known, name: `${name}${OF_CLUSTER}${clusters.indexOf(cluster) + 1}` });
  }
  return apart;
}

function keyOf(worker: string, thread: string): string {
  return `${worker}\n${thread}`;
}
