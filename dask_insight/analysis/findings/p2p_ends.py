"""The tasks between which P2P's shuffles and rechunks move data."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...columns import forget
from .names import BARRIER

if TYPE_CHECKING:
    from .facts import Facts


class Ends(NamedTuple):
    """Ids of the tasks that send what P2P moves, and of those that take it; each once or more."""

    inputs: np.ndarray
    outputs: np.ndarray


def ends_of_p2p(facts: Facts) -> Ends:
    """The tasks that its barriers need, and those that need its barriers."""
    graph, edges = facts.read("graph"), facts.read("edges")
    task, dependency, prefix = edges["task"], edges["dependency"], graph["prefix"]

    def named(fits: list[bool]) -> np.ndarray:
        found: np.ndarray = graph["task"][np.array(fits or [False])[prefix.codes]]
        return found

    barriers = named([name.startswith(BARRIER) for name in prefix.names])
    inputs, outputs = dependency[np.isin(task, barriers)], task[np.isin(dependency, barriers)]
    # One that was fused with what comes before it stands behind another name of its own, which sends nothing.
    sends = named([name.endswith("-transfer") for name in prefix.names])
    behind = np.isin(task, inputs) & np.isin(dependency, sends)
    inputs = np.concatenate([inputs[~np.isin(inputs, task[behind])], dependency[behind]])
    forget(edges)
    return Ends(inputs, outputs)
