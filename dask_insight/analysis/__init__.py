"""Questions to a recording: one module for each, a function of a recording.

They do not import one another; what one needs of another is put together here.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..timeline import Read
    from .findings import Findings


def find(
    read: Read,
    zero: float,
    *,
    start: float = -np.inf,
    stop: float = np.inf,
    thresholds: Mapping[str, float] | None = None,
) -> Findings:
    """The findings of `Recording.findings`; `start` and `stop` in seconds since the epoch."""
    from ..heap import give_back
    from .findings import RULES, WITHOUT_TASKS, Facts, Limits, apply
    from .time_budget import budget

    limits = Limits(thresholds)
    with suppress(Exception):
        # Rules ask for it, and say so where it fails: what it needs is let go of before there are pieces.
        read("critical")
    give_back()
    facts = Facts(read, zero, budget(read, start, stop))
    found = apply(facts, limits, RULES if len(facts.attempts.run) else WITHOUT_TASKS)
    facts.forget()
    return found


def findings_rows(read: Read) -> dict[str, Any]:
    """The columns of the table ``findings``."""
    from .findings import columns

    return columns(find(read, 0.0), 0.0)


def what_if_rows(read: Read) -> dict[str, Any]:
    """The columns of the table ``what_if``."""
    from ..tables.facts import facts
    from .bounds import bounds
    from .what_if import rows

    return rows(read, facts(read("about")), lambda cluster: bounds(read, cluster))
