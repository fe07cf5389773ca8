"""Graphs that tasks handed over, or other programs, and not the one that recorded."""

from __future__ import annotations

import numpy as np

from ..lookup import Lookup, by_name, is_any
from ..schema import OF_TASKS, SECEDED
from ..tables.facts import CLIENTS, facts
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
    own, table = facts(read("about")).get(CLIENTS), read("submissions")
    clients = table["client"]
    if not isinstance(own, list) or not is_any(clients, own).any():
        return np.zeros(0, "u4"), 0

    def is_theirs(client: str) -> bool:
        return client not in own and bool(client) and not is_local(client) and not client.startswith(OF_TASKS)

    submissions, graph = table["submission"][by_name(clients, is_theirs, False)], read("graph")
    found = sum(map(is_theirs, {*clients.tolist()}))
    return graph["task"][np.isin(graph["submission"], submissions)] if found else graph["task"][:0], found
