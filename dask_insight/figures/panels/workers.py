"""What each worker did."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import words
from ...timeline import process_memory
from ..chart import Chart
from ..colors import slot_color
from ..ran import Ran
from ..request import Request
from . import bars
from .activities import activity_color

#: Workers that have a bar of their own.
_WORKERS = 40


def chart(request: Request) -> Chart:
    """A bar a worker: the time in which its threads computed, and how much of it failed."""
    ran = Ran(request)
    worker = [name for name, _ in ran.lanes]
    names = list(dict.fromkeys((*worker, *_there(request))))
    if not names:
        return Chart("Workers", empty="No worker was there while this was recorded.")
    place = {name: number for number, name in enumerate(names)}
    of = np.array([place[name] for name in worker] or [0])[ran.lane]
    bad = ran.status > 0
    well = np.bincount(of[~bad], ran.seconds[~bad], len(names))
    failed = np.bincount(of[bad], ran.seconds[bad], len(names))
    tasks = np.bincount(of, minlength=len(names))
    offered, memory = _offered(request, ran), _most_memory(request)
    made = []
    for number in np.argsort(-(well + failed), kind="stable").tolist():
        name = names[number]
        told = [words.duration(well[number] + failed[number]), words.count(int(tasks[number]), "task")]
        if (there := offered.get(name, 0.0)) > 0:
            told.insert(1, f"{words.share(min(1.0, (well[number] + failed[number]) / there))} busy")
        if name in memory:
            told.append(f"up to {words.size(memory[name])}")
        parts = [bars.Part("computing", float(well[number]), slot_color(19, dark=request.theme.dark))]
        if failed[number]:
            parts.append(bars.Part("failed", float(failed[number]), activity_color("failed", request.theme)))
        made.append(bars.Bar(request.title_of(name), parts, " · ".join(told)))
    shown = bars.fewer(made, _WORKERS, request.theme.grey(0.3, 0.2), words.duration)
    return Chart("Workers", [bars.plot(shown, "s", words.duration, label="thread time in task functions")])


def _there(request: Request) -> list[str]:
    workers = request.columns("workers")["worker"].tolist()
    return [name for name in workers if request.workers is None or name in request.workers]


def _offered(request: Request, ran: Ran) -> dict[str, float]:
    """Thread-seconds that each worker was there for, while there were tasks or in what is asked for.

    Without standstills.
    """
    table: Any = request.columns("workers")
    low, high = (moment + request.zero for moment in (request.between if request.bounded else ran.active))
    if not low < high:
        return {}
    start = np.fmax(low, table["joined"])
    stop = np.maximum(start, np.fmin(high, table["left"]))
    there = (stop - start - ran.still.within(start, stop)) * table["threads"]
    # Of one that came twice, its last time there.
    return dict(zip(table["worker"].tolist(), there.tolist(), strict=True))


def _most_memory(request: Request) -> dict[str, float]:
    low, high = (moment + request.zero for moment in request.between)
    (codes, names), _, nbytes = process_memory(request.columns).between(low, high)
    most = np.zeros(len(names))
    np.maximum.at(most, codes, nbytes)
    return {name: value for name, value in zip(names, most.tolist(), strict=True) if value > 0}
