"""Graphs that tasks handed over, and not a program outside."""

from __future__ import annotations

import numpy as np

from ..lookup import Lookup, by_name, is_any
from ..schema import OF_TASKS, SECEDED
from .attempts import Read


def submitted_by_tasks(read: Read, submission: np.ndarray) -> np.ndarray:
    """Which of some submissions, by id, are of a task."""
    table, phases = read("submissions"), read("phases")
    mine = by_name(table["client"], lambda name: name.startswith(OF_TASKS), False)
    # On a local scheduler its task is away from the very moment at which a graph is handed over.
    mine |= np.isin(table["time"], phases["start"][is_any(phases["action"], (SECEDED,))])
    nested: np.ndarray = np.append(mine, False)[Lookup(table["submission"]).rows(submission)]
    return nested
