"""What was found about the live panels, and the bars for it; each function returns what is missed."""

from __future__ import annotations

import gzip
from pathlib import Path
from statistics import median
from typing import Any

from ..markdown import table
from ..overhead_turns import over_pairs

#: Milliseconds from the end of a task to its rectangle.
LATENCY = 500
#: Tasks that end in a second meanwhile, nearly: below that, the machine did not do what was to be measured.
RATE = 990
#: Milliseconds of a frame while panning.
FRAME = 33
#: Bytes that many tasks take in the kernel and in the page.
KERNEL, PAGE = 60e6, 150e6
#: Milliseconds from opening a panel to its first picture.
FIRST = 300
#: CPU of scheduler and workers over that without the extension, by kind of workload.
OVERHEAD = {"trivial": 1.05, "array": 1.02}
#: Gzipped bytes of a script that stands in each report, or that a notebook gets with its first widget.
SIZE = 120e3
BARRED = ("static/report.js", "static/widget.js")


def latency(rounds: list[dict[str, Any]]) -> list[str]:
    """From the end of a task on a worker until the task stream was drawn with it."""
    middles = [median(each["latencies"]) for each in rounds]
    late = median(sorted(each["latencies"])[int(0.95 * len(each["latencies"]))] for each in rounds)
    rate = median(each["rate"] for each in rounds)
    print("From the end of a task on a worker to its rectangle in the task stream, kernel busy:\n")
    seen = sum(len(each["latencies"]) for each in rounds)
    rows = [[f"{rate:,.0f}", f"{seen:,}", f"{median(middles):.0f}", f"{late:.0f}", LATENCY]]
    print(table(["tasks a second", "tasks", "median, ms", "p95, ms", "bar, ms"], rows))
    slow = [f"only {rate:.0f} tasks ended in a second, bar {RATE}"] if rate < RATE else []
    return [*slow, *_missed(median(middles), LATENCY, "a task is shown after {:.0f} ms, bar {:.0f} ms")]


def first(result: dict[str, Any]) -> list[str]:
    """From the command that opens a panel to its first picture, with data there already."""
    print(f"From opening a panel to its first picture, {result['tasks']:,} tasks there already:\n")
    rounds = result["rounds"]
    middles = {
        name: {when: median(each[when][name] for each in rounds) for when in ("rest", "busy")}
        for name in rounds[0]["rest"]
    }
    rows = [[name, f"{ms['rest']:.0f}", f"{ms['busy']:.0f}", FIRST] for name, ms in middles.items()]
    print(table(["panel", "ms", "ms while 500 tasks a second arrive", "bar, ms"], rows))
    return [
        words
        for name, ms in middles.items()
        for words in _missed(ms["rest"], FIRST, name + ": first picture after {:.0f} ms, bar {:.0f} ms")
    ]


def many(result: dict[str, Any]) -> list[str]:
    """Many tasks in one kernel: memory on both sides, and frames while tasks go on arriving."""
    before, after = result["before"], result["after"]
    kernel, page = after["rss"] - before["rss"], after["heap"] - before["heap"]
    frame = median(median(each) for each in result["pans"])
    late = median(sorted(each)[int(0.95 * len(each))] for each in result["pans"])
    print(f"{result['tasks']:,} tasks of another process live in one kernel, more of them arriving:\n")
    print(
        table(
            ["what", "measured", "bar"],
            [
                ["kernel: resident bytes for it", f"{kernel / 1e6:.1f} MB", f"{KERNEL / 1e6:.0f} MB"],
                ["page: bytes for it", f"{page / 1e6:.1f} MB", f"{PAGE / 1e6:.0f} MB"],
                ["page: bytes with JupyterLab", f"{after['heap'] / 1e6:.1f} MB", ""],
                ["frame to frame while panning, median", f"{frame:.1f} ms", f"{FRAME} ms"],
                ["the same, p95", f"{late:.1f} ms", ""],
            ],
        )
    )
    return [
        *_missed(kernel, KERNEL, "the kernel takes {:.3g} bytes more, bar {:.3g}"),
        *_missed(page, PAGE, "the page takes {:.3g} bytes more, bar {:.3g}"),
        *_missed(frame, FRAME, "a frame of a pan takes {:.1f} ms, bar {:.0f} ms"),
    ]


def overhead(results: dict[str, dict[str, list[dict[str, float]]]]) -> list[str]:
    """CPU of cluster, kernel and browser with the extension loaded, over the same without, in turns."""
    rows, missed = [], []
    for workload, modes in results.items():
        for part, words in _PARTS.items():
            bare, live = ([_of(part, turn) for turn in modes[mode]] for mode in ("bare", "live"))
            ratio, low, high = over_pairs(bare, live)
            bar = OVERHEAD[workload.split("-")[0]] if part == "cluster" else None
            rows.append(
                [
                    workload,
                    words,
                    f"{median(bare):.2f}",
                    f"{median(live):.2f}",
                    f"{ratio:.3f} ({low:.3f}–{high:.3f})",
                    "" if bar is None else f"{bar:.2f}",
                ]
            )
            if bar is not None:
                missed += _missed(ratio, bar, workload + ": {:.3f} times the cluster's CPU, bar {:.2f}")
    pairs = min(len(modes["bare"]) for modes in results.values())
    print(
        f"Seconds of CPU, with Lab open and four panels showing, in {pairs} pairs of turns on one cluster;\n"
        "bare: the extension is not loaded. Ratios are medians of pairs, with the interval they lie in:\n"
    )
    print(table(["workload", "of", "bare", "live", "ratio", "bar"], rows))
    return missed


_PARTS = {
    "cluster": "scheduler and workers",
    "kernel": "kernel: client, recording",
    "both": "cluster and kernel",
    "page": "browser",
    "wall": "wall time",
}


def _of(part: str, turn: dict[str, float]) -> float:
    return turn["cluster"] + turn["kernel"] if part == "both" else turn[part]


def sizes(package: Path) -> list[str]:
    """Gzipped bytes of the scripts that pages load; JupyterLab's come from its server, and have no bar."""
    files = sorted([*package.glob("static/*.js"), *package.glob("labextension/static/*.js")])
    found = {path.relative_to(package).as_posix(): len(gzip.compress(path.read_bytes(), 9)) for path in files}
    print("Scripts, gzipped:\n")
    bar = f"{SIZE / 1e3:.0f}"
    rows = [[name, f"{size / 1e3:.1f}", bar if name in BARRED else ""] for name, size in found.items()]
    print(table(["file", "kB", "bar, kB"], rows))
    return [
        words
        for name, size in found.items()
        if name in BARRED
        for words in _missed(size, SIZE, name + " has {:.0f} bytes, bar {:.0f}")
    ]


def _missed(value: float, bar: float, words: str) -> list[str]:
    return [words.format(value, bar)] if value > bar else []
