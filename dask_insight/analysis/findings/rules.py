"""All rules, and how they are applied."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from ... import words
from ...heap import give_back_between
from .again import RECOMPUTE
from .building import SLOW_GRAPH, unmade
from .cancelled import CANCELLED_WORK
from .chain import CRITICAL_PATH, TOO_FEW_TASKS
from .clocks import CLOCK_SKEW
from .collecting import GARBAGE_COLLECTION
from .facts import Facts
from .failures import FAILED_TASKS, RETRIED_WORK
from .finding import SEVERITIES, Finding
from .fitting import fitting
from .found import Failed, Findings
from .gaps import CLIENT_GAP
from .gpus import GPU_IDLE, GPU_MEMORY
from .growth import UNMANAGED_GROWTH
from .headroom import MEMORY_HEADROOM
from .held_up import HELD_UP
from .host_memory import HOST_MEMORY
from .large_graph import LARGE_GRAPH
from .limited import CPU_LIMIT
from .loops import EVENT_LOOP_LAG
from .losses import WORKER_LOST
from .measuring import SLOW_SIZES
from .memory import MEMORY_PRESSURE
from .memory_limits import MEMORY_LIMIT
from .moved import SLOW_TRANSFER, TRANSFER_BOUND
from .oversubscribed import BUSY_HOST, OVERSUBSCRIBED
from .process_pool import PROCESS_POOL
from .resource_limits import RESOURCE_LIMIT
from .restarts import NEW_CLUSTER, RESTART
from .row_by_row import ROW_BY_ROW
from .rule import Rule
from .scheduler_bound import SCHEDULER_BOUND
from .shuffles import TASK_SHUFFLE
from .sizes import OVERSIZED_RESULTS
from .skew import IMBALANCED_THREADS, WORKER_SKEW
from .slow import DATA_SKEW, STRAGGLER
from .spill import SPILL
from .start import COLD_START
from .steals import STEALING
from .stood_still import STOOD_STILL
from .stranded import NO_WORKER
from .threads import GIL_CONTENTION
from .thresholds import Limits
from .tiny import TINY_TASKS
from .unsent import UNSENT_RESULTS
from .waits import IO_WAIT, SLEEPING

#: In the order in which findings of equal weight are told.
RULES: tuple[Rule, ...] = (
    FAILED_TASKS,
    UNSENT_RESULTS,
    NO_WORKER,
    WORKER_LOST,
    RETRIED_WORK,
    CANCELLED_WORK,
    OVERSIZED_RESULTS,
    MEMORY_LIMIT,
    HOST_MEMORY,
    MEMORY_PRESSURE,
    SPILL,
    UNMANAGED_GROWTH,
    SLOW_TRANSFER,
    TRANSFER_BOUND,
    STEALING,
    TASK_SHUFFLE,
    EVENT_LOOP_LAG,
    CLOCK_SKEW,
    GPU_MEMORY,
    GPU_IDLE,
    TINY_TASKS,
    LARGE_GRAPH,
    SLOW_GRAPH,
    PROCESS_POOL,
    SCHEDULER_BOUND,
    STRAGGLER,
    DATA_SKEW,
    WORKER_SKEW,
    IMBALANCED_THREADS,
    GIL_CONTENTION,
    ROW_BY_ROW,
    GARBAGE_COLLECTION,
    SLOW_SIZES,
    CPU_LIMIT,
    OVERSUBSCRIBED,
    BUSY_HOST,
    HELD_UP,
    RESOURCE_LIMIT,
    IO_WAIT,
    SLEEPING,
    CRITICAL_PATH,
    TOO_FEW_TASKS,
    RESTART,
    NEW_CLUSTER,
    CLIENT_GAP,
    COLD_START,
    STOOD_STILL,
    RECOMPUTE,
    MEMORY_HEADROOM,
)

#: What advice may call by a name that the person has not given.
_RUN = (
    "`run` is the recording: `_dprofile` after `%%dprofile`, `dask_insight.open(FILE)` otherwise; for live "
    "panels, record the cell."
)

#: Those that can tell something where no task was with a worker.
WITHOUT_TASKS: tuple[Rule, ...] = (NO_WORKER, SLOW_GRAPH._replace(find=unmade))


def apply(facts: Facts, limits: Limits, rules: Iterable[Rule] = RULES) -> Findings:
    """Ask every rule; what they find is graded and ranked.

    A rule that fails takes no other down: it is named in `Findings.failed`.
    """
    found: list[Finding] = []
    failed: list[Failed] = []
    for rule in rules:
        # What rules look at on the way leaves gaps that the next one's arrays do not fit in.
        give_back_between()
        try:
            found += [graded(each, facts, limits) for each in rule.find(facts, limits)]
        except Exception as error:
            failed.append(Failed(rule.code, f"{type(error).__name__}: {error}"))
    told = [each for each in found if each.severity]
    risk = limits["all.risk"] * facts.wall
    order = sorted(range(len(told)), key=lambda row: (_weight(told[row], risk), row))
    return Findings(
        [told[row] for row in order],
        failed=failed,
        seconds=facts.wall,
        between=_between(facts),
        judged=bool(facts.attempts.ran.any()),
        nothing=(
            f"Nothing was found that costs {limits['all.seconds']:g}{words.SPACE}s and "
            f"{words.share(limits['all.share'])} of the run, or puts it at risk."
        ),
    )


def _between(facts: Facts) -> tuple[float, float]:
    """When that was; without a task, the part that was cut out of a run, if both its ends are told."""
    begin, end = (facts.start, facts.stop) if len(facts.attempts.run) else facts.part
    return (facts.since(begin), facts.since(end)) if math.isfinite(end - begin) else (0.0, 0.0)


def graded(found: Finding, facts: Facts, limits: Limits) -> Finding:
    """With its cost kept within the run, and a severity; without any if it is not worth telling."""
    found = whole(_explained(found.but(advice=fitting(found.advice, facts.collections))), facts)
    seconds = found.cost_seconds
    if found.is_risk or (found.is_told and too_cheap(seconds, facts, limits)):
        return found if found.severity else found.but(severity="info")
    if too_cheap(seconds, facts, limits):
        return found.but(severity="")
    if found.severity:
        return found
    share = seconds / facts.wall
    if share < limits["all.warning"] or seconds < limits["all.warning-seconds"]:
        return found.but(severity="info")
    return found.but(severity="warning" if share < limits["all.critical"] else "critical")


def _explained(found: Finding) -> Finding:
    """With advice that says what it calls `run`."""
    if not re.search(r"\brun\.[a-z]", found.advice):
        return found
    return found.but(advice=f"{found.advice}\n\n{_RUN}")


def too_cheap(seconds: float, facts: Facts, limits: Limits) -> bool:
    """Whether a finding that costs so much wall time is not worth telling for that."""
    return seconds < limits["all.seconds"] or seconds < limits["all.share"] * facts.wall


def whole(found: Finding, facts: Facts) -> Finding:
    """With its time within the run, all of it where the rule tells none; without a cost it is a risk."""
    begin, end = facts.since(facts.start), facts.since(facts.stop)
    if not len(facts.attempts.run):
        # Where no task was with a worker, there is no run to keep within.
        begin, end = found.start, found.stop
    costs = {"cost_seconds": facts.wall + facts.still.seconds, "cost_thread_seconds": facts.offered}
    told = {name: getattr(found, name) for name in costs}
    start = begin if math.isnan(found.start) else min(max(found.start, begin), end)
    stop = end if math.isnan(found.stop) else min(max(found.stop, begin), end)
    return found.but(
        # Clocks that contradict one another may have it end before it began.
        start=min(start, stop),
        stop=max(start, stop),
        is_risk=found.is_risk or math.isnan(found.cost_seconds),
        **{name: 0.0 if math.isnan(value) else min(value, costs[name]) for name, value in told.items()},
    )


def _weight(found: Finding, risk: float) -> tuple[int, float]:
    """What findings are sorted by: severity, then cost; a risk counts as `risk` at least."""
    cost = max(found.cost_seconds, risk) if found.is_risk else found.cost_seconds
    return -SEVERITIES.index(found.severity), -cost
