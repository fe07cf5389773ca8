"""How much of their time tasks were seen in some call stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...timeline import seen_in

if TYPE_CHECKING:
    from .facts import Facts


def share_in(facts: Facts, mine: np.ndarray) -> np.ndarray:
    """Share of the samples' time of each task name, by code, in some rows of ``stacks``; 0 to 1."""
    return seen_in(facts.read, facts.attempts.run, facts.prefix.codes, len(facts.names), mine)
