"""What the attempts at each task name of a run took, and by how much that is chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...batch import Symbols
from ...lookup import pick, ratio, spread
from ...tables.facts import part_of_run
from ...timeline import Attempts, Read, standstills, stretches
from .noise import batch_means


class Names(NamedTuple):
    """Task names of a run, with what their attempts took; failed attempts count too."""

    names: list[str]
    attempts: np.ndarray
    #: Seconds for which task functions held threads.
    seconds: np.ndarray
    #: Squared standard error of `seconds`, from how alike the attempts are; NaN if there was one only.
    error: np.ndarray
    #: Share of `seconds` that lies in the part of a run that the recording is, 0 to 1.
    within: np.ndarray
    #: The same of CPU time: attempts of which it is known, seconds, squared error.
    told: np.ndarray
    cpu: np.ndarray
    cpu_error: np.ndarray
    #: Row of the first attempt of each name in the arrays below.
    begin: np.ndarray
    #: Seconds and CPU seconds of each attempt, name by name; of a name in the order in which Dask ranks them.
    spent: tuple[np.ndarray, np.ndarray]
    #: When each began, seconds since the epoch.
    start: np.ndarray


def names_of(read: Read, known: Attempts, ran: np.ndarray) -> Names:
    """What the attempts that ran took, by task name; `ran` are their rows.

    Without the moments in which everything stood still, and without those in which a thread was given back:
    others had it then.
    """
    graph: Mapping[str, Any] = read("graph")
    row = known.described[ran]
    prefix: Symbols = pick(graph["prefix"], row)
    ranks = (known.start[ran], pick(graph["order"], row), pick(graph["submission"], row), prefix.codes)
    order = np.lexsort(ranks)
    code, start = prefix.codes[order].astype("i8"), known.start[ran][order]
    pieces, still = stretches(read, known), standstills(read)
    held = pieces.held(len(known.run), still)
    here = pieces.held(len(known.run), still, part_of_run(read))
    seconds, cpu = held[ran][order], np.asarray(known.cpu[ran], "f8")[order]
    there, groups = np.isfinite(cpu), len(prefix.names)
    count, summed, error = _sums(code, start, seconds, groups)
    told, cpu_summed, cpu_error = _sums(code[there], start[there], cpu[there], groups)
    used = np.flatnonzero(count)
    return Names(
        names=[prefix.names[each] for each in used.tolist()],
        attempts=count[used],
        seconds=summed[used],
        error=error[used],
        within=ratio(np.bincount(code, here[ran][order], groups), summed, 1.0)[used],
        told=told[used],
        cpu=cpu_summed[used],
        cpu_error=cpu_error[used],
        begin=(np.cumsum(count) - count)[used].astype("i8"),
        spent=(seconds, cpu),
        start=start,
    )


def _sums(
    code: np.ndarray, start: np.ndarray, values: np.ndarray, groups: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number and sum of the values of each group, and the sum's squared standard error."""
    count = np.bincount(code, minlength=groups).astype("f8")
    error = batch_means(code, start, values, groups) * count**2
    return count, np.bincount(code, values, groups), error


def paired(
    before: Names, after: Names, place: tuple[np.ndarray, np.ndarray], rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Squared standard error of the difference of two runs' sums, where attempts can be paired.

    Attempts of one rank in graphs of one kind did the same work, so what is large in
    both runs is no noise. With `R` the ratio of the sums the error is that of the sum
    of `after - R before`, pair by pair (the ratio estimator: Cochran, Sampling
    Techniques, 6.4), in batches of neighbours in time.

    Parameters
    ----------
    before, after
        What the attempts of two runs took.
    place
        Row of each name of each of them.
    rows
        Number of rows.

    Returns
    -------
    array, array
        For each row, of seconds and of CPU seconds; NaN where a row has several
        names, or not as many attempts in both runs, or but one.
    """
    names = [_only(of, rows) for of in place]
    counts = [np.append(run.attempts, -1)[at] for at, run in zip(names, (before, after), strict=True)]
    both = np.flatnonzero((counts[0] == counts[1]) & (counts[0] > 1))
    count = counts[0][both].astype("i8")
    first, second = (
        spread(run.begin[at[both]], run.begin[at[both]] + count)[1]
        for at, run in zip(names, (before, after), strict=True)
    )
    group = np.repeat(np.arange(len(both)), count)
    found = np.full((2, rows), np.nan)
    for which in (0, 1):
        x, y = before.spent[which][first], after.spent[which][second]
        sums = [np.bincount(group, each, len(both)) for each in (x, y)]
        grown = ratio(sums[1], sums[0], 1.0)
        rest = y - grown[group] * x
        found[which, both] = batch_means(group, after.start[second], rest, len(both)) * count**2
    return found[0], found[1]


def _only(place: np.ndarray, rows: int) -> np.ndarray:
    """The name of each row that has one; -1 for others."""
    found = np.full(rows, -1)
    found[place] = np.arange(len(place))
    return np.where(np.bincount(place, minlength=rows) == 1, found, -1)
