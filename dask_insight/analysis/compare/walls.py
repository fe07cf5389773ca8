"""Wall time of the sides, and what it went into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...words import ABSENT
from . import noise
from .cores import waited
from .measure import Measured
from .spent import paired

#: What a part of the time budget is expected to differ by from run to run: of itself, and of the wall time.
_OF_PART, _OF_WALL = 0.05, 0.01
#: What the most memory of a run is expected to differ by from run to run, relative to it.
_OF_MEMORY = 0.05

Sides = Sequence[Sequence[Measured]]


def sides(measured: Sides, names: Sequence[str]) -> dict[str, Any]:
    """The columns of the table `compared_sides`, but for the words.

    Without repeats the noise of the wall time has two parts: what runs are
    expected to differ by, a share of their time and some hundredths of a second,
    and how the attempts of each task name differ within the runs, or from those
    of the same rank, on all threads together (`noise`); and what their threads
    waited more or less for a free core is added (`cores`).
    """
    walls = [np.array([[run.seconds] for run in side]) for side in measured]
    mean = np.array([float(each.mean()) for each in walls])
    seen = noise.repeats(walls)
    width = np.full(len(mean), np.nan)
    for number in range(1, len(mean)):
        within = [_within(*runs) for runs in zip(measured[0], measured[number], strict=False)]
        runs = (len(walls[0]), len(walls[number]))
        level = noise.relative_to((mean[0], mean[number]), runs)
        starting = noise.STARTING / level if level > 0 else 0.0
        sd = noise.deviation(seen, float(np.sqrt(noise.EXPECTED**2 + starting**2 + np.mean(within))))
        width[number] = noise.width(sd, seen.df, runs, (mean[:1], mean[number : number + 1]))[0]
        width[number] += waited(measured[0], measured[number]).seconds
    width[(mean == 0) | (mean[0] == 0)] = np.nan
    change = np.where(np.arange(len(mean)) > 0, mean - mean[0], np.nan)
    return {
        "side": np.arange(len(mean)),
        "name": list(names),
        "runs": [len(side) for side in measured],
        **{
            name: [_mean([getattr(run, name) for run in side]) for side in measured]
            for name in ("workers", "threads", "seconds", "thread_seconds", "computing", "tasks", "starved")
        },
        "memory": [_mean([run.memory.most for run in side]) for side in measured],
        "memory_noise": _memory_noise(measured),
        "change": change,
        "noise": width,
        "source": ["", *["runs" if seen.df else "tasks"] * (len(mean) - 1)],
        "verdict": ["baseline", *_words(change[1:], width[1:], "slower", "faster")],
    }


def _memory_noise(measured: Sides) -> np.ndarray:
    most = [np.array([[run.memory.most] for run in side]) for side in measured]
    seen = noise.repeats(most)
    sd = noise.deviation(seen, _OF_MEMORY)
    mean = [each.mean(axis=0) for each in most]
    pairs = [(len(most[0]), len(each)) for each in most]
    width = [noise.width(sd, seen.df, pairs[side], (mean[0], mean[side]))[0] for side in range(len(most))]
    return np.array([np.nan, *width[1:]])


def runs(measured: Sides) -> dict[str, Any]:
    """The columns of the table `compared_runs`."""
    told = [(side, number, run) for side, runs in enumerate(measured) for number, run in enumerate(runs)]
    figures = ("name", "file", "started", "seconds", "workers", "threads", "thread_seconds", "computing")
    return {
        "side": [side for side, _, _ in told],
        "run": [number for _, number, _ in told],
        **{name: [getattr(run, name) for _, _, run in told] for name in (*figures, "tasks", "starved")},
        "memory": [run.memory.most for _, _, run in told],
    }


def budget(measured: Sides) -> dict[str, Any]:
    """The columns of the table `compared_budget`: parts whose time changed most first."""
    kinds: dict[str, str] = {}
    for side in measured:
        for run in side:
            kinds |= {part: kind for part, (kind, _) in run.budget.items()}
            kinds |= {ABSENT: "idle"} if run.absent > 0 else {}
    parts = list(kinds)
    computing = np.array([kinds[part] == "computing" and part != "cpu" for part in parts])
    seconds = [np.array([_parts(run, parts) for run in side]).reshape(len(side), -1) for side in measured]
    walls = [
        each * np.array([[(run.seconds - run.absent) / max(run.thread_seconds, 1e-300)] for run in side])
        for each, side in zip(seconds, measured, strict=True)
    ]
    if ABSENT in kinds:
        for each, side in zip(walls, measured, strict=True):
            each[:, parts.index(ABSENT)] = [run.absent for run in side]
    seen = noise.repeats(walls, relative=False)
    mean = np.array([each.mean(axis=0) for each in walls])
    change, width = np.full((2, *mean.shape), np.nan)
    words = np.full(mean.shape, "baseline", object)
    for number in range(1, len(mean)):
        change[number] = mean[number] - mean[0]
        larger = np.maximum(mean[0], mean[number])
        whole = max(mean[0].sum(), mean[number].sum())
        of_wall = np.hypot(_OF_WALL * whole, noise.STARTING)
        sd = noise.deviation(seen, np.hypot(_OF_PART * larger, of_wall))
        ones = np.ones(len(parts))
        width[number] = noise.width(sd, seen.df, (len(walls[0]), len(walls[number])), (ones, ones))
        width[number] += np.where(computing, waited(measured[0], measured[number]).seconds, 0.0)
        words[number] = _words(change[number], width[number], "more", "less")
    most = np.nanmax(np.abs(change[1:]), axis=0) if parts else np.zeros(0)
    order = np.lexsort((-mean.max(axis=0), -most)) if parts else np.zeros(0, "i8")
    total = np.array([each.mean(axis=0) for each in seconds])
    whole_time = np.maximum(total.sum(axis=1, keepdims=True), 1e-300)

    def by_part(values: np.ndarray) -> Any:
        return values[:, order].T.reshape(-1)

    return {
        "side": np.tile(np.arange(len(mean)), len(parts)),
        "kind": [kinds[parts[part]] for part in order for _ in measured],
        "part": [parts[part] for part in order for _ in measured],
        "seconds": by_part(total),
        "share": by_part(total / whole_time),
        "wall": by_part(mean),
        "change": by_part(change),
        "noise": by_part(width),
        "verdict": by_part(words).tolist(),
    }


def _parts(run: Measured, parts: list[str]) -> list[float]:
    return [run.budget.get(part, ("", 0.0))[1] for part in parts]


def _within(before: Measured, after: Measured) -> float:
    """What the wall times of two runs vary by, as their attempts do: squared, relative to both squared."""
    if not (before.threads > 0 and after.threads > 0):
        return 0.0
    rows = {name: row for row, name in enumerate(dict.fromkeys(before.names.names + after.names.names))}
    place = [np.array([rows[name] for name in run.names.names], "i8") for run in (before, after)]
    pairs, _ = paired(before.names, after.names, (place[0], place[1]), len(rows))
    apart = np.zeros(len(rows))
    for run, of in zip((before, after), place, strict=True):
        apart += np.bincount(of, np.nan_to_num(run.names.error), len(rows)) / run.threads**2
    error = np.where(np.isfinite(pairs), pairs / (before.threads * after.threads), apart)
    return float(error.sum() / (before.seconds**2 + after.seconds**2))


def _words(change: np.ndarray, width: np.ndarray, more: str, less: str) -> list[str]:
    words = np.where(change > width, more, np.where(change < -width, less, "same"))
    told: list[str] = np.where(np.isfinite(width), words, "unknown").tolist()
    return told


def _mean(values: list[float]) -> float:
    return float(np.mean(values))
