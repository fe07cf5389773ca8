"""How much of an attempt's time its thread waited for a CPU, which is not the task's doing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...dag import links
from .samples import Samples, between

if TYPE_CHECKING:
    from .facts import Facts


def starved(facts: Facts) -> np.ndarray:
    """Seconds that each attempt waited for a CPU, by its process's samples; 0 where nobody tells.

    What the threads of a process waited is shared among the tasks that ran at
    once, and is no more than the task's time without a CPU.
    """
    known, table = facts.attempts, facts.read("resources")
    if "starved" not in table or not np.isfinite(table["starved"]).any():
        return np.broadcast_to(0.0, len(known.run))
    waited = np.zeros(len(known.run))
    samples = Samples({name: table[name] for name in ("process", "time", "starved")})
    ran = np.flatnonzero(known.ran)
    rows_of = links(known.worker.codes[ran], ran, len(known.worker.names))
    codes = {name: code for code, name in enumerate(known.worker.names)}
    for each in facts.held:
        code = codes[each.name]
        rows = rows_of.rows[rows_of.begins[code] : rows_of.begins[code + 1]]
        mine = samples.of(each.name)
        of = between(mine["time"], mine["starved"], known.at("start", rows), known.at("stop", rows))
        without = facts.length[rows] - np.nan_to_num(known.cpu[rows])
        waited[rows] = np.clip(of / max(1.0, each.at_once), 0.0, np.maximum(without, 0.0))
    return waited
