"""The cluster that a graph runs on: workers, threads, and what moving and managing costs."""

from __future__ import annotations

from typing import NamedTuple


class Costs(NamedTuple):
    """What is paid besides the tasks themselves. Seconds, unless it says otherwise."""

    #: From the end of a task until its scheduler knows.
    up: float
    #: From the choice of a worker until it has the request.
    down: float
    #: A worker's own time before each task.
    handoff: float
    #: The scheduler's own time for each task; it handles one after the other.
    scheduler: float
    #: A transfer, whatever its size.
    latency: float
    #: Bytes a second that one worker receives.
    bandwidth: float
    #: Dask's ``distributed.scheduler.worker-saturation``; infinite where queueing is off.
    saturation: float


class Setting(NamedTuple):
    """A cluster."""

    #: Threads of each worker.
    threads: tuple[int, ...]
    #: When each worker was there, seconds since the first submission.
    joined: tuple[float, ...]
    costs: Costs
