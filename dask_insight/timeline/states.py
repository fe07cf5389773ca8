"""When workers could not, or would not, take tasks."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from ..lookup import coded, is_any
from .attempts import Attempts, Read, is_local
from .lanes import Lanes
from .moments import Moments
from .worker_resources import worker_resources

_CLOSING = ("closing", "closing_gracefully", "stopping", "closed", "failed")


class States(NamedTuple):
    """Intervals by code of worker; those without any are missing."""

    #: Dask had paused it: too much memory was in use.
    paused: dict[int, Moments]
    #: It joined the running cluster and had not been given a task yet.
    joining: dict[int, Moments]
    #: It was closing, or died of tasks of which nothing else is known.
    leaving: dict[int, Moments]
    #: Workers that have resources, by which tasks may be kept from free threads.
    limited: frozenset[int] = frozenset()


def states(read: Read, attempts: Attempts, lanes: Lanes) -> States:
    """What `events` and the attempts tell of the workers."""
    code = {name: number for number, name in enumerate(lanes.workers)}
    found: dict[str, defaultdict[int, list[tuple[float, float]]]]
    found = {state: defaultdict(list) for state in ("paused", "leaving")}
    since: dict[tuple[str, int], float] = {}
    for when, worker, state in _changes(read, code):
        paused, leaving = state == "paused", state in _CLOSING
        for name, there in (("paused", paused), ("leaving", leaving)):
            if there:
                since.setdefault((name, worker), when)
            elif (name, worker) in since:
                found[name][worker].append((since.pop((name, worker)), when))
    for (name, worker), when in since.items():
        found[name][worker].append((when, np.inf))
    of = coded(attempts.worker, lanes.workers)
    for row in np.flatnonzero(attempts.killed & ~attempts.ran & (of >= 0)).tolist():
        found["leaving"][int(of[row])].append(
            (float(attempts.at("assigned", row)), float(attempts.at("done", row)))
        )
    limited = frozenset(code[name] for name in worker_resources(read) if name in code)
    return States(_sets(found["paused"]), _joining(attempts, lanes, of), _sets(found["leaving"]), limited)


def _changes(read: Read, code: dict[str, int]) -> list[tuple[float, int, str]]:
    """Time, worker and new state of every change of a worker's state, in their order."""
    events = read("events")
    sources, texts = events["source"], events["message"]
    rows = np.flatnonzero(is_any(events["kind"], ("worker-status",)))
    changes = []
    for row in rows[np.argsort(events["time"][rows], kind="stable")].tolist():
        worker = code.get(sources.names[sources.codes[row]])
        text = bytes(texts.data[texts.offsets[row] : texts.offsets[row + 1]]).decode("utf-8", "replace")
        words = re.findall(r"\w+", text)
        if worker is not None and words:
            changes.append((float(events["time"][row]), worker, words[-1]))
    return changes


def _joining(attempts: Attempts, lanes: Lanes, of: np.ndarray) -> dict[int, Moments]:
    # Of an attempt that had no worker, and never got one, no moment may be known.
    began = float(np.fmin.reduce(attempts.wanted, initial=np.inf))
    # Pools of local schedulers begin for tasks that are there.
    local = np.array([is_local(name) for name in lanes.workers], bool)
    late = np.flatnonzero((lanes.joined > began) & ~local)
    if not len(late):
        return {}
    given, known = np.full(len(lanes.workers), np.inf), of >= 0
    np.fmin.at(given, of[known], attempts.at("assigned", known))
    return {
        worker: Moments.of(lanes.joined[worker : worker + 1], given[worker : worker + 1])
        for worker in late.tolist()
    }


def _sets(found: dict[int, list[tuple[float, float]]]) -> dict[int, Moments]:
    return {worker: Moments.of(*np.array(pairs, "f8").T) for worker, pairs in found.items()}
