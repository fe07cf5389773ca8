"""Attempts that took far longer than others of their name, and what may explain it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...lookup import sums
from .names import by_code

if TYPE_CHECKING:
    from .facts import Facts

#: Least time that a task is taken to need, seconds.
_SHORTEST = 1e-4
#: Seconds by which an outlier must exceed the median, if nothing else is asked for.
LEAST = 0.25
#: Largest share of the tasks of a name that may be outliers; where the size of their data explains them.
_FEW, _SOME = 0.05, 0.34
#: How much larger the data of outliers are where size explains them: at least, and of the times they take;
#: and from which it does however long they take, for many functions take more than in proportion.
_LARGER, _PART, _MUCH = 1.5, 0.4, 5.0
#: How much slower a worker is where it explains its outliers.
_SLOWER = 1.5
#: Share of the workers whose first tasks must be outliers for the start to explain them.
_MOST = 0.5


Sizes = tuple[Callable[[np.ndarray], np.ndarray], ...]


class Outliers(NamedTuple):
    """The outliers of one task name. Seconds."""

    #: Code of the name.
    name: int
    #: Rows of the attempts; some may run still.
    rows: np.ndarray
    #: Tasks of that name, and the median of all.
    number: int
    median: float
    #: Share of each attempt's time that is beyond the median.
    beyond: np.ndarray
    #: Time of the outliers beyond the median.
    excess: float
    #: Thread-seconds in which threads were idle and waited for that excess, or for tasks stuck behind it.
    waited: float
    #: What of that were tasks stuck behind it: seconds of each piece of placement; none if that is little.
    stuck: np.ndarray
    #: What of the excess lies on the critical path; of attempts that run still, the largest.
    held_up: float
    #: 'data', 'worker', 'start' or 'itself'.
    why: str
    #: Mean size of the outliers' data over the median of the name; NaN if unknown.
    larger: float

    def cost(self, facts: Facts) -> float:
        """Seconds that the run would be shorter by."""
        return min(self.held_up, facts.spread(self.saved))

    @property
    def saved(self) -> float:
        """Thread-seconds that it need not have cost: parts of one size have the same work together."""
        return self.waited + (0.0 if self.why == "data" else self.excess)


def outliers(facts: Facts, times: float, least: int, seconds: float) -> Iterator[Outliers]:
    """The outliers of every name with enough tasks, so many seconds beyond the median at least."""
    told, code, own = facts.by_names, facts.prefix.codes, facts.own
    usual = np.maximum(facts.usual[code], _SHORTEST)
    over = np.flatnonzero((facts.good | facts.running) & (own - usual > seconds))
    over = over[(own[over] > times * usual[over]) & (told.number[code[over]] >= least)]
    if not len(over):
        return
    usual = usual[over]
    # What of the time is beyond the usual, and not the wait for a CPU.
    beyond = np.zeros(len(code))
    beyond[over] = (own[over] - usual) / facts.length[over]
    waited = sums(facts.waiting.row + 1, facts.seconds(facts.waiting), len(code) + 1)[1:][over] * beyond[over]
    path = facts.path
    steps = path.of("compute") & (path.row >= 0)
    held = sums(path.row[steps], path.seconds[steps], len(code))[over] * beyond[over]
    sizes, every = sizes_of(facts), by_code(code, facts.good)
    far = np.zeros(len(code), bool)
    far[over] = True
    for name, those in by_code(code[over]).items():
        mine, same = over[those], every[name]
        number = int(told.number[name])
        if len(mine) > max(1, _SOME * number):
            continue
        larger = how_much_larger(sizes, same, mine)
        why = _why(facts, name, same, mine, far, larger)
        if why == "itself" and len(mine) > max(1, _FEW * number):
            continue
        stuck = facts.queues.behind(mine, beyond)
        yield Outliers(
            name=name,
            rows=mine,
            number=number,
            median=max(float(facts.usual[name]), _SHORTEST),
            beyond=beyond[mine],
            excess=float((own[mine] - usual[those]).sum()),
            waited=float(waited[those].sum() + stuck.sum()),
            stuck=stuck,
            held_up=float(held[those].sum() + (own[mine] - usual[those])[facts.running[mine]].max(initial=0)),
            why=why,
            larger=larger,
        )


def sizes_of(facts: Facts) -> Sizes:
    """Bytes of the inputs of some attempts, and of their results."""
    return facts.input_bytes().__getitem__, partial(facts.attempts.at, "nbytes")


def how_much_larger(sizes: Sizes, same: np.ndarray, mine: np.ndarray) -> float:
    """How many times the usual the data of attempts are: inputs or results, whichever stands out more.

    NaN if unknown. The usual is the median of others, `same`.
    """
    found = [np.nan]
    for size in sizes:
        known = size(same)
        known = known[~np.isnan(known)]
        usual = np.median(known) if np.isfinite(known).any() else np.nan
        if usual > 0 and np.isfinite(told := size(mine)).any():
            found.append(float(np.nanmean(told)) / float(usual))
    return float(np.nanmax(found)) if np.isfinite(found).any() else np.nan


def explains(larger: float, times: float) -> bool:
    """Whether data so many times as large explain that tasks take so many times as long."""
    return larger >= min(max(_LARGER, _PART * times), _MUCH)


def _why(facts: Facts, name: int, same: np.ndarray, mine: np.ndarray, far: np.ndarray, larger: float) -> str:
    worker, own = facts.attempts.worker.codes, facts.own
    times = float(np.mean(own[mine])) / max(float(facts.usual[name]), _SHORTEST)
    if explains(larger, times):
        return "data"
    first = same[first_of_each(worker[same], facts.attempts.at("start", same))]
    if far[first].sum() == len(mine) > _MOST * len(first):
        return "start"
    usual = same[~far[same]]
    enough = np.bincount(worker[usual], minlength=len(facts.attempts.worker.names)) >= 2
    for code in np.unique(worker[mine[enough[worker[mine]]]]).tolist():
        here, others = usual[worker[usual] == code], same[worker[same] != code]
        if len(others) and np.median(own[here]) > _SLOWER * np.median(own[others]):
            return "worker"
    return "itself"


def first_of_each(codes: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """Row of the earliest of each code."""
    earliest = np.full(int(codes.max(initial=0)) + 1, np.nan)
    np.fmin.at(earliest, codes, moments)
    rows = np.flatnonzero(moments == earliest[codes])
    _, first = np.unique(codes[rows], return_index=True)
    return np.asarray(rows[first])
