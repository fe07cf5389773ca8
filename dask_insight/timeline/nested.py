"""Graphs that tasks handed over, or other programs, and not the one that recorded."""

from __future__ import annotations

import numpy as np

from ..lookup import Lookup, by_name, is_any
from ..schema import OF_TASKS, SECEDED
from ..tables.facts import CLIENT, facts
from .attempts import Read, is_local


def submitted_by_tasks(read: Read, submission: np.ndarray) -> np.ndarray:
    """Which of some submissions, by id, are of a task."""
    table, phases = read("submissions"), read("phases")
    mine = by_name(table["client"], lambda name: name.startswith(OF_TASKS), False)
    # On a local scheduler its task is away from the very moment at which a graph is handed over.
    mine |= np.isin(table["time"], phases["start"][is_any(phases["action"], (SECEDED,))])
    nested: np.ndarray = np.append(mine, False)[Lookup(table["submission"]).rows(submission)]
    return nested


def submitted_by_others(read: Read) -> tuple[np.ndarray, int]:
    """The tasks of others than the process that recorded, where that has submitted anything itself.

    Returns
    -------
    array of u32
        Ids of the tasks.
    int
        How many clients have submitted them.
    """
    own = {str(told) for name, told in facts(read("about")).items() if name.startswith(CLIENT)}
    table = read("submissions")
    clients = table["client"]
    if not is_any(clients, own).any():
        return np.zeros(0, "u4"), 0

    def is_theirs(client: str) -> bool:
        return client not in own and bool(client) and not is_local(client) and not client.startswith(OF_TASKS)

    theirs = by_name(clients, is_theirs, False)
    if not theirs.any():
        return np.zeros(0, "u4"), 0
    graph, used = read("graph"), np.unique(clients.codes[theirs])
    return graph["task"][np.isin(graph["submission"], table["submission"][theirs])], len(used)
