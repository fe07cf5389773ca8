"""Task names by the time that they took."""

from __future__ import annotations

import numpy as np

from ... import words
from ..chart import Chart
from ..ran import Ran
from ..request import Request
from . import bars
from .task_stream import NONE

#: Task names that have a bar of their own.
_NAMES = 25


def chart(request: Request) -> Chart:
    """A bar a task name: computing seconds, share of all, tasks."""
    ran = Ran(request)
    if not len(ran):
        return Chart("Functions", empty=NONE)
    count = len(ran.names)
    seconds = np.bincount(ran.name, ran.seconds, count)
    tasks = np.bincount(ran.name, minlength=count)
    failed = np.bincount(ran.name, ran.status > 0, count)
    # Whole durations, also where the time that is shown cuts them; what runs still has none.
    ended = ~ran.running
    finished = np.bincount(ran.name[ended], minlength=count)
    lasted = np.bincount(ran.name[ended], ran.lasted[ended], count)
    whole = float(seconds.sum()) or 1.0
    made = []
    for code in np.argsort(-seconds, kind="stable").tolist():
        if not tasks[code]:
            continue
        name = ran.names[code]
        told = [words.duration(seconds[code]), words.share(seconds[code] / whole)]
        told += [words.count(int(tasks[code]), "task")]
        told += [f"mean {words.duration(lasted[code] / finished[code])}"] if finished[code] else []
        told += [f"{words.count(int(failed[code]))} failed"] if failed[code] else []
        parts = [bars.Part("computing", float(seconds[code]), request.colors[name])]
        made.append(bars.Bar(name or "(no name)", parts, " · ".join(told)))
    shown = bars.fewer(made, _NAMES, request.theme.grey(0.3, 0.2), words.duration)
    return Chart("Functions", [bars.plot(shown, "s", words.duration, label="thread time in task functions")])
