"""Where the time went inside the tasks: sampled call stacks, callers over what they call."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import words
from ...words import short
from ..chart import Axis, Boxes, Chart, Plot, Rows, Sign
from ..request import Request
from .packages import package_color, package_of

ROW = 18
#: Frames narrower than this share of all are left out, and deeper ones than this.
_LEAST, _DEEPEST = 1 / 4000, 48
#: Packages in the legend.
_PACKAGES = 8
#: How a person records none.
_OFF = "`profile=False`, `--no-profile`"


def chart(request: Request) -> Chart:
    """A box a function: as wide as its seconds, under what called it."""
    title = "Flame graph"
    tree = request.recording.flame(
        prefix=None if request.prefixes is None else sorted(request.prefixes),
        worker=None if request.workers is None else sorted(request.workers),
        start=request.between[0] if request.bounded else -np.inf,
        stop=request.between[1] if request.bounded else np.inf,
    )
    if not len(tree):
        return Chart(title, empty=_without(request))
    total = tree["total"].to_numpy("f8")
    whole = float(total[tree["depth"].to_numpy() == 0].sum())
    least = max(_LEAST * whole, float(np.sort(total)[-request.limit]) if len(total) > request.limit else 0.0)
    kept = np.flatnonzero((total >= least) & (tree["depth"].to_numpy() < _DEEPEST))
    left = side_by_side(tree["parent"].to_numpy(), total, kept)
    shown = tree.iloc[kept]
    functions = shown["function"].astype(str).tolist()
    files = shown["file"].astype(str).tolist()
    packages = [package_of(file) for file in files]
    dark = request.theme.dark
    colors = [
        package_color(package, name, dark=dark) for package, name in zip(packages, functions, strict=True)
    ]
    palette = list(dict.fromkeys(colors))
    place = {color: number for number, color in enumerate(palette)}
    depth = shown["depth"].to_numpy("f8")
    deepest = int(depth.max()) + 1

    def tell() -> dict[str, list[str]]:
        return {
            "Function": [short(name, 80) for name in functions],
            "Where": [
                f"{short(file, 80)}:{line}" if file else ""
                for file, line in zip(files, shown["first_line"].tolist(), strict=True)
            ],
            "With what it calls": [
                f"{words.duration(each)} ({words.share(each / whole)})" for each in shown["total"].tolist()
            ],
            "Itself": [words.duration(each) for each in shown["self"].tolist()],
        }

    boxes = Boxes(
        left[kept],
        left[kept] + total[kept],
        depth + 0.03,
        depth + 0.97,
        np.array([place[color] for color in colors], "i8"),
        palette,
        tell,
        functions,
    )
    rows = Rows(deepest, [])
    plot = Plot([boxes], Axis("s", 0.0, whole, "thread time in tasks"), rows, ROW * deepest)
    own = _by_package(packages, shown, whole)
    signs = [
        Sign(f"{short(name, 30)} {words.share(part)}", package_color(name, dark=dark)) for name, part in own
    ]
    hidden = len(tree) - len(kept)
    deep = f" or under {_DEEPEST} others" if int(tree["depth"].max()) >= _DEEPEST else ""
    note = (
        f"{words.count(hidden, 'call')} shorter than {words.duration(least)}{deep} left out" if hidden else ""
    )
    return Chart(title, [plot], signs[:_PACKAGES], max(0, len(signs) - _PACKAGES), note)


def _without(request: Request) -> str:
    """Why there is nothing to draw."""
    if len(request.columns("samples")["time"]):
        return "No task was sampled in what is shown."
    options = request.recording.about.get("options")
    if isinstance(options, dict) and options.get("profile") is False:
        return f"Recorded without call stacks ({_OFF})."
    why = "no task ran long enough to be sampled, or sampling was off"
    return f"No call stacks were recorded: {why} ({_OFF})."


def side_by_side(parent: np.ndarray, total: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Where each frame begins: those of one caller side by side, from where it begins."""
    left = np.zeros(len(parent))
    end = np.zeros(len(parent))
    base = 0.0
    for row in kept.tolist():
        above = int(parent[row])
        if above < 0:
            left[row] = base
            base += total[row]
        else:
            left[row] = end[above]
            end[above] += total[row]
        end[row] = left[row]
    return left


def _by_package(packages: list[str], shown: Any, whole: float) -> list[tuple[str, float]]:
    """Share of each package's own time, most first."""
    sums: dict[str, float] = {}
    for package, seconds in zip(packages, shown["self"].tolist(), strict=True):
        sums[package] = sums.get(package, 0.0) + seconds
    shares = ((name, value / whole) for name, value in sums.items() if value > 0)
    return sorted(shares, key=lambda pair: -pair[1])
