"""Task names of the sides: what each took, and whose change matters first."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...lookup import ratio
from . import noise
from .cores import Waited, waited
from .measure import Measured
from .spent import paired

#: What a part of a name that differs from graph to graph looks like: tokens, hashes, ids, addresses.
_TOKEN = re.compile(r"(?<![0-9A-Za-z])(?:0x)?(?=[0-9a-f]*[0-9])[0-9a-f]{6,}(?![0-9A-Za-z])")
#: Relative spread of attempts of which nothing tells how alike they are.
_UNKNOWN = 0.25


class _Figures(NamedTuple):
    """A measure of every name in every run of a side: (runs, names)."""

    attempts: np.ndarray
    #: Sum over the attempts, and its squared standard error.
    seconds: np.ndarray
    error: np.ndarray
    #: Of that sum what lies in the part of a run that was cut out.
    part: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Of an attempt, over all runs; NaN where none ran."""
        return ratio(self.seconds.mean(axis=0), self.attempts.mean(axis=0), np.nan)

    @property
    def within(self) -> np.ndarray:
        """Share of the sum that lies in that part, 0 to 1."""
        return ratio(self.part.mean(axis=0), self.seconds.mean(axis=0), 1.0)


def names(sides: Sequence[Sequence[Measured]]) -> dict[str, Any]:
    """The columns of the table `compared_names`.

    The noise of a name's mean has two parts: how its attempts differ within a
    run (`noise.batch_means`), or from those of the same rank in the other
    (`spent.paired`), and how runs differ. With many names to look at,
    99 of 100 that did not change are said to be the same. CPU time is looked at
    too, as it tells the same on a machine that others keep busy.
    """
    known, place, members = _matched(sides)
    placed = list(zip(sides, place, strict=True))
    spent, cpu = ([_figures(*each, len(known), cpu) for each in placed] for cpu in (False, True))
    alike = [_alike(placed[0], each, len(known)) for each in placed]
    threads = [float(np.mean([run.threads for run in side])) for side in sides]
    cores = [waited(sides[0], side) for side in sides]
    rows = [
        _side(number, spent, cpu, alike[number], threads[number], cores[number])
        for number in range(len(sides))
    ]
    impact = np.array([row["impact"] for row in rows])
    differs = np.array(
        [[word not in ("baseline", "same", "none") for word in row["verdict"]] for row in rows]
    )
    order = np.lexsort((np.arange(len(known)), -np.nanmax(np.abs(impact), axis=0), ~differs.any(axis=0)))
    width = len(sides)
    made: dict[str, Any] = {
        "side": np.tile(np.arange(width), len(known)),
        "name": [known[name] for name in order for _ in range(width)],
        "names": [json.dumps(members[side][name]) for name in order for side in range(width)],
    }
    for column in rows[0]:
        values = np.array([row[column] for row in rows])
        made[column] = values[:, order].T.reshape(-1)
    return made | {"verdict": made["verdict"].tolist()}


def shape_of(name: str) -> str:
    """A name with … in place of what looks like a token, a hash or an address."""
    return _TOKEN.sub("…", name)


def _matched(
    sides: Sequence[Sequence[Measured]],
) -> tuple[list[str], list[list[np.ndarray]], list[list[list[str]]]]:
    """Names of the rows, the row of each name of each run, and each side's own names of each row.

    A name that every side has is itself. Others that are alike but for what
    looks like a token stand together under the name without it.
    """
    told = [[run.names.names for run in side] for side in sides]
    every = set.intersection(*({name for names in side for name in names} for side in told))
    others = Counter(shape_of(name) for name in {n for side in told for names in side for n in names} - every)
    rows: dict[str, int] = {}
    place: list[list[np.ndarray]] = []
    members: list[dict[int, dict[str, None]]] = []
    for side in told:
        mine: defaultdict[int, dict[str, None]] = defaultdict(dict)
        of_runs = []
        for names in side:
            codes = np.zeros(len(names), "i8")
            for number, name in enumerate(names):
                shape = shape_of(name)
                row = name if name in every or others[shape] < 2 else shape
                codes[number] = rows.setdefault(row, len(rows))
                mine[int(codes[number])][name] = None
            of_runs.append(codes)
        place.append(of_runs)
        members.append(mine)
    listed = [[list(mine.get(row, ()))[:50] for row in range(len(rows))] for mine in members]
    return list(rows), place, listed


def _figures(side: Sequence[Measured], place: list[np.ndarray], rows: int, cpu: bool) -> _Figures:
    sums = np.zeros((4, len(side), rows))
    for number, (run, codes) in enumerate(zip(side, place, strict=True)):
        told = run.names
        count, seconds, error = (told.told, told.cpu, told.cpu_error) if cpu else told[1:4]
        spread, part = _spread(count, seconds, error), seconds * told.within
        for which, values in enumerate((count, seconds, spread, part)):
            np.add.at(sums[which, number], codes, values)
    return _Figures(*sums)


