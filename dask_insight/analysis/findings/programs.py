"""Time for which tasks waited for processes or pools that they had started, and what processes computed."""

from __future__ import annotations

import re

import numpy as np

from ...tables.stacks import below
from .facts import Facts
from .seen_in import share_in

#: Files whose functions wait for other processes.
_PROCESSES = (
    r"[\\/](?:subprocess|multiprocessing[\\/](?:process|connection|popen_\w+)"
    r"|concurrent[\\/]futures[\\/]process)\.py$|[\\/]loky[\\/]"
)
#: Those that wait for a pool, of processes or of threads.
_POOLS = (
    r"[\\/](?:multiprocessing[\\/]pool|joblib[\\/](?:parallel|_parallel_backends|pool))\.py$|" + _PROCESSES
)
#: Those in which such a wait ends. What else stands on them is work of the task's own, as with one job.
_ENDS = r"[\\/](?:threading|selectors|queue|concurrent[\\/]futures[\\/]_base)\.py$|"


def in_programs(facts: Facts) -> np.ndarray:
    """Share of the samples' time of each task name, by code, in waits for processes or pools; 0 to 1."""
    return _in_waits(facts, _POOLS)


def in_processes(facts: Facts) -> np.ndarray:
    """The same of waits for processes alone, as far as call stacks tell them from those for a pool."""
    return _in_waits(facts, _PROCESSES)


def _in_waits(facts: Facts, files: str) -> np.ndarray:
    stacks = facts.read("stacks")

    def within(pattern: str) -> np.ndarray:
        found = [re.search(pattern, file) is not None for file in stacks["file"].names]
        return np.asarray(np.array(found or [False])[stacks["file"].codes])

    return share_in(facts, below(stacks, within(files)) & within(_ENDS + files))


def computed(facts: Facts) -> float:
    """CPU seconds of processes that tasks had started and that ended; NaN if none did, or no worker tells."""
    told = [each.children for each in facts.held if np.isfinite(each.children)]
    return float(sum(told)) or float("nan")
