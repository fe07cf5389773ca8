// Generated from dask_insight/schema.py by `python -m dask_insight.codegen`. Do not edit.

/** The id that stands for 'no task', 'no run' or 'no stack'. */
export const NOTHING = 4294967295;
/** The action of `phases` in which a task ran on, but had given its thread back. */
export const SECEDED = 'seceded';

export const TABLES = {
  /** Facts about the recording as a whole; a later row replaces an earlier one of the same name. */
  about: {
    /** What the fact is about: format, name, started, versions, config … */
    name: 'sym',
    /** The fact, as JSON. */
    value: 'str'
  },
  /** Every task, once, where it was first seen. */
  graph: {
    /** Id of the task within the recording. */
    task: 'u32',
    /** Dask's key, as text. */
    key: 'str',
    /** Task name: Dask's prefix of the key. */
    prefix: 'sym',
    /** Id of the innermost span; see `spans`. */
    span: 'sym',
    /** The submission that brought the task; see `submissions`. 4294967295 if it was there before the recording began, or that is unknown. */
    submission: 'u32',
    /** Rank given by dask.order within the submission; 4294967295 of what was there before and is not to run, as data that a client scatters. */
    order: 'u32',
    /** The scheduler's state of it (memory, waiting …) when a cluster dump was made; memory or erred if it had ended when the recording began; '' elsewhere. */
    state: 'sym'
  },
  /** Every dependency between tasks. */
  edges: {
    /** The task that needs the result. */
    task: 'u32',
    /** The task whose result is needed. */
    dependency: 'u32'
  },
  /** Every ended attempt to run a task, as its scheduler saw it; tasks given up while they waited, too: cancelled, with no worker. */
  attempts: {
    /** Id of the attempt within the recording. */
    run: 'u32',
    /** The task; see `graph`. */
    task: 'u32',
    /** Worker it was given to; see `workers`. '' if none was chosen. */
    worker: 'sym',
    /** Thread it ran on, within the worker. */
    thread: 'sym',
    /** How it ended: ok, erred, retried, killed, cancelled, stolen, rescheduled. In a part of a run that was over before it began: waiting, with the worker that it was to get, and the thread if it was next on that. */
    status: 'sym',
    /** When its function returned or raised. */
    stop: 'time',
    /** When its function was called. */
    start: 'time',
    /** When the scheduler knew that it had ended; of one that waits, until when. */
    done: 'time',
    /** When the scheduler sent it to the worker. */
    assigned: 'time',
    /** When its last input was in memory. */
    ready: 'time',
    /** When the scheduler first wanted it. */
    submitted: 'time',
    /** 1 if it stood in the scheduler's queue between ready and assigned. */
    queued: 'u8',
    /** Size of the result, bytes; NaN if there is none. */
    nbytes: 'f64',
    /** Type of the result. */
    typename: 'sym'
  },
  /** The same attempts, as their worker saw them; joined to `attempts` by run. */
  executions: {
    /** Id of the attempt. */
    run: 'u32',
    /** The worker. */
    worker: 'sym',
    /** Thread it ran on; only where `attempts` cannot know it. */
    thread: 'sym',
    /** When the worker's event loop took the result. */
    ended: 'time',
    /** When its function ended, if the worker knows better. */
    stop: 'time',
    /** When its function began, if the worker knows better. */
    start: 'time',
    /** When it was given a thread. */
    executing: 'time',
    /** When its inputs had arrived and it waited for a thread. */
    ready: 'time',
    /** When the worker had the request. */
    received: 'time',
    /** CPU seconds its thread used; NaN if unknown. */
    cpu: 'f32',
    /** Change of the worker process's memory while it ran, MiB; NaN if unknown. */
    rss: 'f32'
  },
  /** Attempts seen running before they ended; the ended ones are in `attempts` too. */
  running: {
    /** Id of the attempt. */
    run: 'u32',
    /** The task. */
    task: 'u32',
    /** The worker. */
    worker: 'sym',
    /** The thread. */
    thread: 'sym',
    /** When it was given a thread. */
    start: 'time'
  },
  /** What happened around the computing of an attempt; and when it ran beside its worker's threads. On clusters a use of the disk is told from 5 ms on, deserializing in `metrics` alone, and a transfer stands with one of the tasks that waited for it: `transfers` has all. */
  phases: {
    /** Id of the attempt. */
    run: 'u32',
    /** transfer, disk-read, disk-write, deserialize, serialize, compress; seceded: it had given its thread back. */
    action: 'sym',
    /** Start. */
    start: 'time',
    /** End. */
    stop: 'time'
  },
  /** Exceptions, one row an attempt that raised. */
  errors: {
    /** Id of the attempt. */
    run: 'u32',
    /** repr of the exception. */
    exception: 'str',
    /** The traceback as text. */
    traceback: 'sym'
  },
  /** Messages with data between workers, as each side saw them. */
  transfers: {
    /** Id of the transfer within the recording. */
    transfer: 'u32',
    /** The worker that reports it. */
    worker: 'sym',
    /** The other side; '' if unknown. */
    peer: 'sym',
    /** in or out. */
    direction: 'sym',
    /** Start. */
    start: 'time',
    /** End. */
    stop: 'time',
    /** Bytes of data. */
    nbytes: 'f64'
  },
  /** When schedulers let go of results, which were in memory or on disk until then. */
  releases: {
    /** The task whose result it was. */
    task: 'u32',
    /** When. */
    time: 'time'
  },
  /** The task results that each transfer carried. */
  transferred: {
    /** The transfer. */
    transfer: 'u32',
    /** The task whose result was carried. */
    task: 'u32',
    /** Its bytes. */
    nbytes: 'f64'
  },
  /** Samples of every process: workers, scheduler, client. NaN where a figure cannot be had. */
  resources: {
    /** Worker, or 'scheduler', or 'client'. */
    process: 'sym',
    /** When. */
    time: 'time',
    /** CPU use, per cent of one core. */
    cpu: 'f32',
    /** Resident memory, bytes. */
    memory: 'f64',
    /** Host's network, bytes received a second, over up to 2 s. */
    net_read: 'f32',
    /** Host's network, bytes sent a second, over up to 2 s. */
    net_write: 'f32',
    /** Host's disks, bytes read a second, over up to 2 s. */
    disk_read: 'f32',
    /** Host's disks, bytes written a second, over up to 2 s. */
    disk_write: 'f32',
    /** Host's CPU use by all programs, per cent of all its cores, over up to 2 s. */
    host_cpu: 'f32',
    /** Host's memory that could still be had, bytes. */
    host_free: 'f64',
    /** Open file descriptors (handles on Windows), up to 2 s before. */
    fds: 'f32',
    /** Longest delay of the event loop since the last sample, seconds. */
    lag: 'f32',
    /** Share of time in which a thread waited for the GIL, 0 to 1. */
    gil: 'f32',
    /** Tasks running. On the scheduler: processing. */
    executing: 'f32',
    /** Tasks waiting for a thread. On the scheduler: queued. */
    ready: 'f32',
    /** Tasks waiting for data. On the scheduler: that no worker can run now. */
    waiting: 'f32',
    /** Seconds of work that the scheduler expects on the worker. */
    occupancy: 'f32',
    /** Open incoming transfers. */
    transfers_in: 'f32',
    /** Open outgoing transfers. */
    transfers_out: 'f32',
    /** Share of the limit's periods (0.1 s each by default) since the last sample in which it was reached, so that nothing ran until their end, 0 to 1; NaN if there is none. */
    throttled: 'f32'
  },
  /** When Python looked for garbage: collections of its cyclic collector, short ones put together. */
  collections: {
    /** How long it took, seconds. */
    duration: 'f32',
    /** The attempt whose thread it took place on; 4294967295 if none. */
    run: 'u32'
  },
  /** Samples of every visible GPU; Dask-CUDA's workers tell of their own alone. */
  gpus: {
    /** The worker (or client) that sees it. */
    process: 'sym',
    /** When. */
    time: 'time',
    /** Index of the device on its host. */
    index: 'u8',
    /** Per cent of time in which a kernel ran. */
    utilization: 'f32',
    /** Memory used, bytes. */
    memory: 'f64'
  },
  /** Dask's memory measures of each worker, as the scheduler knows them. Bytes. */
  memory: {
    /** The worker. */
    worker: 'sym',
    /** When. */
    time: 'time',
    /** Resident memory of the process. */
    process: 'f64',
    /** Task results in memory. */
    managed: 'f64',
    /** Memory outside task results that stayed 30 s or more. */
    unmanaged_old: 'f64',
    /** Memory outside task results that came in the last 30 s. */
    unmanaged_recent: 'f64',
    /** Task results on disk. */
    spilled: 'f64'
  },
  /** Call stacks as a tree: each row is a frame above its parent. */
  stacks: {
    /** Id of this stack within the recording. */
    stack: 'u32',
    /** The calling stack; 4294967295 at the bottom. */
    parent: 'u32',
    /** Qualified name of the function. */
    function: 'sym',
    /** Its file. */
    file: 'sym',
    /** The line that was running. */
    line: 'u32',
    /** First line of the function. */
    first_line: 'u32'
  },
  /** What a thread was doing at a moment, weighted by the time it stands for. */
  samples: {
    /** Worker, or 'scheduler', or 'client'. */
    process: 'sym',
    /** End of the interval it stands for. */
    time: 'time',
    /** Length of that interval, seconds. */
    duration: 'f32',
    /** The stack; see `stacks`. */
    stack: 'u32',
    /** The attempt that ran; 4294967295 if none. */
    run: 'u32'
  },
  /** Fine performance metrics: what was added in each period. */
  metrics: {
    /** End of the period, which began with the worker's row of `clocks` before. */
    time: 'time',
    /** The worker. */
    worker: 'sym',
    /** execute, gather-dep, get-data, memory-monitor, p2p …; actor: calls of actors, not by Dask. */
    context: 'sym',
    /** Id of the span; '' outside execute. */
    span: 'sym',
    /** Task name; '' outside execute. */
    prefix: 'sym',
    /** What was done: thread-cpu, disk-read, decompress, a user's label … */
    activity: 'sym',
    /** seconds, bytes, count or a user's own. */
    unit: 'sym',
    /** Amount, in that unit. */
    value: 'f64'
  },
  /** Where the code of each task name stands, as far as it can be known; a row for each function met. */
  functions: {
    /** Task name: Dask's prefix of the key. */
    prefix: 'sym',
    /** Qualified name of the function. */
    function: 'sym',
    /** Its module; '' if unknown. */
    module: 'sym',
    /** Its file, or notebook cell; '' if unknown. */
    file: 'sym',
    /** Its first line; 0 if unknown. */
    line: 'u32'
  },
  /** Lines of source code that the other tables point to, where the client could read them. */
  lines: {
    /** The file, or notebook cell. */
    file: 'sym',
    /** Number of the line, from 1. */
    line: 'u32',
    /** The line, without the space at its ends. */
    text: 'str'
  },
  /** What happened besides tasks: workers, stealing, logs, users' events, and our own losses. */
  events: {
    /** When. */
    time: 'time',
    /** The process that reports it, or 'recorder'. */
    source: 'sym',
    /** worker-added, worker-removed, worker-exit (as its nanny says), worker-status, steal, graph, log, log-before (from before it was recorded, as Dask kept it), user, lost … */
    kind: 'sym',
    /** debug, info, warning or error. */
    level: 'sym',
    /** In words. */
    message: 'str',
    /** As JSON; '' if none. */
    detail: 'str'
  },
  /** Every worker; a later row replaces an earlier one of the same worker. */
  workers: {
    /** Its address; with '#2', '#3' … where an address was used again. */
    worker: 'sym',
    /** Its name in the cluster. */
    name: 'sym',
    /** Its host. */
    host: 'sym',
    /** Its process id; 0 if unknown. */
    pid: 'u32',
    /** A number of what gave it that id, a machine or a container; 0 if unknown. */
    namespace: 'u32',
    /** Number of task threads. */
    threads: 'u32',
    /** Memory limit, bytes; NaN if none. */
    memory_limit: 'f64',
    /** When the scheduler had it. */
    joined: 'time',
    /** When it was gone, or its cluster no longer recorded; NaN while it is there. */
    left: 'time',
    /** Address of its scheduler; '' of a local scheduler, or if unknown. */
    cluster: 'sym'
  },
  /** Every span; a later row replaces an earlier one of the same span. */
  spans: {
    /** Id of the span. */
    span: 'sym',
    /** Last part of its name. */
    name: 'sym',
    /** Id of the enclosing span; '' at the top. */
    parent: 'sym',
    /** The whole name, parts joined by ' / '. */
    path: 'str'
  },
  /** Every graph handed to a scheduler. */
  submissions: {
    /** Id of the submission within the recording. */
    submission: 'u32',
    /** When its tasks were known to the scheduler. */
    time: 'time',
    /** Number of new tasks. */
    tasks: 'u32',
    /** File, or notebook cell, of the line that started it; '' if unknown. */
    file: 'sym',
    /** That line; 0 if unknown. */
    line: 'u32',
    /** Function that holds the line. */
    function: 'sym',
    /** Execution count of that run of the cell; 0 if none. */
    execution: 'u32'
  },
  /** Every run of a notebook cell; a later row replaces an earlier one of the same execution. */
  cells: {
    /** Execution count in the kernel: the number beside the cell. */
    execution: 'u32',
    /** The cell's source. */
    code: 'str',
    /** When it began, on the clock of the tasks. */
    start: 'time',
    /** When it ended; NaN while it runs. */
    stop: 'time',
    /** running, ok or error. */
    status: 'sym'
  },
  /** How each worker's clock stands to the scheduler's. */
  clocks: {
    /** The worker. */
    worker: 'sym',
    /** When. */
    time: 'time'
  },
  /** What kept the run from ending sooner: the path of blame, worked out from the other tables. */
  critical: {
    /** When this stretch began: where the one before it ended. */
    start: 'time',
    /** When it ended. */
    stop: 'time',
    /** What it went into: compute, disk, worker, transfer, thread, scheduler or client. */
    kind: 'sym',
    /** What waited for its task: end (of the run), input, thread, submission or retry. */
    because: 'sym',
    /** Its task; 4294967295 if none. */
    task: 'u32',
    /** The attempt at it; 4294967295 if none. */
    run: 'u32',
    /** Worker of the attempt. */
    worker: 'sym',
    /** Thread of the attempt. */
    thread: 'sym',
    /** Address of the scheduler that it is about; 'local' for local schedulers, '' if unknown. */
    cluster: 'sym',
    /** Counts how often it was worked out: only rows of the highest number are valid. */
    edition: 'u32'
  },
  /** Where the time of all worker threads went, without remainder; made from the other tables when it is asked for. A row stands for (stop - start) * threads thread-seconds, spread evenly. One of no length stands for none: it tells how many thread-seconds of the rows without a name, of its part, span and submission, belong to its name. */
  budget: {
    /** The worker. */
    worker: 'sym',
    /** Thread within the worker; '' if the row stands for several, or for unused ones. */
    thread: 'sym',
    /** Start. */
    start: 'time',
    /** End. */
    stop: 'time',
    /** Threads that it took, on average between start and stop; thread-seconds if these are the same. */
    threads: 'f32',
    /** What they did: cpu, off-cpu, compute, failed, deserialize, serialize, disk, overhead, or 'custom: ' and a user's label; or why they were idle: inputs, data, processes, placement, scheduler, paused, resources, client, joining, leaving. */
    part: 'sym',
    /** Task name that ran, or was waited for; '' if none. */
    name: 'sym',
    /** Its span. */
    span: 'sym',
    /** Its submission; 4294967295 if none. */
    submission: 'u32',
    /** Counts how often it was worked out: only rows of the highest number are valid. */
    edition: 'u32'
  },
  /** What cost time or puts the run at risk, most important first; worked out from the other tables. One row with the code '' says that nothing was found. */
  findings: {
    /** What it is; see `dask-insight findings --rules`. */
    code: 'sym',
    /** info, warning or critical; 'gap' for a rule that could not be worked out: `why` tells. */
    severity: 'sym',
    /** One line that names it. */
    title: 'str',
    /** What happened; paragraphs parted by blank lines, code after four spaces. */
    why: 'str',
    /** What to do about it, likewise. */
    advice: 'str',
    /** Dask's own page on it. */
    url: 'sym',
    /** Task names that it concerns, most concerned first, as a JSON list. */
    tasks: 'str',
    /** Workers that it concerns, likewise. */
    workers: 'str',
    /** When it began; NaN if it concerns the whole run. */
    start: 'time',
    /** When it ended. */
    stop: 'time',
    /** Thread-seconds that it took; 0 if none. */
    cost_thread_seconds: 'f64',
    /** Seconds that the run would be shorter by; 0 for a risk that costs no time. */
    cost_seconds: 'f64',
    /** Figures behind it: JSON, [name, value, unit, threshold or null] each. */
    evidence: 'str',
    /** Counts how often it was worked out: only rows of the highest number are valid. */
    edition: 'u32'
  },
  /** How much faster the run could be: bounds of its time, then what a simulated cluster says of some changes, the fastest first; worked out from the other tables. */
  what_if: {
    /** recorded; its bounds: longest (chain of tasks that need one another), spread (all work over all threads) and most (Brent's bound); calibration (the recorded run, simulated); what was changed: workers, threads, faster, transfers, spilling or chunks; note (of all answers) or gap (what was not asked). */
    question: 'sym',
    /** It in words. */
    text: 'str',
    /** Workers, threads, or how many times as fast or as large; NaN if none. */
    value: 'f64',
    /** Task names that it is about, as a JSON list. */
    tasks: 'str',
    /** How long the run took, or would take. */
    seconds: 'f64',
    /** Least that it would take, where the simulation fits badly. */
    low: 'f64',
    /** Most that it would take then. */
    high: 'f64',
    /** How much too long the recorded run is simulated: 0.1 is 10 %. */
    error: 'f64',
    /** What one must know of this answer, a line each. */
    notes: 'str',
    /** Address of the scheduler that it is about; 'local' for local schedulers, '' if unknown. */
    cluster: 'sym',
    /** Counts how often it was worked out: only rows of the highest number are valid. */
    edition: 'u32'
  },
  /** What was compared, a row a side; only in a comparison, as all tables named so. Figures are means over the runs of the side. */
  compared_sides: {
    /** Number of the side; 0 is the baseline, with which the others are compared. */
    side: 'u8',
    /** Its name. */
    name: 'sym',
    /** Recorded runs of it. */
    runs: 'u32',
    /** Workers, the most that were there at once. */
    workers: 'f32',
    /** Threads that they offered, mean while any was there. */
    threads: 'f32',
    /** Wall time from the first submission to the last result, without standstills. */
    seconds: 'f64',
    /** Wall time minus that of the baseline; NaN for the baseline. */
    change: 'f64',
    /** A change up to this, either way, says nothing. */
    noise: 'f64',
    /** baseline, same (within the noise), slower, faster, or unknown where no task ran. */
    verdict: 'sym',
    /** The verdict in words; '' for the baseline. */
    text: 'str'
  },
  /** Every run that was compared. */
  compared_runs: {
    /** Its side. */
    side: 'u8',
    /** Name of its recording. */
    name: 'sym',
    /** Wall time, without standstills. */
    seconds: 'f64'
  },
  /** The time budget of every side, a row a part and side. */
  compared_budget: {
    /** The side. */
    side: 'u8',
    /** computing, overhead or idle. */
    kind: 'sym',
    /** Part of the time budget, as in `budget`. */
    part: 'sym',
    /** Their share of all thread-seconds, 0 to 1. */
    share: 'f64',
    /** That share of the wall time; these add up to the side's wall time. */
    wall: 'f64',
    /** `wall` minus that of the baseline; NaN for the baseline. */
    change: 'f64',
    /** A change up to this, either way, says nothing. */
    noise: 'f64',
    /** baseline, same (within the noise), more or less. */
    verdict: 'sym'
  },
  /** Task names of every side, a row a name and side; names in the order of what their change matters. */
  compared_names: {
    /** The side. */
    side: 'u8',
    /** Task name; with … for a part that differs between the sides. */
    name: 'sym',
    /** The side's own names that stand together in this row, as a JSON list. */
    names: 'str',
    /** Attempts that ran, mean over the runs. */
    count: 'f64',
    /** Time for which task functions held a thread, summed, mean over runs. */
    seconds: 'f64',
    /** Mean time of an attempt; NaN where none ran. */
    mean: 'f64',
    /** Mean CPU time of an attempt; NaN if unknown. */
    cpu: 'f64',
    /** Share of the side's time in task functions, 0 to 1. */
    share: 'f64',
    /** `mean` minus that of the baseline; NaN if one of them has none. */
    change: 'f64',
    /** A change up to this, either way, says nothing. */
    noise: 'f64',
    /** `cpu` minus that of the baseline; NaN if unknown. */
    cpu_change: 'f64',
    /** What the change of `seconds` costs, spread over the side's threads; less than 0 if it saves. For costlier and cheaper that of CPU time. */
    impact: 'f64',
    /** baseline; came or went; slower or faster (an attempt takes longer or less); costlier or cheaper (that is within the noise, but not its CPU time); more or fewer (attempts of the same kind); same; none (in neither side). */
    verdict: 'sym'
  },
  /** Memory of all workers together, aligned at the start of each run: the most since the row before. */
  compared_memory: {
    /** The side. */
    side: 'u8',
    /** Number of the run within its side. */
    run: 'u32',
    /** Seconds since the start of the run. */
    time: 'f64',
    /** Resident memory of the processes. */
    process: 'f64',
    /** Task results in memory. */
    managed: 'f64'
  },
  /** Sampled call stacks of all sides as one tree, a row a node and side; callers before what they call. Frames of one function and file under one caller are one node. */
  compared_stacks: {
    /** The side. */
    side: 'u8',
    /** Number of the node. */
    node: 'u32',
    /** Node of the caller; 4294967295 at the bottom. */
    parent: 'u32',
    /** Qualified name of the function. */
    function: 'sym',
    /** Its file, as the first side that has it tells it. */
    file: 'sym',
    /** First line of the function, as that side has it. */
    line: 'u32',
    /** Thread-seconds in the function itself, mean over the runs. */
    self: 'f64',
    /** Thread-seconds in it and in what it called. */
    total: 'f64'
  },
  /** Findings of a side and of the baseline, the costliest first. */
  compared_findings: {
    /** The side. */
    side: 'u8',
    /** came (not in the baseline), went (only there) or stayed. */
    state: 'sym',
    /** Code of the finding. */
    code: 'sym',
    /** info, warning or critical; where it is now, else where it was. */
    severity: 'sym',
    /** What it says there. */
    title: 'str',
    /** Wall time it cost in the baseline; NaN if it was not there. */
    cost_before: 'f64',
    /** Wall time it costs in the side; NaN if it is not there. */
    cost_after: 'f64',
    /** Runs of the baseline that have it. */
    runs_before: 'u32',
    /** Runs of the side that have it. */
    runs_after: 'u32'
  },
  /** Versions, configuration and surroundings that are not the same on all sides, a row a side. */
  compared_settings: {
    /** The side. */
    side: 'u8',
    /** version, configuration, host or cluster. */
    kind: 'sym',
    /** What it is. */
    name: 'sym',
    /** What it was; several, joined by ' | ', where its runs differ; '' if unknown. */
    value: 'str'
  },
  /** Size of a local scheduler's cache of results. */
  cache: {
    /** When. */
    time: 'time'
  }
} as const;

export type Kind = 'f64' | 'f32' | 'u32' | 'u8' | 'time' | 'sym' | 'str';

export type TableName = keyof typeof TABLES;

/** The columns of table T whose kind is K: asking for a wrong one does not compile. */
export type ColumnOf<T extends TableName, K extends Kind = Kind> = {
  [C in keyof (typeof TABLES)[T]]: (typeof TABLES)[T][C] extends K ? C : never;
}[keyof (typeof TABLES)[T]];

/** A row of table T, by column. */
export type RowOf<T extends TableName> = {
  readonly [C in keyof (typeof TABLES)[T]]: (typeof TABLES)[T][C] extends 'sym' | 'str' ? string : number;
};

/** Times that tell when a recording began and ended; those of other tables may reach far back. */
export const EXTENT: { readonly [T in TableName]?: readonly ColumnOf<T, 'time'>[] } = {
  attempts: ['start', 'stop', 'done'],
  running: ['start'],
  phases: ['start', 'stop'],
  transfers: ['start', 'stop'],
  resources: ['time'],
  memory: ['time'],
  samples: ['time'],
  submissions: ['time'],
  cache: ['time']
};
