"""What a run took longer since other programs had the cores.

How long task threads could have run but found no free core is recorded where the
system tells. Where that differs between the sides by no more than it does between
repeats, or where there are none, what it costs is noise. Where it stands out, it
comes with what is compared: threads that take each other's cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from . import noise
from .measure import Measured

#: Share by which CPU time is expected to differ while all cores are taken, as caches are shared.
_CACHES = 0.1


class Waited(NamedTuple):
    """By how much the threads of two sides waited differently for a core, as far as that is chance."""

    #: Of wall time.
    seconds: float
    #: Share of the time in task functions, of both sides, 0 to 1.
    shares: tuple[float, float]

    def of_name(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """What the means of task names differ by for that."""
        return np.asarray(np.nan_to_num(np.abs(self.shares[1] * after - self.shares[0] * before)))

    def of_cpu(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """What the mean CPU times of task names differ by for that."""
        return np.asarray(np.nan_to_num(_CACHES * max(self.shares) * np.fmax(before, after)))


def waited(before: Sequence[Measured], after: Sequence[Measured]) -> Waited:
    """What waiting for a core explains of the differences between two sides."""
    values = [
        np.array([[run.starved / run.threads if run.threads > 0 else np.nan] for run in side])
        for side in (before, after)
    ]
    if not all(np.isfinite(each).all() for each in values):
        return Waited(0.0, (0.0, 0.0))
    seen = noise.repeats(values, relative=False)
    means = [each.mean(axis=0) for each in values]
    apart = float(abs(means[1] - means[0])[0])
    usual = noise.EXPECTED * max(run.seconds for side in (before, after) for run in side)
    ones = np.ones(1)
    runs = (len(before), len(after))
    if seen.df and apart > noise.width(noise.deviation(seen, usual), seen.df, runs, (ones, ones))[0]:
        return Waited(0.0, (0.0, 0.0))
    return Waited(apart, (_share(before), _share(after)))


def _share(side: Sequence[Measured]) -> float:
    computing = sum(run.computing for run in side)
    return min(sum(run.starved for run in side) / computing, 1.0) if computing > 0 else 0.0
