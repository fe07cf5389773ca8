"""How fast the page draws: the task stream against Dask's own in Bokeh, in the same browser, in turns.

python -m benchmarks.drawing [--quick] [--rounds 3] [--json FILE]

Needs Node, the packages of the front end (`npm ci`) and Chromium, named by CHROMIUM_PATH or on the PATH.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from ..markdown import table
from .pages import LANES, bokeh_page, recording_of, report_page, stream_page

HERE = Path(__file__).parent

#: Tasks: how many times faster a frame, and sooner the first picture, must be than Bokeh's.
BARS = {10_000: (10, 2), 100_000: (40, 4), 1_000_000: (300, 10)}
FRAME = 17.0
HOVER = 1.0
OPENS = 5.0


def main() -> int:
    """Measure, print tables, say which bars hold; 1 if one does not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drawing", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10,000 tasks and one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", type=int, nargs="+", default=list(BARS))
    parser.add_argument("--json", type=Path, help="file for all single measurements")
    options = parser.parse_args()
    tasks = [10_000] if options.quick else options.tasks
    rounds = 1 if options.quick else options.rounds
    with tempfile.TemporaryDirectory() as folder:
        files = {count: pages(count, Path(folder)) for count in tasks}
        sizes = {
            count: {name: path.stat().st_size for name, path in each.items()} for count, each in files.items()
        }
        plan = {
            "rounds": rounds,
            "frames": 40,
            "stream": [
                {"tasks": count, **{k: str(v) for k, v in each.items()}} for count, each in files.items()
            ],
        }
        results = browse(plan)
    if options.json:
        options.json.write_text(json.dumps({"sizes": sizes, **results}))
    print(f"{results['browser']}, software rendering, {LANES} lanes, medians of {rounds} rounds in turns.\n")
    failed = stream_tables({each["tasks"]: each["rounds"] for each in results["stream"]}, sizes)
    for words in failed:
        print(f"Missed: {words}", file=sys.stderr)
    return int(bool(failed) and not options.quick)


def pages(tasks: int, folder: Path) -> dict[str, Path]:
    """Write the pages of one size."""
    files = {name: folder / f"{name}-{tasks}.html" for name in ("report", "stream", "bokeh")}
    recording = recording_of(tasks)
    report_page(recording, files["report"])
    stream_page(files["report"], files["stream"])
    bokeh_page(recording, files["bokeh"])
    return files


