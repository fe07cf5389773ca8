"""How much of an attempt's time its thread waited for a CPU, which is not the task's doing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .facts import Facts


def starved(facts: Facts) -> np.ndarray:
    """Seconds that each attempt waited for a CPU, by its process's samples; 0 where nobody tells.

    What the threads of a process waited is shared among the tasks that ran at
    once, and is no more than the task's time without a CPU.
    """
    known, table = facts.attempts, facts.read("resources")
    waited = np.zeros(len(known.run))
    if "starved" not in table or not np.isfinite(table["starved"]).any():
        return waited
    codes = {name: code for code, name in enumerate(table["process"].names)}
    for each in facts.held:
        code = codes.get(each.name)
        mine = np.flatnonzero((table["process"].codes == code) & np.isfinite(table["starved"]))
        rows = np.flatnonzero(known.ran & (known.worker.codes == known.worker.names.index(each.name)))
        if len(mine) < 2 or not len(rows):
            continue
        mine = mine[np.argsort(table["time"][mine])]
        time, seconds = table["time"][mine], table["starved"][mine].astype("f8")
        # A sample stands for the time since the one before it.
        time = np.concatenate((2 * time[:1] - time[1:2], time))
        total = np.concatenate(([0.0], np.cumsum(seconds)))
        of = np.interp(known.stop[rows], time, total) - np.interp(known.start[rows], time, total)
        without = facts.length[rows] - np.nan_to_num(known.cpu[rows])
        waited[rows] = np.clip(of / max(1.0, each.at_once), 0.0, np.maximum(without, 0.0))
    return waited
