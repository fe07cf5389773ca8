"""Dask's memory measures, with the sum that Dask calls unmanaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..schema import TABLES
from . import plain
from .field import Field

FIELDS = (
    *plain.fields(TABLES["memory"]),
    Field("unmanaged", "bytes", "Memory outside task results: unmanaged_old + unmanaged_recent."),
)


def make(read: Callable[[str], Mapping[str, Any]]) -> Mapping[str, Any]:
    """The measures and their sum."""
    columns = read("memory")
    with np.errstate(over="ignore"):
        return {**columns, "unmanaged": columns["unmanaged_old"] + columns["unmanaged_recent"]}
