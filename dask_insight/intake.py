"""When schedulers took graphs in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

#: What a scheduler does with a graph before its first task; some versions of Dask tell negative durations.
_STEPS = ("materialize", "ordering", "states")


def intake_seconds(submissions: Mapping[str, Any]) -> np.ndarray:
    """Seconds for each row of ``submissions``, until its `time`; 0 where that is not known."""
    steps = [np.nan_to_num(np.abs(submissions[name].astype("f8"))) for name in _STEPS]
    return np.asarray(np.sum(steps, axis=0))


def taken_in(submissions: Mapping[str, Any], start: float, stop: float) -> np.ndarray:
    """Which rows were taken in between two moments, for some of the time at least, or nobody knows when."""
    end = submissions["time"]
    elsewhere: np.ndarray = (end < start) | (end - intake_seconds(submissions) > stop)
    return ~elsewhere
