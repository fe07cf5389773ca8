"""How much a figure differs from run to run by itself, and which differences stand out from that.

The runs of a side are repeats. What they differ by is summed over all sides and
mixed with what is expected before anything is measured, so that two repeats which
agree by chance prove nothing and one run alone has a noise too: with `df` degrees of
freedom and a standard deviation `s` from the repeats, and `s0` expected with the
weight of `PRIOR` degrees of freedom, the standard deviation is

    sqrt((df s² + PRIOR s0²) / (df + PRIOR))

and a difference of means over n and m runs stands out where it exceeds Student's t
for df + PRIOR times that, times sqrt(1/n + 1/m): the moderated t-test of Smyth
(2004, https://doi.org/10.2202/1544-6115.1027). That one run tells nothing of how runs
differ, however many tasks it has, is Kalibera and Jones (ISMM 2013,
https://doi.org/10.1145/2491894.2464160); `EXPECTED` and `STARTING` are our own choice.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

#: Degrees of freedom that the expectation weighs.
PRIOR = 4
#: Standard deviation expected of a figure of a run from one run to the next, relative to it.
EXPECTED = 0.025
#: The same of the wall time of a run, however short: threads and processes that start or wake up, seconds.
STARTING = 0.05
#: Standard normal quantiles: 95 % of what is noise is within the first, 99 % within the second.
USUAL, MANY = 1.959964, 2.575829


class Repeats(NamedTuple):
    """How runs of one side differ."""

    #: Sum of squared differences from the mean of their side.
    squares: np.ndarray
    #: Degrees of freedom: runs in excess of one a side.
    df: int


def repeats(values: list[np.ndarray], *, relative: bool = True) -> Repeats:
    """The differences between the runs of each side.

    Parameters
    ----------
    values
        For each side an array (runs, figures).
    relative
        Differences relative to the mean of their side.
    """
    squares = np.zeros(values[0].shape[1])
    df = 0
    for each in values:
        mean = each.mean(axis=0)
        off = each - mean
        if relative:
            off = np.divide(off, np.abs(mean), out=np.zeros_like(off), where=mean != 0)
        squares += (off**2).sum(axis=0)
        df += len(each) - 1
    return Repeats(squares, df)


def deviation(seen: Repeats, expected: np.ndarray | float) -> np.ndarray:
    """Standard deviation of a run's figure, from the repeats and from what is expected of it."""
    return np.asarray(np.sqrt((seen.squares + PRIOR * np.square(expected)) / (seen.df + PRIOR)))


def width(
    sd: np.ndarray, df: int, runs: tuple[int, int], of: tuple[np.ndarray, np.ndarray], normal: float = USUAL
) -> np.ndarray:
    """What a difference of two means must exceed to stand out.

    Parameters
    ----------
    sd
        Standard deviation of a run's figure, relative to what `of` gives.
    df
        Degrees of freedom of the repeats.
    runs
        Number of runs of both sides.
    of
        Means of both sides, or ones where `sd` is not relative.
    normal
        `USUAL`, or `MANY` where many figures are looked at together.
    """
    spread = np.sqrt(np.square(of[0]) / runs[0] + np.square(of[1]) / runs[1])
    return np.asarray(student(df + PRIOR, normal) * sd * spread)


def relative_to(means: tuple[float, float], runs: tuple[int, int]) -> float:
    """Seconds of which a deviation, made relative, is in `width` what it is in seconds."""
    weights = 1 / np.array(runs)
    return float(np.sqrt(np.average(np.square(means), weights=weights)))


def student(df: int, normal: float) -> float:
    """Quantile of Student's t from that of the normal distribution.

    Cornish and Fisher's expansion (Abramowitz and Stegun 26.7.5): right to 1.5 % from
    4 degrees of freedom on.
    """
    z, z3, z5, z7 = (normal**power for power in (1, 3, 5, 7))
    return math.fsum(
        (
            z,
            (z3 + z) / (4 * df),
            (5 * z5 + 16 * z3 + 3 * z) / (96 * df**2),
            (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * df**3),
        )
    )


def batch_means(group: np.ndarray, order: np.ndarray, values: np.ndarray, groups: int) -> np.ndarray:
    """Squared standard error of each group's mean, neighbours in time being alike or not.

    The values of a group are cut, in their order, into up to ten batches; the error
    comes from how the means of these differ (batch means: Law and Kelton, Simulation
    Modeling and Analysis, 9.5.3). A phase in which a machine is slow then counts as the
    one event that it is. NaN for a group of one value.

    Parameters
    ----------
    group
        Group of each value.
    order
        When each was, to be sorted by.
    values
        The values.
    groups
        Number of groups.
    """
    by_time = np.lexsort((order, group))
    group, values = group[by_time], values[by_time]
    count = np.bincount(group, minlength=groups)
    begin = np.cumsum(count) - count
    batches = np.where(count >= 20, 10, np.where(count >= 10, count // 2, count))
    rank = np.arange(len(group)) - begin[group]
    batch = (rank * batches[group]) // np.maximum(count[group], 1)
    first = np.cumsum(batches) - batches
    total = int(batches.sum())
    owner = np.repeat(np.arange(groups), batches)
    code = first[group] + batch
    size = np.bincount(code, minlength=total)
    means = np.bincount(code, values, total) / np.maximum(size, 1)
    mean = np.bincount(group, values, groups) / np.maximum(count, 1)
    squares = np.bincount(owner, size * (means - mean[owner]) ** 2, groups)
    error = np.full(groups, np.nan)
    several = batches > 1
    error[several] = squares[several] / ((batches[several] - 1) * count[several])
    return error
