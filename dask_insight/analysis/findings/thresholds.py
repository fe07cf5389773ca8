"""All thresholds of the rules, in one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import NamedTuple


class Threshold(NamedTuple):
    """A number that a rule compares with."""

    #: The finding's code, a point, and what is compared; ``all.`` for what concerns every rule.
    name: str
    value: float
    #: s, bytes, bytes/s, count, share (0 to 1), times or ''.
    unit: str
    meaning: str
    #: Where the number comes from; "ours" where it was calibrated on our own runs.
    source: str


_EFFICIENCY = "Dask: https://distributed.dask.org/en/stable/efficiency.html"
_PRACTICES = "Dask: https://docs.dask.org/en/stable/best-practices.html"
_CONFIG = "Dask's configuration: distributed"
_JOBS = "dr-elephant's limits for failed jobs"
_ELEPHANT = "dr-elephant's limits for skew"

TABLE = (
    Threshold("all.seconds", 0.5, "s", "Least wall time that a finding must cost to be told.", "ours"),
    Threshold("all.share", 0.02, "share", "Least share of the run that it must cost to be told.", "ours"),
    Threshold("all.warning", 0.08, "share", "Share of the run from which it is a warning.", "ours"),
    Threshold("all.risk", 0.2, "share", "Share of the run that a risk without a cost is ranked as.", "ours"),
    Threshold("all.warning-seconds", 0.6, "s", "Least wall time that a warning must cost.", "ours"),
    Threshold("all.critical", 0.35, "share", "Share of the run from which it is critical.", "ours"),
    Threshold("tiny-tasks.mean", 0.01, "s", "Mean time of tasks below which they are tiny.", _EFFICIENCY),
    Threshold("tiny-tasks.count", 500, "count", "Least number of such tasks.", "ours"),
    Threshold(
        "tiny-tasks.least",
        0.00075,
        "s",
        "Least wall time that one is taken to cost, where more was lost around them.",
        f"{_PRACTICES}: 200 µs to 1 ms",
    ),
    Threshold(
        "tiny-tasks.each",
        0.0015,
        "s",
        "Most wall time that one is taken to cost; what it takes beyond is that of a busy machine.",
        _EFFICIENCY,
    ),
    Threshold(
        "tiny-tasks.lost",
        0.2,
        "share",
        "Share of the threads' time around tiny tasks that is not spent in them.",
        "ours",
    ),
    Threshold("large-graph.tasks", 100000, "count", "Tasks of one graph from which it is large.", _PRACTICES),
    Threshold(
        "large-graph.bytes",
        10e6,
        "bytes",
        "Size of a graph as it is sent from which it is large.",
        _CONFIG + ".admin.large-graph-warning-threshold",
    ),
    Threshold(
        "large-graph.least-bytes",
        1e6,
        "bytes",
        "Size of a graph as it is sent below which its tasks carry no data; where it is known.",
        "ours",
    ),
    Threshold("large-graph.critical", 100e6, "bytes", "Size of a graph from which that is critical.", "ours"),
    Threshold("large-graph.least", 1000, "count", "Tasks from which taking a graph in is counted.", "ours"),
    Threshold(
        "large-graph.seconds",
        0.5,
        "s",
        "Least time of taking graphs in, or of tasks on their way, over all threads.",
        "ours",
    ),
    Threshold(
        "large-graph.request",
        0.05,
        "s",
        "Median time from the scheduler to a worker from which tasks carry data.",
        "ours",
    ),
    Threshold("slow-graph.seconds", 1, "s", "Time of making one graph from which it is long.", "ours"),
    Threshold("slow-graph.each", 0.001, "s", "Time for each of its tasks from which these are few.", "ours"),
    Threshold("slow-graph.share", 0.1, "share", "Share of the run from which it is told.", "as client-gap"),
    Threshold(
        "process-pool.share",
        0.4,
        "share",
        "Least share of all thread time that went into starting processes and moving data.",
        "ours",
    ),
    Threshold(
        "scheduler-bound.share",
        0.1,
        "share",
        "Least share of all thread time that waited for a busy scheduler.",
        "ours",
    ),
    Threshold("scheduler-bound.rate", 100, "", "Tasks a second that keep a scheduler busy.", _PRACTICES),
    Threshold(
        "scheduler-bound.many", 0.25, "share", "Least share of thread time where it had so many.", "ours"
    ),
    Threshold(
        "scheduler-bound.cpu", 80, "%", "Use of a core from which the scheduler's process is busy.", "ours"
    ),
    Threshold(
        "scheduler-bound.starved",
        0.4,
        "share",
        "Share of its time on a core, and of waits for one, from which the waits are the reason.",
        "ours",
    ),
    Threshold(
        "scheduler-bound.lag",
        0.1,
        "s",
        "Delay of its event loop from which it is busy.",
        "Dask: distributed.admin.tick.interval, five times",
    ),
    Threshold(
        "garbage-collection.share",
        0.1,
        "share",
        "Least share of a task name's time, or of all thread time, that went to collections.",
        "distributed tells its log of as much: GCDiagnosis, info_over_frac",
    ),
    Threshold(
        "cpu-limit.periods",
        0.25,
        "share",
        "Least share of its periods in which a limit on CPU time was reached.",
        "Kubernetes' mixin for Prometheus: CPUThrottlingHigh",
    ),
    Threshold(
        "straggler.times", 3, "times", "How many times the median of its name a task takes.", _ELEPHANT
    ),
    Threshold("straggler.count", 4, "count", "Least number of tasks of that name.", "ours"),
    Threshold("straggler.seconds", 0.25, "s", "Least time that it takes beyond the median.", "ours"),
    Threshold(
        "data-skew.times",
        2,
        "times",
        "How many times the median of its name a task with more data takes.",
        _ELEPHANT,
    ),
    Threshold("data-skew.count", 4, "count", "Least number of tasks of that name.", "ours"),
    Threshold("data-skew.seconds", 0.25, "s", "Least time that it takes beyond the median.", "ours"),
    Threshold(
        "worker-skew.times",
        1.5,
        "times",
        "How many times as long, or as much work, as the other workers.",
        "after Holistic Trace Analysis, calibrated by us",
    ),
    Threshold(
        "worker-skew.starved",
        3,
        "times",
        "The same where waits for a CPU are counted in, of workers on one host.",
        "ours",
    ),
    Threshold("worker-skew.count", 4, "count", "Least number of tasks that are compared.", "ours"),
    Threshold(
        "worker-skew.idle", 0.08, "share", "Least share of all thread time idle beside waiting tasks.", "ours"
    ),
    Threshold(
        "imbalanced-threads.idle",
        0.08,
        "share",
        "Least share of all thread time idle beside waiting tasks.",
        "ours",
    ),
    Threshold(
        "imbalanced-threads.variation", 0.25, "share", "Deviation of the busy shares over their mean.", "ours"
    ),
    Threshold("gil-contention.at-once", 1.5, "", "Tasks at once in one process.", "ours"),
    Threshold("gil-contention.share", 0.22, "share", "Least share of the tasks' time without a CPU.", "ours"),
    Threshold(
        "gil-contention.computes",
        0.25,
        "share",
        "Least CPU of a name that wants the lock, of an equal share of one core.",
        "ours",
    ),
    Threshold(
        "gil-contention.late",
        0.0045,
        "s",
        "Mean wait of a thread that asks for the lock.",
        "Python: sys.getswitchinterval is 5 ms",
    ),
    Threshold(
        "gil-contention.waiting", 0.3, "share", "gilknocker's measure, where it is installed.", "gilknocker"
    ),
    Threshold(
        "row-by-row.share", 0.3, "share", "Least share of a name's samples in calls for each row.", "ours"
    ),
    Threshold("slow-sizes.share", 0.1, "share", "Share of all thread time.", "ours"),
    Threshold("stealing.count", 10, "count", "Least number of tasks that were moved in vain.", "ours"),
    Threshold("stealing.share", 0.1, "share", "Share of the moved tasks that waited longer.", "ours"),
    Threshold("task-shuffle.count", 500, "count", "Least number of tasks of shuffles and rechunks.", "ours"),
    Threshold("task-shuffle.share", 0.5, "share", "Least share of all tasks.", "ours"),
    Threshold("oversubscribed.use", 0.9, "share", "Share of the cores in use.", "ours"),
    Threshold("oversubscribed.beside", 0.3, "share", "Share of it not on threads of tasks.", "ours"),
    Threshold("oversubscribed.some", 0.5, "share", "The same, from which workers use them.", "ours"),
    Threshold("oversubscribed.waited", 0.3, "share", "Share of the tasks' time without a free core.", "ours"),
    Threshold(
        "oversubscribed.much", 0.6, "share", "Both of these shares, from which it is a warning.", "ours"
    ),
    Threshold("io-wait.share", 0.5, "share", "Least share of a name's time without a CPU.", "ours"),
    Threshold("io-wait.share-unsure", 0.85, "share", "The same where waits for a CPU are not known.", "ours"),
    Threshold(
        "io-wait.lock", 0.5, "share", "Least share of a name's time without a CPU spent in a lock.", "ours"
    ),
    Threshold(
        "io-wait.programs",
        0.05,
        "share",
        "CPU time of processes that tasks wait for, of that wait, from which these compute.",
        "ours",
    ),
    Threshold(
        "io-wait.line", 1e8, "bytes/s", "Least rate of a host's network or disks that may be full.", "ours"
    ),
    Threshold(
        "io-wait.flat", 0.8, "share", "Median rate, of its 95th percentile, from which it is full.", "ours"
    ),
    Threshold("io-wait.time", 0.15, "share", "Least share of all thread time.", "ours"),
    Threshold("resource-limit.idle", 0.1, "share", "Least share of all thread time idle so.", "ours"),
    Threshold("held-up.share", 0.5, "share", "Least share of a name's time in waits for others.", "ours"),
    Threshold(
        "held-up.locked",
        0.9,
        "share",
        "Least share of each task's last samples in locks, of all that run.",
        "ours",
    ),
    Threshold("held-up.time", 0.1, "share", "Least share of all thread time in such waits.", "ours"),
    Threshold(
        "held-up.stuck", 5, "s", "Time in which nothing began or ended, with all threads held.", "ours"
    ),
    Threshold(
        "sleeping.share",
        0.5,
        "share",
        "Least share of a name's time without a CPU in which it slept.",
        "ours",
    ),
    Threshold("critical-path.share", 0.5, "share", "Share of the run that the chain takes.", "Brent's bound"),
    Threshold("critical-path.idle", 0.3, "share", "Share of the threads that are idle meanwhile.", "ours"),
    Threshold(
        "too-few-tasks.ratio",
        2,
        "times",
        "Tasks at a time for each thread below which there are too few.",
        "sparklens' parallelism ratio",
    ),
    Threshold("too-few-tasks.idle", 0.15, "share", "Least share of all thread time idle meanwhile.", "ours"),
    Threshold(
        "client-gap.share",
        0.1,
        "share",
        "Share of the run in which the cluster had no task.",
        "after sparklens, whose driver time is the same",
    ),
    Threshold("restart.seconds", 1, "s", "Time without workers after restarts of the cluster.", "ours"),
    Threshold("new-cluster.seconds", 1, "s", "Time without workers before new clusters.", "ours"),
    Threshold("failed-tasks.count", 1, "count", "Tasks without a result.", "ours"),
    Threshold(
        "failed-tasks.share",
        0.01,
        "share",
        "Share of a task name that failed, from which it is critical.",
        "ours",
    ),
    Threshold(
        "retried-work.share",
        0.1,
        "share",
        "Share of the attempts at a task name that were made again.",
        _JOBS,
    ),
    Threshold("retried-work.time", 0.05, "share", "Share of the time in functions spent in them.", "ours"),
    Threshold("retried-work.critical", 0.25, "share", "The same, from which it is critical.", "ours"),
    Threshold("worker-lost.count", 1, "count", "Workers that died with work.", "ours"),
    Threshold(
        "worker-lost.size",
        0.25,
        "share",
        "Share of a worker's memory limit from which a task may have been too large for it.",
        "ours",
    ),
    Threshold(
        "clock-skew.offset",
        0.1,
        "s",
        "Least offset of a clock, by what is certain of it.",
        "ours: NTP keeps 0.01 s",
    ),
    Threshold("event-loop-lag.lag", 0.1, "s", "Delay of an event loop that counts.", "ours"),
    Threshold("event-loop-lag.share", 0.3, "share", "Share of the run in such delays.", "ours"),
    Threshold("event-loop-lag.seconds", 0.6, "s", "Least time in such delays.", "ours"),
    Threshold(
        "event-loop-lag.longest",
        3.0,
        "s",
        "Delay that is told even if there is one only.",
        f"{_CONFIG} admin.tick.limit",
    ),
    Threshold("event-loop-lag.critical", 0.8, "share", "Share of the run from which it is critical.", "ours"),
    Threshold(
        "memory-pressure.near",
        0.8,
        "share",
        "Share of its memory limit that a worker used.",
        f"{_CONFIG} worker.memory.pause",
    ),
    Threshold(
        "memory-pressure.paused",
        0.05,
        "share",
        "Share of the thread time paused, from which it is critical.",
        "ours",
    ),
    Threshold(
        "memory-limit.times",
        1.02,
        "times",
        "Memory limits of workers together, of what the system allows these.",
        "ours: beyond rounding",
    ),
    Threshold(
        "memory-limit.used",
        0.5,
        "share",
        "Share of what the system allows that was in use.",
        "ours",
    ),
    Threshold(
        "memory-limit.near",
        0.8,
        "share",
        "Share of what the system allows that a scheduler or a client used.",
        "`distributed.worker.memory.pause`, which workers have",
    ),
    Threshold(
        "host-memory.left",
        0.05,
        "share",
        "Share of a host's memory that could still be had.",
        "earlyoom, which kills before the system does, by default",
    ),
    Threshold(
        "memory-headroom.used",
        0.3,
        "share",
        "Share of its memory limit that no worker used.",
        "dr-elephant's memory heuristic",
    ),
    Threshold("memory-headroom.seconds", 60, "s", "Least length of the run.", "ours"),
    Threshold("memory-headroom.limit", 2e9, "bytes", "Least memory limit of a worker.", "ours"),
    Threshold("unmanaged-growth.bytes", 100e6, "bytes", "Least growth of a worker's memory.", "ours"),
    Threshold("unmanaged-growth.limit", 0.1, "share", "Growth, of the memory limit.", "ours"),
    Threshold(
        "unmanaged-growth.process", 0.3, "share", "Growth, of the process's memory at the end.", "ours"
    ),
    Threshold("unmanaged-growth.steady", 0.8, "", "Least R² of the growth along a line.", "ours"),
    Threshold(
        "unmanaged-growth.critical",
        0.5,
        "share",
        "Growth, of the memory limit, from which it is critical.",
        "ours",
    ),
    Threshold("spill.bytes", 50e6, "bytes", "Least bytes written by spilling.", "ours"),
    Threshold(
        "spill.share",
        0.05,
        "share",
        "Share of the workers' time in spilling.",
        "TensorFlow's profiler: input-bound",
    ),
    Threshold(
        "spill.critical", 0.2, "share", "The same, from which it is critical.", "TensorFlow's profiler"
    ),
    Threshold("spill.written", 0.1, "share", "Bytes written, of the bytes of all results.", "ours"),
    Threshold(
        "spill.times",
        2.5,
        "times",
        "Bytes written, of the bytes of results there.",
        "dr-elephant's spill ratio",
    ),
    Threshold(
        "spill.times-critical",
        3,
        "times",
        "The same, from which it is critical, with `spill.share`.",
        "dr-elephant's spill ratio",
    ),
    Threshold(
        "spill.beside",
        0.5,
        "share",
        "Memory beside results, while some were on disk, from which it is said.",
        "ours",
    ),
    Threshold(
        "transfer-bound.share",
        0.1,
        "share",
        "Share of the thread time idle for data.",
        "Kineto: communication above 10 %",
    ),
    Threshold("transfer-bound.critical", 0.35, "share", "The same, from which it is critical.", "ours"),
    Threshold("transfer-bound.bytes", 50e6, "bytes", "Least bytes moved between workers.", "ours"),
    Threshold(
        "slow-transfer.rate",
        40e6,
        "bytes/s",
        "Rate between two workers below which it is slow.",
        f"{_CONFIG} scheduler.bandwidth is 100 MB/s",
    ),
    Threshold(
        "slow-transfer.pickled",
        10e6,
        "bytes/s",
        "Rate below which it is slow even if an event loop was late: pickling takes place there.",
        "ours",
    ),
    Threshold("slow-transfer.long", 0.2, "s", "Time of messages of few bytes that counts as long.", "ours"),
    Threshold("slow-transfer.share", 0.2, "share", "Share of the run in such messages.", "ours"),
    Threshold("slow-transfer.message", 500e3, "bytes", "Least size of messages that count.", "ours"),
    Threshold("slow-transfer.bytes", 10e6, "bytes", "Least bytes in such messages.", "ours"),
    Threshold("oversized-results.fetched", 100e6, "bytes", "Bytes brought to the client.", "ours"),
    Threshold(
        "oversized-results.message", 1e6, "bytes", "Least size of messages to the client that count.", "ours"
    ),
    Threshold(
        "oversized-results.bytes", 64e6, "bytes", "Least size of a result that can be too large.", "ours"
    ),
    Threshold(
        "oversized-results.fits",
        6,
        "times",
        "How many of it fit in the memory of a thread.",
        f"{_PRACTICES}: ten chunks a core",
    ),
    Threshold(
        "oversized-results.critical",
        3,
        "times",
        "The same, below which it is critical.",
        f"{_PRACTICES}: two to three times as many as threads",
    ),
    Threshold("gpu-idle.mean", 0.5, "share", "Mean utilisation of a device while tasks ran.", "Kineto"),
    Threshold(
        "gpu-idle.burst", 0.7, "share", "95th percentile of utilisation in bursts.", "SageMaker Debugger"
    ),
    Threshold("gpu-idle.cpu", 0.7, "share", "Share of the tasks' time on a CPU, less that mean.", "ours"),
    Threshold(
        "gpu-idle.off-cpu",
        0.5,
        "share",
        "Share of it without one, less that mean.",
        "SageMaker Debugger: IOBottleneck",
    ),
    Threshold("gpu-memory.share", 0.9, "share", "Share of a device's memory in use.", "Kineto"),
    Threshold("gpu-memory.moved", 1e9, "bytes", "Least bytes that cuDF had moved to the host.", "ours"),
    Threshold("cold-start.seconds", 0.8, "s", "Least cost over all threads.", "ours"),
    Threshold("cold-start.times", 2.5, "times", "First tasks over the median of later ones.", "ours"),
    Threshold("cold-start.count", 6, "count", "Least number of tasks of the name.", "ours"),
    Threshold(
        "cold-start.window", 60, "s", "How long after the first tasks workers count as being started.", "ours"
    ),
    Threshold(
        "cold-start.there",
        0.5,
        "share",
        "Threads that were there when tasks were, of all: others that join are then a cluster's growth.",
        "ours",
    ),
    Threshold("recompute.share", 0.05, "share", "Least share of all computing.", "ours"),
)

DEFAULTS: Mapping[str, float] = {each.name: each.value for each in TABLE}


class Limits(Mapping[str, float]):
    """The thresholds in force.

    Parameters
    ----------
    changed
        Values that replace the defaults.

    Raises
    ------
    ValueError
        If there is no threshold of a name; the message lists those that are near.
    """

    def __init__(self, changed: Mapping[str, float] | None = None) -> None:
        self._values = dict(DEFAULTS)
        for name, value in (changed or {}).items():
            if name not in DEFAULTS:
                raise ValueError(f"there is no threshold {name!r}; {_near(name)}")
            self._values[name] = float(value)

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _near(name: str) -> str:
    code = name.partition(".")[0]
    near = get_close_matches(name, DEFAULTS, 5, 0.5)
    near += [each for each in DEFAULTS if each.startswith(f"{code}.") and each not in near]
    return f"near it: {', '.join(near)}" if near else f"there are {', '.join(DEFAULTS)}"
