"""CPU time of threads where the system counts it in ticks, as Windows does."""

from __future__ import annotations

import numpy as np

from ..lookup import distinct, ratio

#: Seconds of a tick of Windows, and of attempts that so few of them can tell of that each says little.
_TICK = 1 / 64
_SHORT = 16 * _TICK


def evened(cpu: np.ndarray, length: np.ndarray, group: np.ndarray) -> np.ndarray:
    """CPU seconds of attempts; where they were counted in ticks, those of short ones as of all like them.

    A tick is counted in full for the thread that it finds on a core. So most short attempts have none, some
    have more than they took, and only the sum over many is right.

    Parameters
    ----------
    cpu
        CPU seconds of each; NaN if unknown, and as workers tell of 0.
    length
        Seconds that each took; NaN for what is not to be looked at.
    group
        A number for those that are alike.
    """
    told = cpu > 0
    groups, group = distinct(group, int(group.max(initial=-1)) + 1)
    count = len(groups)
    ticks = cpu[told] / _TICK
    between = np.abs(ticks - np.maximum(np.rint(ticks), 1)) > 1e-3
    some, finer = np.bincount(group[told], minlength=count), np.bincount(group[told], between, count)
    mine = ((some > 0) & (finer == 0))[group] & (length > 0) & (length < _SHORT)
    if not mine.any():
        return cpu
    took = np.bincount(group[mine], length[mine], count)
    spent = np.bincount(group[mine], np.nan_to_num(cpu[mine]), count)
    share = np.minimum(ratio(spent, took), 1.0)
    return np.where(mine, share[group] * length, cpu)
