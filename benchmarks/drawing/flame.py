"""What was found about flame graphs, and the bars for ours."""

from __future__ import annotations

from math import isnan
from statistics import median
from typing import Any

from ..markdown import table
from .statistics import over_rounds

FRAME = 17.0
RATIO = 2.0
SEARCH = 30.0

_HEADER = (
    "Flame graph",
    "First picture, s",
    "Between frames, ms",
    "p95",
    "Work a frame, ms",
    "Search, ms",
    "×",
)


def show(rounds: list[dict[str, Any]], size: int) -> list[str]:
    """Print the table; returns in words the bars that were missed."""
    missed: list[str] = []
    rows: list[list[str]] = []
    names = ("ours", "flame-chart-js", "speedscope")
    between = {who: _over(rounds, who, "intervals") for who in names}
    work = {who: _over(rounds, who, "work") for who in names}
    search = _over(rounds, "ours", "search", 1.0)
    for who in names:
        good = [turn[who] for turn in rounds if "failed" not in turn[who]]
        # A display hides what is done within a frame; speedscope cannot be timed otherwise.
        measure = between if isnan(work[who]) else work
        ratio = measure[who] / measure["ours"]
        rows.append(
            [
                who,
                f"{median(turn['first'] for turn in good) / 1000:.1f}" if good else "–",
                f"{between[who]:.1f}",
                f"{_over(rounds, who, 'intervals', 0.95):.1f}",
                "–" if isnan(work[who]) else f"{work[who]:.1f}",
                f"{search:.1f}" if who == "ours" else "–",
                f"{ratio:.1f}",
            ]
        )
        if who != "ours" and not ratio >= RATIO:
            missed.append(f"flame graph: {ratio:.1f} times as fast as {who}, bar {RATIO}")
    if work["ours"] > FRAME:
        missed.append(f"flame graph: a frame takes {work['ours']:.1f} ms, bar {FRAME} ms")
    if search > SEARCH:
        missed.append(f"flame graph: search takes {search:.1f} ms, bar {SEARCH} ms")
    print(f"Flame graph of {size:,} frames, panned at full width; a display shows a frame every 16.7 ms.\n")
    print(table(_HEADER, rows))
    return missed


def _over(rounds: list[dict[str, Any]], who: str, what: str, share: float = 0.5) -> float:
    good = [turn[who][what] for turn in rounds if turn[who].get(what)]
    return over_rounds(good, share) if good else float("nan")
