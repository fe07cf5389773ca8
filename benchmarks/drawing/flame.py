"""What was found about flame graphs, and the bars for ours."""

from __future__ import annotations

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
    between = {who: _over(rounds, who, "intervals") for who in ("ours", "flame-chart-js", "speedscope")}
    work, search = _over(rounds, "ours", "work"), _over(rounds, "ours", "search", 1.0)
    for who, interval in between.items():
        good = [turn[who] for turn in rounds if "failed" not in turn[who]]
        ours = who == "ours"
        rows.append(
            [
                who,
                f"{median(turn['first'] for turn in good) / 1000:.1f}" if good else "–",
                f"{interval:.1f}",
                f"{_over(rounds, who, 'intervals', 0.95):.1f}",
                f"{work:.1f}" if ours else "–",
                f"{search:.1f}" if ours else "–",
                f"{interval / between['ours']:.1f}",
            ]
        )
        if not ours and not interval / between["ours"] >= RATIO:
            missed.append(
                f"flame graph: {interval / between['ours']:.1f} times as fast as {who}, bar {RATIO}"
            )
    if work > FRAME:
        missed.append(f"flame graph: a frame takes {work:.1f} ms, bar {FRAME} ms")
    if search > SEARCH:
        missed.append(f"flame graph: search takes {search:.1f} ms, bar {SEARCH} ms")
    print(f"Flame graph of {size:,} frames, panned at full width; a display shows a frame every 16.7 ms.\n")
    print(table(_HEADER, rows))
    return missed


def _over(rounds: list[dict[str, Any]], who: str, what: str, share: float = 0.5) -> float:
    good = [turn[who][what] for turn in rounds if turn[who].get(what)]
    return over_rounds(good, share) if good else float("nan")
