"""The tables of a recording, defined once.

Adding a column is adding a line here; `python -m dask_insight.codegen` then
renews the TypeScript twin in ``src-ts/core/schema.ts``.

Kinds of column
---------------
``f64 f32 u32 u8``
    Numbers. A missing float is NaN.
``time``
    Seconds since the Unix epoch on the scheduler's clock, kept to the
    microsecond. Missing is NaN.
``sym``
    Text that repeats. Missing is ``""``.
``str``
    Text that is mostly unique, decoded only when somebody looks. Missing is ``""``.

Standard library only: the tests read it in an interpreter without NumPy.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["f64", "f32", "u32", "u8", "time", "sym", "str"]

#: Written to every recording. A reader refuses a larger major number only.
FORMAT = (1, 0)

#: The id that stands for "no task", "no run" or "no stack".
NOTHING = 0xFFFF_FFFF
#: The action of `phases` in which an attempt ran on, but had given its thread back to its worker.
SECEDED = "seceded"
#: Status of attempts that, up to the end of a part of a run, only waited.
WAITING = "waiting"
#: Actions of `phases`, and activities of `metrics`, in which results were read from disk and written to it.
DISK = ("disk-read", "disk-write")
#: So Dask names the clients that workers make for their tasks; those in the client's process use the client.
OF_TASKS = "Client-worker-"

#: Times that tell when a recording began and ended, by table; those of other tables may reach far back.
EXTENT = {
    "attempts": ("start", "stop", "done"),
    "running": ("start",),
    "phases": ("start", "stop"),
    "transfers": ("start", "stop"),
    "resources": ("time",),
    "memory": ("time",),
    "samples": ("time",),
    "submissions": ("time",),
    "cache": ("time",),
}


class Column(NamedTuple):
    """One column of a table."""

    name: str
    kind: Kind
    doc: str
    #: The column of the same table that this time usually follows closely, or these texts.
    since: str = ""
    #: Unit of a number; "" for ids, counts and numbers that have none.
    unit: str = ""


class Table(NamedTuple):
    """One table of a recording."""

    name: str
    doc: str
    columns: tuple[Column, ...]


def _table(name: str, doc: str, *columns: Column) -> Table:
    return Table(name, doc, columns)


_EDITION = "Counts how often it was worked out: only rows of the highest number are valid."

_CLUSTER = "Address of the scheduler that it is about; 'local' for local schedulers, '' if unknown."

_ALL = (
    _table(
        "about",
        "Facts about the recording as a whole; a later row replaces an earlier one of the same name.",
        Column("name", "sym", "What the fact is about: format, name, started, versions, config …"),
        Column("value", "str", "The fact, as JSON."),
    ),
    _table(
        "graph",
        "Every task, once, where it was first seen.",
        Column("task", "u32", "Id of the task within the recording."),
        Column("key", "str", "Dask's key, as text.", since="group"),
        Column("prefix", "sym", "Task name: Dask's prefix of the key."),
        Column("group", "sym", "Dask's task group."),
        Column("span", "sym", "Id of the innermost span; see `spans`."),
        Column(
            "submission",
            "u32",
            "The submission that brought the task; see `submissions`. 4294967295 if it was there before the "
            "recording began, or that is unknown.",
        ),
        Column("priority", "f32", "Priority given by the user; larger runs first."),
        Column(
            "order",
            "u32",
            "Rank given by dask.order within the submission; 4294967295 of what was there before and is not "
            "to run, as data that a client scatters.",
        ),
        Column(
            "state",
            "sym",
            "The scheduler's state of it (memory, waiting …) when a cluster dump was made; memory or erred "
            "if it had ended when the recording began; '' elsewhere.",
        ),
    ),
    _table(
        "edges",
        "Every dependency between tasks.",
        Column("task", "u32", "The task that needs the result."),
        Column("dependency", "u32", "The task whose result is needed."),
    ),
    _table(
        "attempts",
        "Every ended attempt to run a task, as its scheduler saw it; tasks given up while they waited, too: "
        "cancelled, with no worker.",
        Column("run", "u32", "Id of the attempt within the recording."),
        Column("task", "u32", "The task; see `graph`."),
        Column("worker", "sym", "Worker it was given to; see `workers`. '' if none was chosen."),
        Column("thread", "sym", "Thread it ran on, within the worker."),
        Column(
            "status",
            "sym",
            "How it ended: ok, erred, retried, killed, cancelled, stolen, rescheduled. In a part of a run "
            "that was over before it began: waiting, with the worker that it was to get, and the thread if "
            "it was next on that.",
        ),
        Column("stop", "time", "When its function returned or raised."),
        Column("start", "time", "When its function was called.", since="stop"),
        Column(
            "done",
            "time",
            "When the scheduler knew that it had ended; of one that waits, until when.",
            since="stop",
        ),
        Column("assigned", "time", "When the scheduler sent it to the worker.", since="start"),
        Column("ready", "time", "When its last input was in memory.", since="assigned"),
        Column("submitted", "time", "When the scheduler first wanted it.", since="ready"),
        Column("queued", "u8", "1 if it stood in the scheduler's queue between ready and assigned."),
        Column("nbytes", "f64", "Size of the result, bytes; NaN if there is none.", unit="bytes"),
        Column("typename", "sym", "Type of the result."),
    ),
    _table(
        "executions",
        "The same attempts, as their worker saw them; joined to `attempts` by run.",
        Column("run", "u32", "Id of the attempt."),
        Column("worker", "sym", "The worker."),
        Column("thread", "sym", "Thread it ran on; only where `attempts` cannot know it."),
        Column("status", "sym", "Worker's end state: memory, error, rescheduled, cancelled, released."),
        Column("ended", "time", "When the worker's event loop took the result."),
        Column("stop", "time", "When its function ended, if the worker knows better.", since="ended"),
        Column("start", "time", "When its function began, if the worker knows better.", since="stop"),
        Column("executing", "time", "When it was given a thread.", since="ended"),
        Column("ready", "time", "When its inputs had arrived and it waited for a thread.", since="executing"),
        Column("received", "time", "When the worker had the request.", since="ready"),
        Column("cpu", "f32", "CPU seconds its thread used; NaN if unknown.", unit="s"),
        Column(
            "rss",
            "f32",
            "Change of the worker process's memory while it ran, MiB; NaN if unknown.",
            unit="MiB",
        ),
    ),
    _table(
        "running",
        "Attempts seen running before they ended; the ended ones are in `attempts` too.",
        Column("run", "u32", "Id of the attempt."),
        Column("task", "u32", "The task."),
        Column("worker", "sym", "The worker."),
        Column("thread", "sym", "The thread."),
        Column("start", "time", "When it was given a thread."),
    ),
    _table(
        "phases",
        "What happened around the computing of an attempt; and when it ran beside its worker's threads. On "
        "clusters a use of the disk is told from 5 ms on, deserializing in `metrics` alone, and a transfer "
        "stands with one of the tasks that waited for it: `transfers` has all.",
        Column("run", "u32", "Id of the attempt."),
        Column(
            "action",
            "sym",
            "transfer, disk-read, disk-write, deserialize, serialize, compress; seceded: it had given its "
            "thread back.",
        ),
        Column("start", "time", "Start."),
        Column("stop", "time", "End.", since="start"),
    ),
    _table(
        "errors",
        "Exceptions, one row an attempt that raised.",
        Column("run", "u32", "Id of the attempt."),
        Column("task", "u32", "The task."),
        Column("exception", "str", "repr of the exception."),
        Column("traceback", "sym", "The traceback as text."),
    ),
    _table(
        "transfers",
        "Messages with data between workers, as each side saw them.",
        Column("transfer", "u32", "Id of the transfer within the recording."),
        Column("worker", "sym", "The worker that reports it."),
        Column("peer", "sym", "The other side; '' if unknown."),
        Column("direction", "sym", "in or out."),
        Column("start", "time", "Start."),
        Column("stop", "time", "End.", since="start"),
        Column("nbytes", "f64", "Bytes of data.", unit="bytes"),
        Column("compressed", "f64", "Bytes on the wire; NaN if unknown.", unit="bytes"),
    ),
    _table(
        "releases",
        "When schedulers let go of results, which were in memory or on disk until then.",
        Column("task", "u32", "The task whose result it was."),
        Column("time", "time", "When."),
    ),
    _table(
        "transferred",
        "The task results that each transfer carried.",
        Column("transfer", "u32", "The transfer."),
        Column("task", "u32", "The task whose result was carried."),
        Column("nbytes", "f64", "Its bytes.", unit="bytes"),
    ),
    _table(
        "resources",
        "Samples of every process: workers, scheduler, client. NaN where a figure cannot be had.",
        Column("process", "sym", "Worker, or 'scheduler', or 'client'."),
        Column("time", "time", "When."),
        Column("cpu", "f32", "CPU use, per cent of one core.", unit="%"),
        Column("memory", "f64", "Resident memory, bytes.", unit="bytes"),
        Column("net_read", "f32", "Host's network, bytes received a second, over up to 2 s.", unit="bytes/s"),
        Column("net_write", "f32", "Host's network, bytes sent a second, over up to 2 s.", unit="bytes/s"),
        Column("disk_read", "f32", "Host's disks, bytes read a second, over up to 2 s.", unit="bytes/s"),
        Column("disk_write", "f32", "Host's disks, bytes written a second, over up to 2 s.", unit="bytes/s"),
        Column(
            "host_cpu",
            "f32",
            "Host's CPU use by all programs, per cent of all its cores, over up to 2 s.",
            unit="%",
        ),
        Column("host_free", "f64", "Host's memory that could still be had, bytes.", unit="bytes"),
        Column("host_memory", "f64", "Host's memory, bytes.", unit="bytes"),
        Column("fds", "f32", "Open file descriptors (handles on Windows), up to 2 s before."),
        Column("lag", "f32", "Longest delay of the event loop since the last sample, seconds.", unit="s"),
        Column("gil", "f32", "Share of time in which a thread waited for the GIL, 0 to 1."),
        Column("executing", "f32", "Tasks running. On the scheduler: processing."),
        Column("ready", "f32", "Tasks waiting for a thread. On the scheduler: queued."),
        Column("waiting", "f32", "Tasks waiting for data. On the scheduler: that no worker can run now."),
        Column("occupancy", "f32", "Seconds of work that the scheduler expects on the worker.", unit="s"),
        Column("transfers_in", "f32", "Open incoming transfers."),
        Column("transfers_out", "f32", "Open outgoing transfers."),
        Column("bytes_in", "f64", "Bytes of results that these bring, as Dask measured them.", unit="bytes"),
        Column("bytes_out", "f64", "Bytes of results that these take along.", unit="bytes"),
        Column(
            "starved",
            "f32",
            "Thread-seconds since the last sample in which a worker's task threads, or the scheduler's event "
            "loop, could have run but found no free core; NaN where the system does not tell.",
            unit="s",
        ),
        Column(
            "gil_wait",
            "f32",
            "Thread-seconds since the last sample for which a worker's task threads waited for the GIL, at "
            "most; NaN where the system does not tell.",
            unit="s",
        ),
        Column(
            "cpu_limit",
            "f32",
            "Cores that a limit on CPU time, as containers have, allows the process; NaN if none.",
        ),
        Column(
            "throttled",
            "f32",
            "Share of the limit's periods (0.1 s each by default) since the last sample in which it was "
            "reached, so that nothing ran until their end, 0 to 1; NaN if there is none.",
        ),
        Column(
            "memory_allowed",
            "f64",
            "Bytes of memory that the system allows the process's container or job; NaN if it has no limit.",
            unit="bytes",
        ),
        Column("memory_group", "f64", "A number of what shares that limit, among the processes of a host."),
        Column("oom_kills", "f32", "Processes of it that the system has killed for memory, ever."),
        Column(
            "children",
            "f32",
            "CPU seconds of processes that it had started and that have ended since the last sample; NaN "
            "where the system does not tell.",
            unit="s",
        ),
    ),
    _table(
        "collections",
        "When Python looked for garbage: collections of its cyclic collector, short ones put together.",
        Column("process", "sym", "Worker, or 'scheduler', or 'client'."),
        Column("time", "time", "When it ended."),
        Column("duration", "f32", "How long it took, seconds.", unit="s"),
        Column("freed", "u32", "Objects that it freed."),
        Column("run", "u32", "The attempt whose thread it took place on; 4294967295 if none."),
    ),
    _table(
        "gpus",
        "Samples of every visible GPU; Dask-CUDA's workers tell of their own alone.",
        Column("process", "sym", "The worker (or client) that sees it."),
        Column("time", "time", "When."),
        Column("index", "u8", "Index of the device on its host."),
        Column("name", "sym", "Model and UUID."),
        Column("utilization", "f32", "Per cent of time in which a kernel ran.", unit="%"),
        Column("memory", "f64", "Memory used, bytes.", unit="bytes"),
        Column("memory_total", "f64", "Memory there is, bytes.", unit="bytes"),
    ),
    _table(
        "memory",
        "Dask's memory measures of each worker, as the scheduler knows them. Bytes.",
        Column("worker", "sym", "The worker."),
        Column("time", "time", "When."),
        Column("process", "f64", "Resident memory of the process.", unit="bytes"),
        Column("managed", "f64", "Task results in memory.", unit="bytes"),
        Column("unmanaged_old", "f64", "Memory outside task results that stayed 30 s or more.", unit="bytes"),
        Column(
            "unmanaged_recent", "f64", "Memory outside task results that came in the last 30 s.", unit="bytes"
        ),
        Column("spilled", "f64", "Task results on disk.", unit="bytes"),
        Column("optimistic", "f64", "managed + unmanaged_old.", unit="bytes"),
    ),
    _table(
        "gauges",
        "Numbers that workers tell beside what Dask measures, a row whenever one has changed: those of RMM "
        "and cuDF, and your own, `worker.metrics`, at most 50 of a worker, and 1,000 names in all; and what "
        "P2P holds in its buffers.",
        Column("worker", "sym", "The worker."),
        Column(
            "time",
            "time",
            "When the scheduler heard of it, in a heartbeat: twice a second at best; of P2P when it was so.",
        ),
        Column(
            "name",
            "sym",
            "As in `worker.metrics`, keys of dicts after dots: rmm.rmm-total (the pool of GPU memory), "
            "rmm.rmm-used (0 unless Dask-CUDA has rmm_track_allocations=True), cudf.cudf-spilled (there with "
            "cudf_spill_stats=1 and distributed.diagnostics.cudf: True) … While P2P shuffles or rechunks: "
            "p2p.comm-memory and p2p.disk-memory (bytes that are to be sent, and to be written), and "
            "p2p.comm-limit and p2p.disk-limit, from which on tasks wait.",
        ),
        Column("value", "f64", "What it is from then on."),
    ),
    _table(
        "stacks",
        "Call stacks as a tree: each row is a frame above its parent.",
        Column("stack", "u32", "Id of this stack within the recording."),
        Column("parent", "u32", "The calling stack; 4294967295 at the bottom."),
        Column("function", "sym", "Qualified name of the function."),
        Column("file", "sym", "Its file."),
        Column("line", "u32", "The line that was running."),
        Column("first_line", "u32", "First line of the function."),
    ),
    _table(
        "samples",
        "What a thread was doing at a moment, weighted by the time it stands for.",
        Column("process", "sym", "Worker, or 'scheduler', or 'client'."),
        Column("thread", "sym", "Thread within the process."),
        Column("time", "time", "End of the interval it stands for."),
        Column("duration", "f32", "Length of that interval, seconds.", unit="s"),
        Column("stack", "u32", "The stack; see `stacks`."),
        Column("run", "u32", "The attempt that ran; 4294967295 if none."),
    ),
    _table(
        "sampling",
        "How well each process could be sampled, about once a second.",
        Column("process", "sym", "The process."),
        Column("time", "time", "End of the period."),
        Column("period", "f32", "Its length, seconds.", unit="s"),
        Column("samples", "u32", "Rounds of samples taken."),
        Column("interval", "f32", "Interval aimed at, seconds.", unit="s"),
        Column("cost", "f32", "CPU seconds that sampling took.", unit="s"),
        Column(
            "asked", "f32", "Seconds for which the sampling thread meant to wait; NaN if unknown.", unit="s"
        ),
        Column(
            "starved",
            "f32",
            "Seconds in which the sampling thread could have run but found no free core; NaN if unknown.",
            unit="s",
        ),
    ),
    _table(
        "metrics",
        "Fine performance metrics: what was added in each period.",
        Column("time", "time", "End of the period, which began with the worker's row of `clocks` before."),
        Column("worker", "sym", "The worker."),
        Column(
            "context",
            "sym",
            "execute, gather-dep, get-data, memory-monitor, p2p …; actor: calls of actors, not by Dask.",
        ),
        Column("span", "sym", "Id of the span; '' outside execute."),
        Column("prefix", "sym", "Task name; '' outside execute."),
        Column("activity", "sym", "What was done: thread-cpu, disk-read, decompress, a user's label …"),
        Column("unit", "sym", "seconds, bytes, count or a user's own."),
        Column("value", "f64", "Amount, in that unit."),
    ),
    _table(
        "functions",
        "Where the code of each task name stands, as far as it can be known; a row for each function met.",
        Column("prefix", "sym", "Task name: Dask's prefix of the key."),
        Column("function", "sym", "Qualified name of the function."),
        Column("module", "sym", "Its module; '' if unknown."),
        Column("file", "sym", "Its file, or notebook cell; '' if unknown."),
        Column("line", "u32", "Its first line; 0 if unknown."),
        Column(
            "source",
            "sym",
            "How that is known: 'definition', from the task; 'sampled', from call stacks of its attempts.",
        ),
    ),
    _table(
        "fused",
        "What tasks were fused from when their graph was optimized; a row for each task inside of them.",
        Column("group", "sym", "The tasks that ran: their keys without numbers."),
        Column(
            "part",
            "sym",
            "A task inside of them: its key without numbers. Where the same one stands in two groups, both "
            "computed the same.",
        ),
        Column("function", "sym", "Qualified name of its function."),
        Column("file", "sym", "The function's file, or notebook cell."),
        Column("line", "u32", "The function's first line."),
    ),
    _table(
        "lines",
        "Lines of source code that the other tables point to, where the client could read them.",
        Column("file", "sym", "The file, or notebook cell."),
        Column("line", "u32", "Number of the line, from 1."),
        Column("text", "str", "The line, without the space at its ends."),
    ),
    _table(
        "events",
        "What happened besides tasks: workers, stealing, logs, users' events, and our own losses.",
        Column("time", "time", "When."),
        Column("source", "sym", "The process that reports it, or 'recorder'."),
        Column(
            "kind",
            "sym",
            "worker-added, worker-removed, worker-exit (as its nanny says), worker-status, steal, graph, "
            "log, log-before (from before it was recorded, as Dask kept it), user, lost …",
        ),
        Column("level", "sym", "debug, info, warning or error."),
        Column("message", "str", "In words."),
        Column("detail", "str", "As JSON; '' if none."),
    ),
    _table(
        "workers",
        "Every worker; a later row replaces an earlier one of the same worker.",
        Column("worker", "sym", "Its address; with '#2', '#3' … where an address was used again."),
        Column("name", "sym", "Its name in the cluster."),
        Column("host", "sym", "Its host."),
        Column("pid", "u32", "Its process id; 0 if unknown."),
        Column(
            "namespace", "u32", "A number of what gave it that id, a machine or a container; 0 if unknown."
        ),
        Column("threads", "u32", "Number of task threads."),
        Column("memory_limit", "f64", "Memory limit, bytes; NaN if none.", unit="bytes"),
        Column("joined", "time", "When the scheduler had it."),
        Column("left", "time", "When it was gone, or its cluster no longer recorded; NaN while it is there."),
        Column("cores", "u32", "CPU cores of its host that it may use; 0 if unknown."),
        Column(
            "core_set",
            "u32",
            "A number of these cores: workers of a host that have the same one share them, as those of a "
            "container or a batch job do; 0 if unknown.",
        ),
        Column("own", "u8", "1 if it runs in the process that recorded it, the client's."),
        Column("cluster", "sym", "Address of its scheduler; '' of a local scheduler, or if unknown."),
        Column("detail", "str", "Versions and other facts, as JSON."),
    ),
    _table(
        "spans",
        "Every span; a later row replaces an earlier one of the same span.",
        Column("span", "sym", "Id of the span."),
        Column("name", "sym", "Last part of its name."),
        Column("parent", "sym", "Id of the enclosing span; '' at the top."),
        Column("path", "str", "The whole name, parts joined by ' / '."),
    ),
    _table(
        "submissions",
        "Every graph handed to a scheduler.",
        Column("submission", "u32", "Id of the submission within the recording."),
        Column("time", "time", "When its tasks were known to the scheduler."),
        Column("tasks", "u32", "Number of new tasks."),
        Column("client", "sym", "The client that sent it; `Client-worker-…` where a task did."),
        Column("file", "sym", "File, or notebook cell, of the line that started it; '' if unknown."),
        Column("line", "u32", "That line; 0 if unknown."),
        Column("function", "sym", "Function that holds the line."),
        Column("code", "sym", "The code that started it."),
        Column("cell", "sym", "Id of the notebook cell that started it; '' if none did."),
        Column("execution", "u32", "Execution count of that run of the cell; 0 if none."),
        Column("nbytes", "f64", "Size of the graph as it was sent, bytes; NaN if unknown.", unit="bytes"),
        Column("materialize", "f32", "Seconds Dask took to build the graph; NaN if unknown.", unit="s"),
        Column("ordering", "f32", "Seconds for ordering it.", unit="s"),
        Column("states", "f32", "Seconds for making the task states.", unit="s"),
    ),
    _table(
        "cells",
        "Every run of a notebook cell; a later row replaces an earlier one of the same execution.",
        Column("execution", "u32", "Execution count in the kernel: the number beside the cell."),
        Column("cell", "sym", "Id of the cell in its notebook; '' if the front end gave none."),
        Column("code", "str", "The cell's source."),
        Column("start", "time", "When it began, on the clock of the tasks."),
        Column("stop", "time", "When it ended; NaN while it runs."),
        Column("status", "sym", "running, ok or error."),
    ),
    _table(
        "clocks",
        "How each worker's clock stands to the scheduler's.",
        Column("worker", "sym", "The worker."),
        Column("time", "time", "When."),
        Column("offset", "f64", "Our estimate, seconds: worker's clock minus scheduler's.", unit="s"),
        Column("uncertainty", "f64", "Half the round trip behind that estimate, seconds.", unit="s"),
        Column("applied", "f64", "Correction Dask had applied at that moment, seconds.", unit="s"),
    ),
    _table(
        "critical",
        "What kept the run from ending sooner: the path of blame, worked out from the other tables.",
        Column("start", "time", "When this stretch began: where the one before it ended."),
        Column("stop", "time", "When it ended.", since="start"),
        Column(
            "kind",
            "sym",
            "What it went into: compute, disk, worker, transfer, thread, scheduler or client.",
        ),
        Column(
            "because",
            "sym",
            "What waited for its task: end (of the run), input, thread, submission or retry.",
        ),
        Column("task", "u32", "Its task; 4294967295 if none."),
        Column("run", "u32", "The attempt at it; 4294967295 if none."),
        Column("worker", "sym", "Worker of the attempt."),
        Column("thread", "sym", "Thread of the attempt."),
        Column("cluster", "sym", _CLUSTER),
        Column("edition", "u32", _EDITION),
    ),
    _table(
        "budget",
        "Where the time of all worker threads went, without remainder; made from the other tables when it is "
        "asked for. A row stands for (stop - start) * threads thread-seconds, spread evenly. One of no "
        "length stands for none: it tells how many thread-seconds of the rows without a name, of its "
        "part, span and submission, belong to its name.",
        Column("worker", "sym", "The worker."),
        Column(
            "thread", "sym", "Thread within the worker; '' if the row stands for several, or for unused ones."
        ),
        Column("start", "time", "Start."),
        Column("stop", "time", "End.", since="start"),
        Column(
            "threads",
            "f32",
            "Threads that it took, on average between start and stop; thread-seconds if these are the same.",
        ),
        Column(
            "part",
            "sym",
            "What they did: cpu, off-cpu, compute, failed, deserialize, serialize, disk, overhead, or "
            "'custom: ' and a user's label; or why they were idle: inputs, data, processes, placement, "
            "scheduler, paused, resources, client, joining, leaving.",
        ),
        Column("name", "sym", "Task name that ran, or was waited for; '' if none."),
        Column("span", "sym", "Its span."),
        Column("submission", "u32", "Its submission; 4294967295 if none."),
        Column("edition", "u32", _EDITION),
    ),
    _table(
        "findings",
        "What cost time or puts the run at risk, most important first; worked out from the other tables. One "
        "row with the code '' says that nothing was found.",
        Column("code", "sym", "What it is; see `dask-insight findings --rules`."),
        Column(
            "severity",
            "sym",
            "info, warning or critical; 'gap' for a rule that could not be worked out: `why` tells.",
        ),
        Column("title", "str", "One line that names it."),
        Column("why", "str", "What happened; paragraphs parted by blank lines, code after four spaces."),
        Column("advice", "str", "What to do about it, likewise."),
        Column("url", "sym", "Dask's own page on it."),
        Column("tasks", "str", "Task names that it concerns, most concerned first, as a JSON list."),
        Column("workers", "str", "Workers that it concerns, likewise."),
        Column("start", "time", "When it began; NaN if it concerns the whole run."),
        Column("stop", "time", "When it ended.", since="start"),
        Column("cost_thread_seconds", "f64", "Thread-seconds that it took; 0 if none.", unit="s"),
        Column(
            "cost_seconds",
            "f64",
            "Seconds that the run would be shorter by; 0 for a risk that costs no time.",
            unit="s",
        ),
        Column("evidence", "str", "Figures behind it: JSON, [name, value, unit, threshold or null] each."),
        Column("edition", "u32", _EDITION),
    ),
    _table(
        "what_if",
        "How much faster the run could be: bounds of its time, then what a simulated cluster says of some "
        "changes, the fastest first; worked out from the other tables.",
        Column(
            "question",
            "sym",
            "recorded; its bounds: longest (chain of tasks that need one another), spread (all work over all "
            "threads) and most (Brent's bound); calibration (the recorded run, simulated); what was changed: "
            "workers, threads, faster, transfers, spilling or chunks; note (of all answers) or gap (what was "
            "not asked).",
        ),
        Column("text", "str", "It in words."),
        Column("value", "f64", "Workers, threads, or how many times as fast or as large; NaN if none."),
        Column("tasks", "str", "Task names that it is about, as a JSON list."),
        Column("seconds", "f64", "How long the run took, or would take.", unit="s"),
        Column("low", "f64", "Least that it would take, where the simulation fits badly.", unit="s"),
        Column("high", "f64", "Most that it would take then.", unit="s"),
        Column("error", "f64", "How much too long the recorded run is simulated: 0.1 is 10 %."),
        Column("notes", "str", "What one must know of this answer, a line each."),
        Column("cluster", "sym", _CLUSTER),
        Column("edition", "u32", _EDITION),
    ),
    _table(
        "compared_sides",
        "What was compared, a row a side; only in a comparison, as all tables named so. Figures are means "
        "over the runs of the side.",
        Column("side", "u8", "Number of the side; 0 is the baseline, with which the others are compared."),
        Column("name", "sym", "Its name."),
        Column("runs", "u32", "Recorded runs of it."),
        Column("workers", "f32", "Workers, the most that were there at once."),
        Column("threads", "f32", "Threads that they offered, mean while any was there."),
        Column(
            "seconds",
            "f64",
            "Wall time from the first submission to the last result, without standstills.",
            unit="s",
        ),
        Column("thread_seconds", "f64", "Thread-seconds that the workers offered in that time.", unit="s"),
        Column("computing", "f64", "Thread-seconds in which task functions ran.", unit="s"),
        Column("tasks", "f64", "Tasks that ended well."),
        Column(
            "starved",
            "f64",
            "Thread-seconds in which task threads found no free core; NaN if unknown.",
            unit="s",
        ),
        Column("memory", "f64", "Most memory that the workers' processes took together.", unit="bytes"),
        Column(
            "memory_noise",
            "f64",
            "A change of `memory` against the baseline up to this, either way, says nothing.",
            unit="bytes",
        ),
        Column("change", "f64", "Wall time minus that of the baseline; NaN for the baseline.", unit="s"),
        Column("noise", "f64", "A change up to this, either way, says nothing.", unit="s"),
        Column("source", "sym", "Where the noise is known from: runs (repeats) or tasks (within the runs)."),
        Column(
            "verdict",
            "sym",
            "baseline, same (within the noise), slower, faster, or unknown where no task ran.",
        ),
        Column("text", "str", "The verdict in words; '' for the baseline."),
        Column("notes", "str", "What else stands out, in words: losses, memory, cores that were taken."),
    ),
    _table(
        "compared_runs",
        "Every run that was compared.",
        Column("side", "u8", "Its side."),
        Column("run", "u32", "Number of the run within its side."),
        Column("name", "sym", "Name of its recording."),
        Column("file", "str", "File of its recording; '' if it came from memory."),
        Column("started", "time", "When its first task was wanted."),
        Column("seconds", "f64", "Wall time, without standstills.", unit="s"),
        Column("workers", "u32", "Workers, the most that were there at once."),
        Column("threads", "f32", "Threads that they offered, mean while any was there."),
        Column("thread_seconds", "f64", "Thread-seconds that the workers offered.", unit="s"),
        Column("computing", "f64", "Thread-seconds in which task functions ran.", unit="s"),
        Column("tasks", "u32", "Tasks that ended well."),
        Column(
            "starved",
            "f64",
            "Thread-seconds in which task threads found no free core; NaN if unknown.",
            unit="s",
        ),
        Column("memory", "f64", "Most memory that the workers' processes took together.", unit="bytes"),
    ),
    _table(
        "compared_budget",
        "The time budget of every side, a row a part and side.",
        Column("side", "u8", "The side."),
        Column("kind", "sym", "computing, overhead or idle."),
        Column("part", "sym", "Part of the time budget, as in `budget`."),
        Column("seconds", "f64", "Thread-seconds, mean over the runs.", unit="s"),
        Column("share", "f64", "Their share of all thread-seconds, 0 to 1."),
        Column("wall", "f64", "That share of the wall time; these add up to the side's wall time.", unit="s"),
        Column("change", "f64", "`wall` minus that of the baseline; NaN for the baseline.", unit="s"),
        Column("noise", "f64", "A change up to this, either way, says nothing.", unit="s"),
        Column("verdict", "sym", "baseline, same (within the noise), more or less."),
    ),
    _table(
        "compared_names",
        "Task names of every side, a row a name and side; names in the order of what their change matters.",
        Column("side", "u8", "The side."),
        Column("name", "sym", "Task name; with … for a part that differs between the sides."),
        Column("names", "str", "The side's own names that stand together in this row, as a JSON list."),
        Column("count", "f64", "Attempts that ran, mean over the runs."),
        Column(
            "seconds",
            "f64",
            "Time for which task functions held a thread, summed, mean over runs.",
            unit="s",
        ),
        Column("mean", "f64", "Mean time of an attempt; NaN where none ran.", unit="s"),
        Column("cpu", "f64", "Mean CPU time of an attempt; NaN if unknown.", unit="s"),
        Column("share", "f64", "Share of the side's time in task functions, 0 to 1."),
        Column("change", "f64", "`mean` minus that of the baseline; NaN if one of them has none.", unit="s"),
        Column("noise", "f64", "A change up to this, either way, says nothing.", unit="s"),
        Column("cpu_change", "f64", "`cpu` minus that of the baseline; NaN if unknown.", unit="s"),
        Column("cpu_noise", "f64", "A change of `cpu` up to this, either way, says nothing.", unit="s"),
        Column(
            "impact",
            "f64",
            "What the change of `seconds` costs, spread over the side's threads; less than 0 if it saves. "
            "For costlier and cheaper that of CPU time.",
            unit="s",
        ),
        Column(
            "verdict",
            "sym",
            "baseline; came or went; slower or faster (an attempt takes longer or less); costlier or cheaper "
            "(that is within the noise, but not its CPU time); more or fewer (attempts of the same kind); "
            "same; none (in neither side).",
        ),
    ),
    _table(
        "compared_memory",
        "Memory of all workers together, aligned at the start of each run: the most since the row before.",
        Column("side", "u8", "The side."),
        Column("run", "u32", "Number of the run within its side."),
        Column("time", "f64", "Seconds since the start of the run.", unit="s"),
        Column("process", "f64", "Resident memory of the processes.", unit="bytes"),
        Column("managed", "f64", "Task results in memory.", unit="bytes"),
        Column("spilled", "f64", "Task results on disk.", unit="bytes"),
    ),
    _table(
        "compared_stacks",
        "Sampled call stacks of all sides as one tree, a row a node and side; callers before what they call. "
        "Frames of one function and file under one caller are one node.",
        Column("side", "u8", "The side."),
        Column("node", "u32", "Number of the node."),
        Column("parent", "u32", "Node of the caller; 4294967295 at the bottom."),
        Column("function", "sym", "Qualified name of the function."),
        Column("file", "sym", "Its file, as the first side that has it tells it."),
        Column("line", "u32", "First line of the function, as that side has it."),
        Column("self", "f64", "Thread-seconds in the function itself, mean over the runs.", unit="s"),
        Column("total", "f64", "Thread-seconds in it and in what it called.", unit="s"),
    ),
    _table(
        "compared_findings",
        "Findings of a side and of the baseline, the costliest first.",
        Column("side", "u8", "The side."),
        Column("state", "sym", "came (not in the baseline), went (only there) or stayed."),
        Column("code", "sym", "Code of the finding."),
        Column("severity", "sym", "info, warning or critical; where it is now, else where it was."),
        Column("title", "str", "What it says there."),
        Column("tasks", "str", "Task names, as a JSON list."),
        Column("cost_before", "f64", "Wall time it cost in the baseline; NaN if it was not there.", unit="s"),
        Column("cost_after", "f64", "Wall time it costs in the side; NaN if it is not there.", unit="s"),
        Column("runs_before", "u32", "Runs of the baseline that have it."),
        Column("runs_after", "u32", "Runs of the side that have it."),
    ),
    _table(
        "compared_settings",
        "Versions, configuration and surroundings that are not the same on all sides, a row a side.",
        Column("side", "u8", "The side."),
        Column("kind", "sym", "version, configuration, host or cluster."),
        Column("name", "sym", "What it is."),
        Column(
            "value", "str", "What it was; several, joined by ' | ', where its runs differ; '' if unknown."
        ),
    ),
    _table(
        "cache",
        "Size of a local scheduler's cache of results.",
        Column("time", "time", "When."),
        Column("source", "sym", "The computation's scheduler."),
        Column("size", "f64", "Sum of the metric over all results held."),
        Column("metric", "sym", "Name of the metric; 'count' by default."),
        Column("task", "u32", "The task whose result came or went; 4294967295 where all that are left go."),
    ),
)

#: Table name to table, in the order in which they are shown.
TABLES: dict[str, Table] = {table.name: table for table in _ALL}

#: Tables that are worked out from others, again while a recording grows; see their column `edition`.
EDITIONED = frozenset(
    name for name, table in TABLES.items() if any(column.name == "edition" for column in table.columns)
)

#: Tables of which a later row replaces an earlier one, and the column that tells what it is about.
REPLACED = {"about": "name", "workers": "worker", "cells": "execution", "spans": "span"}

#: What no page reads, which the twin and reports leave out: columns by table; without any, the whole table.
UNSEEN: dict[str, tuple[str, ...]] = {
    "graph": ("group", "priority"),
    "executions": ("status",),
    "errors": ("task",),
    "transfers": ("compressed",),
    "resources": (
        *("bytes_in", "bytes_out", "host_memory", "starved", "gil_wait", "cpu_limit"),
        *("memory_allowed", "memory_group", "oom_kills", "children"),
    ),
    "collections": ("process", "time", "freed"),
    "gpus": ("name", "memory_total"),
    "memory": ("optimistic",),
    "gauges": (),
    "samples": ("thread",),
    "sampling": (),
    "functions": ("source",),
    "fused": (),
    "workers": ("cores", "core_set", "own", "detail"),
    "submissions": ("client", "code", "cell", "nbytes", "materialize", "ordering", "states"),
    "cells": ("cell",),
    "clocks": ("offset", "uncertainty", "applied"),
    "compared_sides": (
        *("thread_seconds", "computing", "tasks", "starved", "memory", "memory_noise", "source", "notes"),
    ),
    "compared_runs": (
        *("run", "file", "started", "workers", "threads", "thread_seconds", "computing", "tasks"),
        *("starved", "memory"),
    ),
    "compared_budget": ("seconds",),
    "compared_names": ("cpu_noise",),
    "compared_memory": ("spilled",),
    "compared_findings": ("tasks",),
    "cache": ("source", "size", "metric", "task"),
}
