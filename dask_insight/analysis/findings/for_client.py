"""Tasks that put a whole collection together for the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...lookup import is_any, sorted_set

if TYPE_CHECKING:
    from .facts import Facts

#: What their names begin with: of an array or a bag, and of a DataFrame, which for Dask is a repartition to
#: one.
FINALIZE, _TO_ONE = "finalize", "repartitiontofewer"


def for_client(facts: Facts) -> np.ndarray:
    """By code, which task names are those of such tasks."""
    whole = [name.startswith(FINALIZE) or _makes_one_each(facts, name) for name in facts.names]
    return np.array(whole, bool)


def _makes_one_each(facts: Facts, name: str) -> bool:
    """Whether tasks of a name repartition DataFrames, each to one partition."""
    if not name.startswith(_TO_ONE):
        return False
    graph = facts.read("graph")
    rows = sorted_set(facts.attempts.described[is_any(facts.prefix, (name,))])
    # A collection has a group of its own, and that again each time it is computed.
    group = graph["group"].codes[rows].astype("i8") << 32 | graph["submission"][rows]
    return len(sorted_set(group)) == len(rows)