def _spread(count: np.ndarray, seconds: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Squared error of seconds; for a name with one attempt, as relatively large as of any attempt."""
    told = np.isfinite(error) & (seconds > 0)
    relative = np.divide(error * count, seconds**2, out=np.zeros(len(count)), where=told)
    usual = float(np.average(relative[told], weights=count[told])) if told.any() else _UNKNOWN**2
    return np.where(np.isfinite(error), error, usual * seconds**2 / np.maximum(count, 1))


def _alike(
    base: tuple[Sequence[Measured], list[np.ndarray]],
    side: tuple[Sequence[Measured], list[np.ndarray]],
    rows: int,
) -> np.ndarray:
    """Squared errors of seconds and CPU seconds of each name, of runs whose attempts can be paired.

    Relative to the squared sums of both runs, mean over pairs of runs; NaN where none can be.
    """
    found = []
    for before, of_before, after, of_after in zip(*base, *side, strict=False):
        errors = np.array(paired(before.names, after.names, (of_before, of_after), rows))
        whole = np.zeros((2, rows))
        for run, of in ((before, of_before), (after, of_after)):
            for which, sums in enumerate((run.names.seconds, run.names.cpu)):
                whole[which] += np.bincount(of, sums, rows) ** 2
        found.append(ratio(errors, whole, np.nan))
    known = np.isfinite(found).sum(axis=0)
    sums = np.nansum(found, axis=0)
    return ratio(sums, known, np.nan)


def _side(
    number: int,
    spent: list[_Figures],
    cpu: list[_Figures],
    alike: np.ndarray,
    threads: float,
    cores: Waited,
) -> dict[str, Any]:
    """The columns of one side, a value a name."""
    here, base = spent[number], spent[0]
    count, seconds = here.attempts.mean(axis=0), here.part.mean(axis=0)
    before = base.attempts.mean(axis=0)
    change, cpu_change = here.mean - base.mean, cpu[number].mean - cpu[0].mean
    width = _noise(spent, number, alike[0]) + cores.of_name(base.mean, here.mean)
    cpu_width = _noise(cpu, number, alike[1]) + cores.of_cpu(cpu[0].mean, cpu[number].mean)
    cost = seconds - base.part.mean(axis=0)
    words = np.full(len(count), "baseline", object)
    if number:
        words = _verdicts(count, before, _jitter(spent), (change, width), (cpu_change, cpu_width))
        by_cpu = (words == "costlier") | (words == "cheaper")
        of_cpu = cpu[number].mean * count * here.within - cpu[0].mean * before * base.within
        cost = np.where(by_cpu, of_cpu, cost)
    else:
        change, width, cpu_change, cpu_width = np.full((4, len(count)), np.nan)
    return {
        "count": count,
        "seconds": seconds,
        "mean": here.mean,
        "cpu": cpu[number].mean,
        "share": seconds / max(float(seconds.sum()), 1e-300),
        "change": change,
        "noise": width,
        "cpu_change": cpu_change,
        "cpu_noise": cpu_width,
        "impact": cost / threads if threads else cost,
        "verdict": words,
    }


def _noise(figures: list[_Figures], number: int, alike: np.ndarray) -> np.ndarray:
    """What the change of a name's mean must exceed, seconds."""
    means, within = [], []
    for side in figures:
        there = side.attempts > 0
        mean = ratio(side.seconds, side.attempts)
        # A run without the name says nothing of it: it counts as the mean of the others.
        usual = np.nan_to_num(ratio(mean.sum(axis=0), there.sum(axis=0)))
        means.append(np.where(there, mean, usual))
        within.append(ratio(side.error.sum(axis=0), side.seconds.sum(axis=0) ** 2 / len(there), np.nan))
    seen = noise.repeats(means)
    apart = np.nan_to_num(np.fmax(within[0], within[number]))
    of_run = np.sqrt(noise.EXPECTED**2 + np.where(np.isfinite(alike), alike, apart))
    sd = noise.deviation(seen, of_run)
    runs = (len(means[0]), len(means[number]))
    return noise.width(sd, seen.df, runs, (means[0].mean(axis=0), means[number].mean(axis=0)), noise.MANY)


def _jitter(figures: list[_Figures]) -> np.ndarray:
    """What a difference in numbers of attempts must exceed: none where repeats always had the same."""
    seen = noise.repeats([side.attempts for side in figures], relative=False)
    sd = np.sqrt(seen.squares / max(seen.df, 1))
    return np.maximum(noise.student(seen.df + noise.PRIOR, noise.MANY) * sd, 1e-9)


def _verdicts(
    count: np.ndarray,
    before: np.ndarray,
    jitter: np.ndarray,
    spent: tuple[np.ndarray, np.ndarray],
    cpu: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """A word for each name; `spent` and `cpu` are the change of the mean and its noise."""
    words = np.full(len(count), "same", object)
    words[count > before + jitter] = "more"
    words[count < before - jitter] = "fewer"
    for (change, width), more, less in ((cpu, "costlier", "cheaper"), (spent, "slower", "faster")):
        words[change > width] = more
        words[change < -width] = less
    words[(before == 0) & (count == 0)] = "none"
    words[(before == 0) & (count > 0)] = "came"
    words[(before > 0) & (count == 0)] = "went"
    return words
