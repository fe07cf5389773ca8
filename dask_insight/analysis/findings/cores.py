"""Idle threads for which a core was free: more tasks would run on no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...lookup import least
from ...tables.cores import Place
from .names import by_code
from .samples import Samples, in_order
from .threads_held import process_of

if TYPE_CHECKING:
    from .facts import Facts

#: Threads below which, on average, none count as idle.
_NONE = 0.01
#: Share of the cores in use, not by the tasks' own threads, from which libraries have threads of their own.
_LIBRARIES = 0.3


class Cores(NamedTuple):
    """What the cores that workers may use leave of idle threads."""

    #: Share of each piece of `Facts.waiting` for which the idle thread would have had a core, 0 to 1.
    free: np.ndarray
    #: Threads that had a core, on average over the run.
    threads: float


class _Host(NamedTuple):
    """Workers that share cores, by code (of `lanes`), and how many these are."""

    codes: list[int]
    names: list[str]
    cores: int


class _Sum:
    """Seconds of many stretches, each at some rate, that lie before a moment."""

    def __init__(self, zero: float, start: np.ndarray, stop: np.ndarray) -> None:
        # From a moment near, as seconds since the epoch leave too few digits for sums of many.
        self._zero = zero
        self._edges = [np.sort(each - zero) for each in (start, stop)]
        self._sums = [np.concatenate(([0.0], np.cumsum(each))) for each in self._edges]

    def before(self, moment: np.ndarray) -> np.ndarray:
        """Of all stretches together."""
        at = moment - self._zero
        begun, ended = (np.searchsorted(edges, at) for edges in self._edges)
        gone: np.ndarray = (begun - ended) * at - (self._sums[0][begun] - self._sums[1][ended])
        return gone


def cores(facts: Facts) -> Cores:
    """What cores were free for idle threads, where it is known how many there are and who used them.

    Of the cores that workers share, those are free that their processes did not use, by tasks on other
    threads or by those that libraries (OpenMP, BLAS) run beside them; where they do, they would have used
    more by as much as the tasks' own threads waited. Over each piece of time
    ``min(1, (cores - wanted) / idle threads)``.
    """
    lanes = facts.lanes
    begin, end = facts.waiting.start, facts.waiting.stop
    free, lasting = np.ones(len(begin)), np.maximum(end - begin, 1e-9)
    columns = ("process", "time", "cpu")
    samples = Samples({name: facts.read("resources")[name] for name in columns})
    # Threads of libraries wait for a core as much as those of tasks do, which alone are known to.
    wanted = {
        each.name: 1 + np.nan_to_num(each.process.starved) / max(each.process.own, _NONE)
        for each in facts.held
        if each.beside >= _LIBRARIES
    }
    beyond: dict[str, float] = {}
    hosts = list(_hosts(facts))
    host_of = np.full(len(lanes.workers) + 1, -1, least(len(hosts)))
    for code, host in enumerate(hosts):
        host_of[host.codes] = code
    of_lane, none = host_of[np.append(lanes.worker, -1)], np.zeros(0, "i8")
    idle_of, ran_of = by_code(of_lane[facts.waiting.lane]), by_code(of_lane[lanes.of])
    for code, host in enumerate(hosts):
        used = _used(facts, samples, host, wanted)
        if used is None:
            continue
        mine, ran = idle_of.get(code, none), ran_of.get(code, none)
        start, stop = begin[mine], end[mine]
        busy = _Sum(facts.start, lanes.stretches.at("start", ran), lanes.stretches.at("stop", ran))
        threads = facts.most_threads(host.names)
        idle = threads - (busy.before(stop) - busy.before(start)) / lasting[mine]
        left = host.cores - (np.interp(stop, *used) - np.interp(start, *used)) / lasting[mine]
        free[mine] = np.clip(left / np.maximum(idle, _NONE), 0.0, 1.0)
        without = max(0.0, 1 - host.cores / max(threads, _NONE))
        beyond |= {name: without * facts.threads_of(name) for name in host.names}
    most = max(facts.most_threads(lanes.workers), 1.0)
    return Cores(free, facts.threads * (1 - facts.most_at_once(beyond) / most))


def _hosts(facts: Facts) -> Iterator[_Host]:
    """Those whose cores are known."""
    sharing: dict[Place, _Host] = {}
    for code, name in enumerate(facts.lanes.workers):
        if (place := facts.places.get(name)) is not None:
            host = sharing.setdefault(place, _Host([], [], place.cores))
            host.codes.append(code)
            host.names.append(name)
    yield from sharing.values()


def _used(
    facts: Facts, samples: Samples, host: _Host, wanted: Mapping[str, float]
) -> tuple[np.ndarray, np.ndarray] | None:
    """Moments, and CPU seconds that the workers took, or would have, up to each; None unless all tell.

    Those of `wanted` would have taken so many times as much.
    """
    processes: dict[Any, list[tuple[np.ndarray, np.ndarray]]] = {}
    for name in host.names:
        mine = samples.of(name)
        time, cpu = in_order(mine["time"], mine["cpu"])
        if len(cpu) < 2:
            return None
        spent = cpu / 100 * np.diff(time) * wanted.get(name, 1.0)
        total = np.concatenate(([0.0], np.cumsum(spent)))
        processes.setdefault(process_of(facts, name), []).append((time, total))
    moments = np.unique(np.concatenate([time for each in processes.values() for time, _ in each]))
    used = np.zeros(len(moments))
    for each in processes.values():
        # Workers that share a process tell of the same.
        used += sum(np.interp(moments, time, total) for time, total in each) / len(each)
    return moments, used
