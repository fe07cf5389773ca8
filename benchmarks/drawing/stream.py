"""What was found about the task stream, beside Dask's own, and the bars for it."""

from __future__ import annotations

from statistics import median
from typing import Any, NamedTuple

from ..markdown import table
from .statistics import over_rounds

FRAME = 17.0
HOVER = 1.0
OPENS = 5.0


class Bar(NamedTuple):
    """How many times as fast as Bokeh: a frame, and the first picture."""

    frame: float
    first: float


BARS = {10_000: Bar(10, 2), 100_000: Bar(40, 4), 1_000_000: Bar(300, 10)}
_NO_BAR = Bar(0, 0)

_FRAMES = ("Tasks", "Shown", "In sight", "Pan, ms", "p95", "Zoom, ms", "Bokeh, ms", "Pan ×", "Zoom ×")
_FIRSTS = ("Tasks", "First picture, s", "Bokeh, s", "×", "Report, MB", "Bokeh, MB", "Report, bytes a task")


def show(results: list[dict[str, Any]]) -> list[str]:
    """Print the tables; returns in words the bars that were missed."""
    missed: list[str] = []
    frames: list[list[str]] = []
    firsts: list[list[str]] = []
    before: dict[str, Any] = {}
    for each in results:
        each["peer"] = _peer(each, before)
        before = each
        for zoom in each["rounds"][0]["ours"]["frames"]:
            frames.append(_frame_row(each, zoom, missed))
        firsts.append(_first_row(each, missed))
    print(table([*_FRAMES, "Hover p95, µs", "Erred seen"], frames))
    print()
    print(table(_FIRSTS, firsts))
    if any(each["peer"]["scaled"] for each in results):
        print("\n\\* Bokeh could not show so many; what it took for a tenth of them, times ten.")
    return missed


def _peer(each: dict[str, Any], smaller: dict[str, Any]) -> dict[str, Any]:
    """Bokeh's figures; those of a tenth of the tasks, times ten, where it gave up."""
    rounds = [turn["bokeh"] for turn in each["rounds"]]
    framed = [turn["frames"] for turn in rounds if "failed" not in turn["frames"]]
    opened = [turn["first"]["first"] for turn in rounds if "failed" not in turn["first"]]
    tenth = smaller.get("peer") if smaller and smaller["tasks"] * 10 == each["tasks"] else None
    zooms = each["rounds"][0]["ours"]["frames"]
    if framed:
        frames = {zoom: over_rounds(turn[zoom]["pan"] for turn in framed) for zoom in zooms}
    else:
        frames = {zoom: 10 * tenth["frames"][zoom] if tenth else float("nan") for zoom in zooms}
    first = median(opened) if opened else 10 * tenth["first"] if tenth else float("nan")
    return {"frames": frames, "first": first, "scaled": not (framed and opened)}


def _frame_row(each: dict[str, Any], zoom: str, missed: list[str]) -> list[str]:
    tasks, peer = each["tasks"], each["peer"]
    ours = [turn["ours"]["frames"][zoom] for turn in each["rounds"]]
    pan, p95 = (over_rounds((turn["pan"] for turn in ours), share) for share in (0.5, 0.95))
    zooming = over_rounds(turn["zooming"] for turn in ours)
    hover = over_rounds((turn["hover"] for turn in ours), 0.95)
    theirs = peer["frames"][zoom]
    seen = min(
        part["visible"] / part["inSight"] if part["inSight"] else 1.0
        for turn in ours
        for part in turn["erred"]
    )
    name = f"{tasks:,} tasks, {zoom}"
    bar = BARS.get(tasks, _NO_BAR).frame
    if pan > FRAME:
        missed.append(f"{name}: a frame takes {pan:.1f} ms, bar {FRAME} ms")
    if not theirs / pan >= bar:
        missed.append(f"{name}: a frame is {theirs / pan:.0f} times as fast as Bokeh's, bar {bar}")
    if hover > HOVER:
        missed.append(f"{name}: hover takes {hover:.2f} ms, bar {HOVER} ms")
    if seen < 1:
        missed.append(f"{name}: {seen:.1%} of the erred attempts can be seen, bar all")
    note = "*" if peer["scaled"] else ""
    return [
        f"{tasks:,}",
        zoom,
        f"{ours[0]['inSight']:,}",
        f"{pan:.1f}",
        f"{p95:.1f}",
        f"{zooming:.1f}",
        f"{theirs:,.0f}{note}",
        f"{theirs / pan:,.0f}",
        f"{theirs / zooming:,.0f}",
        f"{hover * 1000:.0f}",
        f"{seen:.0%}",
    ]


def _first_row(each: dict[str, Any], missed: list[str]) -> list[str]:
    tasks, peer = each["tasks"], each["peer"]
    ours = median(turn["ours"]["first"]["first"] for turn in each["rounds"])
    window = median(turn["ours"]["first"]["window"] for turn in each["rounds"])
    opened = median(turn["ours"]["first"]["opened"] for turn in each["rounds"])
    ratio = peer["first"] / ours
    bar = BARS.get(tasks, _NO_BAR).first
    if not ratio >= bar:
        missed.append(f"{tasks:,} tasks: the first picture comes {ratio:.1f} times as soon, bar {bar}")
    if tasks == 1_000_000 and opened > OPENS * 1000:
        missed.append(f"a report of {tasks:,} tasks opens in {opened / 1000:.1f} s, bar {OPENS} s")
    report, bokeh = each["bytes"]["report"], each["bytes"]["bokeh"]
    note = "*" if peer["scaled"] else ""
    return [
        f"{tasks:,}",
        f"{ours / 1000:.2f} (window: {window / 1000:.2f}, all: {opened / 1000:.2f})",
        f"{peer['first'] / 1000:.1f}{note}",
        f"{ratio:.1f}",
        f"{report / 1e6:.2f}",
        f"{bokeh / 1e6:.2f}",
        f"{report / tasks:.0f}",
    ]
