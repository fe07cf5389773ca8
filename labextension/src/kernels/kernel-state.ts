/** What a kernel says of itself, as `session/live.py` describes it. */
export interface KernelState {
  /** Execution count of the cell that runs. */
  readonly busy: number | undefined;
  readonly clusters: readonly ClusterState[];
  /** The local schedulers, once they have run something. */
  readonly local: ClusterState | undefined;
  /** Attempts kept at most; undefined if all are, and while there are fewer. */
  readonly limit: number | undefined;
  /** Rows that are not kept any more, by table. */
  readonly dropped: ReadonlyMap<string, number>;
  /** In words, what could not be recorded, and that it rests. */
  readonly notes: readonly string[];
  /** Whether it sends nothing until something runs or somebody is there. */
  readonly resting: boolean;
}

export interface ClusterState {
  /** Of the scheduler; '' for the local schedulers. */
  readonly address: string;
  readonly workers: number;
  /** Of them those that Dask has paused for lack of memory. */
  readonly paused: number;
  readonly threads: number;
  /** Bytes. */
  readonly memory: number;
  /** Bytes; undefined if there is none. */
  readonly memoryLimit: number | undefined;
  readonly tasks: Readonly<{ total: number; done: number; erred: number }>;
}

type Values = Readonly<Record<string, unknown>>;

/** Reads what a kernel has said; what is missing or makes no sense counts as nothing. */
export function readState(state: unknown): KernelState {
  const said = record(state);
  const history = record(said.history);
  const limit = number(history.limit);
  const busy = record(said.busy).execution;
  return {
    busy: typeof busy === 'number' ? busy : undefined,
    clusters: Array.isArray(said.clusters) ? said.clusters.map(each => cluster(record(each))) : [],
    local: said.local ? cluster(record(said.local)) : undefined,
    limit: limit > 0 && number(history.attempts) >= limit ? limit : undefined,
    dropped: new Map(Object.entries(record(history.dropped)).map(([table, rows]) => [table, number(rows)])),
    notes: Array.isArray(said.notes) ? said.notes.filter(each => typeof each === 'string') : [],
    resting: said.resting === true
  };
}

function cluster(said: Values): ClusterState {
  const tasks = record(said.tasks);
  return {
    address: typeof said.address === 'string' ? said.address : '',
    workers: number(said.workers),
    paused: number(said.paused),
    threads: number(said.threads),
    memory: number(said.memory),
    memoryLimit: number(said.memory_limit) || undefined,
    tasks: { total: number(tasks.total), done: number(tasks.done), erred: number(tasks.erred) }
  };
}

/** All clusters together; tasks also of the local schedulers, whose threads are none of a cluster's. */
export function totalOf({ clusters, local }: KernelState): ClusterState {
  const all = local ? [...clusters, local] : clusters;
  const limited = clusters.length > 0 && clusters.every(each => each.memoryLimit !== undefined);
  return {
    address: '',
    workers: sum(clusters, each => each.workers),
    paused: sum(clusters, each => each.paused),
    threads: sum(clusters, each => each.threads),
    memory: sum(clusters, each => each.memory),
    memoryLimit: limited ? sum(clusters, each => each.memoryLimit ?? 0) : undefined,
    tasks: {
      total: sum(all, each => each.tasks.total),
      done: sum(all, each => each.tasks.done),
      erred: sum(all, each => each.tasks.erred)
    }
  };
}

function sum(all: readonly ClusterState[], of: (each: ClusterState) => number): number {
  return all.reduce((before, each) => before + of(each), 0);
}

function record(value: unknown): Values {
  return typeof value === 'object' && value !== null ? (value as Values) : {};
}

function number(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}