def browse(plan: dict[str, Any]) -> dict[str, Any]:
    """Measure in Chromium."""
    chromium = os.environ.get("CHROMIUM_PATH") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if chromium is None:
        raise SystemExit("Drawing is measured in Chromium, and none was found; name one with CHROMIUM_PATH.")
    process = subprocess.run(
        ["node", str(HERE / "run.mjs"), json.dumps(plan)],
        env={**os.environ, "CHROMIUM_PATH": chromium},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(process.stdout)
    return found


def stream_tables(results: dict[int, list[Any]], sizes: dict[int, dict[str, int]]) -> list[str]:
    """Print what was found about the task stream; returns the bars that were missed, in words."""
    missed: list[str] = []
    rows: list[list[object]] = []
    firsts: list[list[object]] = []
    frames = {tasks: bokeh_frame(rounds) for tasks, rounds in results.items()}
    opened = {tasks: first(rounds, "bokeh") for tasks, rounds in results.items()}
    for tasks, rounds in results.items():
        frame_bar, first_bar = BARS.get(tasks, (0, 0))
        theirs, theirs_note = scaled(frames, tasks)
        for zoom in rounds[0]["ours"]["frames"]:
            pan, p95, zooming = (
                middle(rounds, zoom, "pan"),
                middle(rounds, zoom, "pan", 0.95),
                middle(rounds, zoom, "zooming"),
            )
            peer = frames[tasks][zoom] if frames[tasks] else theirs[zoom]
            hover = middle(rounds, zoom, "hover", 0.95)
            erred = [each["ours"]["frames"][zoom]["erred"] for each in rounds]
            seen = min(
                part["visible"] / part["inSight"] if part["inSight"] else 1 for each in erred for part in each
            )
            rows.append(
                [
                    f"{tasks:,}",
                    zoom,
                    f"{rounds[0]['ours']['frames'][zoom]['inSight']:,}",
                    f"{pan:.2f}",
                    f"{p95:.1f}",
                    f"{zooming:.2f}",
                    f"{peer:,.0f}{theirs_note}",
                    f"{peer / pan:,.0f}",
                    f"{peer / zooming:,.0f}",
                    f"{hover * 1000:.0f}",
                    f"{seen:.0%}",
                ]
            )
            if pan > FRAME:
                missed.append(f"{tasks:,} tasks, {zoom}: a frame takes {pan:.1f} ms, bar {FRAME} ms")
            if peer / pan < frame_bar:
                missed.append(f"{tasks:,} tasks, {zoom}: {peer / pan:.0f} times Bokeh, bar {frame_bar}")
            if hover > HOVER:
                missed.append(f"{tasks:,} tasks, {zoom}: hover takes {hover:.2f} ms, bar {HOVER} ms")
            if seen < 1:
                missed.append(f"{tasks:,} tasks, {zoom}: {seen:.0%} of the erred attempts can be seen")
        ours = first(rounds, "ours")
        peer_first, note = (opened[tasks], "") if opened[tasks] else (scaled_first(opened, tasks), "*")
        ratio = peer_first / ours if ours and peer_first else float("nan")
        report, bokeh = sizes[tasks]["report"], sizes[tasks]["bokeh"]
        firsts.append(
            [
                f"{tasks:,}",
                f"{ours / 1000:.2f}",
                f"{peer_first / 1000:.1f}{note}",
                f"{ratio:.1f}",
                f"{report / 1000000.0:.2f}",
                f"{bokeh / 1000000.0:.2f}",
                f"{report / tasks:.0f}",
            ]
        )
        if ratio < first_bar:
            missed.append(f"{tasks:,} tasks: first picture {ratio:.1f} times sooner, bar {first_bar}")
        if tasks == 1_000_000 and ours > OPENS * 1000:
            missed.append(f"a report of {tasks:,} tasks opens in {ours / 1000:.1f} s, bar {OPENS} s")
    print(
        table(
            [
                "Tasks",
                "Shown",
                "In sight",
                "Pan, ms",
                "p95",
                "Zoom, ms",
                "Bokeh pan, ms",
                "Pan ×",
                "Zoom ×",
                "Hover p95, µs",
                "Erred seen",
            ],
            rows,
        )
    )
    print()
    print(
        table(
            ["Tasks", "First picture, s", "Bokeh, s", "×", "Report, MB", "Bokeh, MB", "Report, bytes a task"],
            firsts,
        )
    )
    if any("*" in str(cell) for row in rows + firsts for cell in row):
        print("\n\\* Bokeh did not open this page; the figure is that of a tenth of the tasks, times ten.")
    return missed


def middle(rounds: list[Any], zoom: str, what: str, share: float = 0.5) -> float:
    """Median over rounds of the median (or another quantile) in each."""
    return median(quantile(each["ours"]["frames"][zoom][what], share) for each in rounds)


def quantile(values: list[float], share: float) -> float:
    """The value that this share of them does not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def bokeh_frame(rounds: list[Any]) -> dict[str, float]:
    """Zoom to median frame; empty where Bokeh gave up."""
    good = [each["bokeh"]["frames"] for each in rounds if "failed" not in each["bokeh"]["frames"]]
    if not good:
        return {}
    return {zoom: median(median(each[zoom]["pan"]) for each in good) for zoom in good[0]}


def first(rounds: list[Any], who: str) -> float:
    """Median time to the first picture, ms; 0 where there was none."""
    good = [each[who]["first"]["first"] for each in rounds if "failed" not in each[who]["first"]]
    return median(good) if good else 0.0


def scaled(frames: dict[int, dict[str, float]], tasks: int) -> tuple[dict[str, float], str]:
    """Bokeh's frames at a tenth of the tasks, times ten, where it could not show them all."""
    if frames[tasks] or not frames.get(tasks // 10):
        return frames[tasks], ""
    return {zoom: 10 * value for zoom, value in frames[tasks // 10].items()}, "*"


def scaled_first(opened: dict[int, float], tasks: int) -> float:
    """The same for the first picture."""
    return 10 * opened.get(tasks // 10, 0.0)


if __name__ == "__main__":
    sys.exit(main())
