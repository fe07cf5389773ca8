"""What attempts were at for most of their time."""

from __future__ import annotations

import numpy as np

from ...lookup import is_any
from ...timeline import Whereabouts
from .facts import Facts


def whereabouts(facts: Facts, rows: np.ndarray) -> Whereabouts:
    """What some attempts were at."""
    return facts.call_stacks.at(facts.attempts.run[rows], float(np.nansum(facts.inside[rows])))


def whereabouts_of(facts: Facts, name: str) -> Whereabouts:
    """What the tasks of a name that ended well were at."""
    return whereabouts(facts, np.flatnonzero(facts.good & is_any(facts.prefix, (name,))))
