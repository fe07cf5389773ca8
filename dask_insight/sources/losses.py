"""What was lost before it could be recorded, and what cannot be recorded, in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..tables.losses import Loss

#: What workers lose, and processes of their own accord: of one, and of many.
_SENT = {
    "lost": ("task was dropped before it could be sent", "tasks were dropped before they could be sent"),
    "lost_transfers": (
        "time transfers were dropped before they could be sent",
        "times transfers were dropped before they could be sent",
    ),
    "lost_messages": (
        "message was dropped because the scheduler did not take it",
        "messages were dropped because the scheduler did not take them",
    ),
    "lost_samples": (
        "time the stacks could not be looked at, or there were more samples than can be kept",
        "times the stacks could not be looked at, or there were more samples than can be kept",
    ),
    "lost_resources": (
        "sample of resources failed or lacks figures, or there were more than can be kept",
        "samples of resources failed or lack figures, or there were more than can be kept",
    ),
    "lost_gauges": (
        "change of what P2P holds was dropped, there were more than can be kept",
        "changes of what P2P holds were dropped, there were more than can be kept",
    ),
    "lost_logs": (
        "entry of the log was dropped, there were more than can be kept",
        "entries of the log were dropped, there were more than can be kept",
    ),
}
#: What the scheduler keeps until it is fetched, where it is called otherwise than rows of its table.
_KEPT = {"attempts": ("task", "tasks"), "blobs": ("message of workers", "messages of workers")}
#: Of these it keeps more where `ring` is larger.
_RING = ("attempts", "graph", "keys", "edges", "phases", "releases", "memory", "gauges", "submissions")


def losses_sent(told: Mapping[str, Any]) -> Iterator[Loss]:
    """The losses that a message counts."""
    for name, said in _SENT.items():
        if told.get(name):
            yield Loss(told[name], *said)


def losses_kept(rows: Mapping[str, int]) -> Iterator[Loss]:
    """What the scheduler dropped, by table, since this process had not fetched it."""
    for table, count in rows.items():
        one, many = _KEPT.get(table, (f"row of {table}", f"rows of {table}"))
        more = "; `record(ring=…)`, or `dask-insight run --ring`, keeps more" if table in _RING else ""
        yield Loss(
            count,
            f"{one} was dropped before it was fetched{more}",
            f"{many} were dropped before they were fetched{more}",
        )


def detail(loss: Loss) -> str:
    """How much was lost, as the detail of an event."""
    return json.dumps(loss._asdict(), ensure_ascii=False)


def gap_words(reasons: Iterable[str]) -> Iterator[str]:
    """A sentence for each thing that cannot be recorded in a process."""
    return (f"not recorded here: {reason}" for reason in reasons)
