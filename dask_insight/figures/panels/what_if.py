"""How much faster the run could be: the recorded time, its bounds, and what would change it."""

from __future__ import annotations

import math
from typing import NamedTuple

from ... import words
from ...analysis.what_if.answer import SAME
from ...timeline import UNNAMED
from ..chart import Chart, Sign
from ..colors import Rgb
from ..request import Request
from . import bars

#: Names of the times that are not what-ifs.
_BOUNDS = {
    "recorded": "Recorded",
    "longest": "Longest chain of tasks",
    "spread": "Work / threads",
    "most": "Brent’s bound",
}
#: Rows that are no times.
_SAID = ("calibration", "note", "gap")
_SIMULATED: tuple[Rgb, Rgb] = ((26, 102, 201), (108, 182, 255))


class _Time(NamedTuple):
    question: str
    text: str
    seconds: float
    low: float
    high: float


def chart(request: Request) -> Chart:
    """A bar a time, on one scale; what is uncertain about it is pale.

    Of several clusters, that with most work.
    """
    table = request.recording.answer("what_if")
    names = ("question", "text", "seconds", "low", "high")
    clusters: list[str] = table["cluster"].tolist()
    rows = [_Time(*row) for row in zip(*(table[name].tolist() for name in names), strict=True)]
    rows = [row for row, cluster in zip(rows, clusters, strict=True) if cluster == clusters[0]]
    title = f"What if, {clusters[0] or UNNAMED}" if len(set(clusters)) > 1 else "What if"
    times = [row for row in rows if row.question not in _SAID and row.seconds >= 0]
    if not times:
        return Chart(title, empty="No task has ended: there is nothing to simulate.")
    took = next((row.seconds for row in times if row.question == "recorded"), math.nan)
    theme = request.theme
    simulated = _SIMULATED[theme.dark]
    colors = {
        "recorded": theme.grey(0.8, 0.4),
        **dict.fromkeys(("longest", "spread", "most"), theme.grey(0.3, 0.12)),
    }
    made = [_bar(row, took, colors.get(row.question, simulated), theme.wash(simulated)) for row in times]
    signs = [Sign("recorded", colors["recorded"]), Sign("bound", colors["most"])]
    if len(times) > sum(row.question in _BOUNDS for row in times):
        signs.append(Sign("simulated", simulated))
    note = " ".join(row.text.replace("`", "") for row in rows if row.question in _SAID)
    plot = bars.plot(made, "s", words.duration, label="length of the run", room=0.42)
    return Chart(title, [plot], signs, note=note)


def _bar(row: _Time, took: float, color: Rgb, pale: Rgb) -> bars.Bar:
    label = _BOUNDS.get(row.question, row.text.replace("`", ""))
    if row.high > row.low:
        parts = [bars.Part("at least", row.low, color), bars.Part("at most", row.high - row.low, pale)]
        return bars.Bar(label, parts, f"{words.duration(row.low)} to {words.duration(row.high)}")
    told = words.duration(row.seconds)
    if row.question not in _BOUNDS and took > 0:
        change = row.seconds / took - 1
        way = "−" if change < 0 else "+"
        told += " · same" if abs(change) < SAME else f" · {way}{words.share(abs(change))}"
    return bars.Bar(label, [bars.Part("takes", row.seconds, color)], told)
