"""Turns what was noted of a process's garbage collections into rows of the recording."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..identity import Namespace
from ..probe.garbage import Collected


def collected(
    process: str, told: Sequence[Sequence[Any]], offset: float, runs: Namespace | None
) -> dict[str, Any]:
    """Columns of `collections`.

    Parameters
    ----------
    process
        The process.
    told
        Rows of `Collected`; one or more.
    offset
        Its clock minus the recording's, seconds.
    runs
        The recording's ids of the runs, if there are any.
    """
    columns: dict[str, Any] = {
        name: np.array(values)
        for name, values in zip(Collected._fields, zip(*told, strict=True), strict=True)
    }
    columns["time"] = columns["time"] - offset
    if runs is not None:
        columns["run"] = runs.map(columns["run"])
    return {"process": [process] * len(told), **columns}
