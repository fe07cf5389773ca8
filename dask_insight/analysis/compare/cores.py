"""What a run took longer since other programs had the cores.

How long task threads could have run but found no free core is recorded where the
system tells. If that is a share `f` of the time in task functions, these took
`1 / (1 - f)` times as long as they would have. Where `f` differs between the sides by
no more than it does between repeats, or where there are none, what that costs is
noise. Where it stands out, it comes with what is compared: threads that take each
other's cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from . import noise
from .measure import Measured

#: Share by which CPU time is expected to differ while all cores are taken, as caches are shared.
_CACHES = 0.1
#: Largest share of the time in task functions that can have been waiting for a core.
_MOST = 0.98


class Waited(NamedTuple):
    """By how much the threads of two sides waited differently for a core, as far as that is chance."""

    #: Of wall time.
    seconds: float
    #: Share of the time in task functions, of the sides in question, 0 to 1.
    shares: tuple[float, float]

    def of_name(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """What the means of task names differ by for that."""
        low, high = sorted(self.shares)
        most = after if self.shares[1] == high else before
        return np.asarray(np.nan_to_num(most * (high - low) / (1 - low)))

    def of_cpu(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """What the mean CPU times of task names differ by for that."""
        return np.asarray(np.nan_to_num(_CACHES * max(self.shares) * np.fmax(before, after)))


def waited(before: Sequence[Measured], after: Sequence[Measured]) -> Waited:
    """What waiting for a core explains of the differences between two sides."""
    shares = [np.array([[_share(run)] for run in side]) for side in (before, after)]
    if not all(np.isfinite(each).all() for each in shares):
        return Waited(0.0, (0.0, 0.0))
    seen = noise.repeats(shares, relative=False)
    means = [float(each.mean()) for each in shares]
    ones, runs = np.ones(1), (len(before), len(after))
    width = noise.width(noise.deviation(seen, noise.EXPECTED), seen.df, runs, (ones, ones))[0]
    if seen.df and abs(means[1] - means[0]) > width:
        return Waited(0.0, (0.0, 0.0))
    spent = [np.array([np.mean([run.computing / run.threads for run in side])]) for side in (before, after)]
    found = Waited(0.0, (means[0], means[1]))
    return found._replace(seconds=float(found.of_name(spent[0], spent[1])[0]))


def _share(run: Measured) -> float:
    """Share of the time in task functions; NaN if unknown."""
    return min(run.starved / run.computing, _MOST) if run.computing > 0 and run.threads > 0 else np.nan
