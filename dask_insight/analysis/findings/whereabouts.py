"""What attempts were at for most of their time."""

from __future__ import annotations

import numpy as np

from ...lookup import is_any
from ...timeline import Whereabouts, whereabouts
from .facts import Facts


def whereabouts_of(facts: Facts, rows: np.ndarray) -> Whereabouts:
    """What some attempts were at."""
    return whereabouts(facts.read, facts.attempts.run[rows], float(np.nansum(facts.length[rows])))


def whereabouts_of_name(facts: Facts, name: str) -> Whereabouts:
    """What the tasks of a name that ended well were at."""
    return whereabouts_of(facts, np.flatnonzero(facts.good & is_any(facts.prefix, (name,))))
