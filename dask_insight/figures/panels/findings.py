"""What cost time or puts the run at risk, ranked."""

from __future__ import annotations

import numpy as np

from ... import words
from ..chart import Chart, Sign
from ..request import Request
from . import bars
from .severities import severity_colors


def chart(request: Request) -> Chart:
    """A bar a finding: the seconds that the run would be shorter by."""
    low, high = request.between if request.bounded else (-np.inf, np.inf)
    color = severity_colors(request.theme)
    told = request.recording.findings(start=low, stop=high)
    found = [each for each in told if each.severity in color]
    if request.prefixes is not None:
        found = [each for each in found if not each.tasks or request.prefixes & set(each.tasks)]
    if request.workers is not None:
        named = request.workers | {request.titles.get(worker, worker) for worker in request.workers}
        found = [each for each in found if not each.workers or named & set(each.workers)]
    if not found:
        return Chart("Findings", empty=told[:0].empty)
    made = []
    for each in found:
        cost = each.cost_seconds if each.cost_seconds > 0 else 0.0
        beside = f"≈{words.SPACE}{words.duration(cost)}" if cost else "a risk, no time lost"
        title = each.title.replace("`", "")
        made.append(bars.Bar(title, [bars.Part(each.severity, cost, color[each.severity])], beside))
    plot = bars.plot(made, "s", words.duration, label="seconds that the run would be shorter by", room=0.62)
    seen = {each.severity for each in found}
    return Chart("Findings", [plot], [Sign(name, color[name]) for name in color if name in seen])
