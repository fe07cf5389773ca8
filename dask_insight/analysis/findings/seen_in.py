"""How much of their time tasks were seen in some call stacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...lookup import Lookup

if TYPE_CHECKING:
    from .facts import Facts


def below(stacks: Mapping[str, Any], mine: np.ndarray) -> np.ndarray:
    """Which rows of ``stacks`` are these, or stand on them."""
    parents = Lookup(stacks["stack"]).rows(stacks["parent"])
    # The row of no parent is never marked.
    found = np.append(mine, False)
    while True:
        more = found[:-1] | found[parents]
        if (more == found[:-1]).all():
            return np.asarray(more)
        found[:-1] = more


def share_in(facts: Facts, mine: np.ndarray) -> np.ndarray:
    """Share of the samples' time of each task name, by code, in some rows of ``stacks``; 0 to 1."""
    samples, share = facts.read("samples"), np.zeros(len(facts.names))
    if not len(samples["run"]):
        return share
    inside = np.append(mine, False)[Lookup(facts.read("stacks")["stack"]).rows(samples["stack"])]
    rows = Lookup(facts.attempts.run).rows(samples["run"])
    known = rows >= 0
    code, seconds = facts.prefix.codes[rows[known]], samples["duration"][known].astype("f8")
    whole, spent = (np.bincount(code, weight, len(share)) for weight in (seconds, seconds * inside[known]))
    return np.divide(spent, whole, out=share, where=whole > 0)
