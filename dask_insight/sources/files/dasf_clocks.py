"""How the clocks of hosts stand to each other: each counts from the start of its machine."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

#: For each host others, and between which two numbers of seconds its moment is after theirs.
_Bounds = Mapping[int, Sequence[tuple[int, float, float]]]


class Ran(NamedTuple):
    """Attempts: numbers of their tasks and hosts, starts and stops by the clocks of the hosts [s]."""

    task: np.ndarray
    host: np.ndarray
    start: np.ndarray
    stop: np.ndarray


def laid(
    hosts: Sequence[str], known: Mapping[str, float], ran: Ran, task: np.ndarray, dependency: np.ndarray
) -> dict[str, float]:
    """The moment at which the clock of each host stood at 0.

    A clock of which nothing is known is taken for that of the first host which is. It is moved, by as little
    as lets a task start as its input ends, where one would start before an input from another host had ended,
    and where more time would lie between the host and those with which it shares inputs than they worked.

    Parameters
    ----------
    hosts
        Their names.
    known
        The moments that are known.
    ran
        The attempts. Tasks that have several are no measure.
    task, dependency
        Numbers of tasks, and of an input of each.
    """
    moment = {host: known[name] for host, name in enumerate(hosts) if name in known}
    usual = next(iter(known.values()), 0.0)
    bounds = _bounds(ran, task, dependency)
    first, last = np.full(len(hosts), np.inf), np.full(len(hosts), -np.inf)
    np.minimum.at(first, ran.host, ran.start)
    np.maximum.at(last, ran.host, ran.stop)

    def placed(host: int) -> float:
        least, most, together = -math.inf, math.inf, False
        for other, low, high in bounds.get(host, ()):
            if (zero := moment.get(other)) is not None:
                least, most = max(least, zero + low), min(most, zero + high)
                begin, end = first[other] + zero - usual, last[other] + zero - usual
                apart = max(begin - last[host], first[host] - end)
                together = together or bool(apart <= end - begin + last[host] - first[host])
        ends = [each for each in (least, most) if math.isfinite(each)]
        if not ends or (together and least <= usual <= most):
            return usual
        return min(ends, key=lambda each: abs(each - usual))

    seen: set[int] = set()
    for begin in (*moment, *range(len(hosts))):
        todo = deque([begin])
        while todo:
            if (host := todo.popleft()) in seen:
                continue
            seen.add(host)
            if host not in moment:
                moment[host] = placed(host)
            todo.extend(other for other, _, _ in bounds.get(host, ()))
    return {name: moment[host] for host, name in enumerate(hosts)}


def _bounds(ran: Ran, task: np.ndarray, dependency: np.ndarray) -> _Bounds:
    tasks = 1 + max(int(each.max(initial=0)) for each in (ran.task, task, dependency))
    row = np.full(tasks, -1)
    row[ran.task] = np.arange(len(ran.task))
    row[np.bincount(ran.task, minlength=tasks) > 1] = -1
    later, earlier = row[task], row[dependency]
    both = (later >= 0) & (earlier >= 0)
    later, earlier = later[both], earlier[both]
    after, before = ran.host[later].astype("i8"), ran.host[earlier].astype("i8")
    apart = after != before
    pairs, which = np.unique(after[apart] << 32 | before[apart], return_inverse=True)
    gap = np.full(len(pairs), -np.inf)
    np.maximum.at(gap, which, (ran.stop[earlier] - ran.start[later])[apart])
    found: defaultdict[int, list[tuple[int, float, float]]] = defaultdict(list)
    for pair, seconds in zip(pairs.tolist(), gap.tolist(), strict=True):
        found[pair >> 32].append((pair & 0xFFFF_FFFF, seconds, math.inf))
        found[pair & 0xFFFF_FFFF].append((pair >> 32, -math.inf, -seconds))
    return found
