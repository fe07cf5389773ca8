"""Attempts that took far longer than others of their name, and what may explain it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .facts import Facts

#: Seconds by which an outlier must exceed the median.
_LEAST = 0.25
#: Largest share of the tasks of a name that may be outliers.
_FEW = 0.1
#: How much larger the data of outliers are where size explains them.
_LARGER = 2.0
#: How much slower a worker is where it explains its outliers.
_SLOWER = 1.5


class Outliers(NamedTuple):
    """The outliers of one task name. Seconds."""

    #: Code of the name.
    name: int
    #: Rows of the attempts.
    rows: np.ndarray
    #: Tasks of that name, and the median of all.
    number: int
    median: float
    #: Time of the outliers beyond the median.
    excess: float
    #: Thread-seconds in which threads were idle and waited for that excess.
    waited: float
    #: What of the excess lies on the critical path.
    held_up: float
    #: 'data', 'worker', 'start' or 'itself'.
    why: str
    #: Mean size of the outliers' data over the median of the name; NaN if unknown.
    larger: float


def outliers(facts: Facts, times: float, least: int) -> Iterator[Outliers]:
    """The outliers of every name with enough tasks."""
    told, known = facts.by_names, facts.attempts
    code = facts.prefix.codes
    over = (
        facts.good & (facts.length > times * told.median[code]) & (facts.length - told.median[code] > _LEAST)
    )
    over &= told.number[code] >= least
    if not over.any():
        return
    beyond = np.where(
        over, 1 - np.divide(told.median[code], facts.length, out=np.ones(len(code)), where=over), 0.0
    )
    waiting = facts.is_part("inputs")
    rows = facts.pieces.row[waiting]
    waited = np.bincount(rows[rows >= 0], facts.seconds[waiting][rows >= 0], len(code)) * beyond
    path = facts.path
    steps = path.of("compute") & (path.row >= 0)
    held = np.bincount(path.row[steps], path.seconds[steps], len(code)) * beyond
    for name in np.unique(code[over]).tolist():
        mine = np.flatnonzero(over & (code == name))
        count = int(told.number[name])
        if len(mine) > max(1, _FEW * count):
            continue
        median = float(told.median[name])
        larger = _larger(facts, name, mine)
        yield Outliers(
            name=name,
            rows=mine,
            number=count,
            median=median,
            excess=float((facts.length[mine] - median).sum()),
            waited=float(waited[mine].sum()),
            held_up=float(held[mine].sum()),
            why=_why(facts, name, mine, larger, known.worker.codes),
            larger=larger,
        )


def _larger(facts: Facts, name: int, mine: np.ndarray) -> float:
    """How many times the usual the data of outliers are: inputs or results, whichever stands out more."""
    same = facts.good & (facts.prefix.codes == name)
    found = [np.nan]
    for size in (facts.input_bytes, facts.attempts.nbytes):
        usual = np.nanmedian(size[same]) if np.isfinite(size[same]).any() else np.nan
        if usual > 0:
            found.append(float(np.nanmean(size[mine])) / float(usual))
    return float(np.nanmax(found)) if np.isfinite(found).any() else np.nan


def _why(facts: Facts, name: int, mine: np.ndarray, larger: float, worker: np.ndarray) -> str:
    if larger >= _LARGER:
        return "data"
    same = np.flatnonzero(facts.good & (facts.prefix.codes == name))
    first = first_of_each(worker[same], facts.attempts.start[same])
    if len(mine) > 1 or len(first) == 1:
        early = np.isin(mine, same[first])
        if early.all() and len(mine) >= max(1, 0.5 * len(first)):
            return "start"
    for code in np.unique(worker[mine]).tolist():
        here = same[worker[same] == code]
        others = same[worker[same] != code]
        rest = here[~np.isin(here, mine)]
        if (
            len(rest) >= 2
            and len(others)
            and np.median(facts.length[rest]) > _SLOWER * np.median(facts.length[others])
        ):
            return "worker"
    return "itself"


def first_of_each(codes: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """Row of the earliest of each code."""
    order = np.argsort(moments, kind="stable")
    _, first = np.unique(codes[order], return_index=True)
    return np.asarray(order[first])
