"""What a person can set about a recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: Where batches go: a recording's `append`, a file's writer, a comm's sender.
Emit = Callable[[bytes], None]

#: Dask setting: most bytes that an output keeps in a notebook, as Dask writes sizes.
OUTPUT_SIZE = "dask-insight.output-size"


@dataclass(frozen=True)
class Options:
    """Rates and bounds of one recording; all times in seconds."""

    #: Take call stacks of task threads, scheduler and client.
    profile: bool = True
    #: Interval aimed at between two samples of the stacks.
    profile_interval: float = 0.01
    #: Share of one core that sampling may take in each worker; half of it in scheduler and client, a
    #: quarter where these are one process.
    profile_budget: float = 0.02
    #: Interval between two samples of each process's resources.
    resources: float = 0.2
    #: Interval between two polls of the scheduler; workers push as often, but once a second at most.
    poll: float = 2.0
    #: Most rows that the scheduler keeps until they are fetched.
    ring: int = 1_000_000
    #: The least level of what processes log that is kept: "info", "warning" or "error".
    logs: str = "warning"
    #: Keep source code that rows point to: lines, and what submitted a graph.
    source: bool = True
    #: How long stopping may take when the cluster does not answer.
    stop_timeout: float = 10.0
    #: Metric of the local schedulers' cache: a function of a result, or None to count.
    cache_metric: Callable[[Any], float] | None = None
