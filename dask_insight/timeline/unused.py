"""Threads on which nothing ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

#: With more lanes than this the threads of a worker that ran nothing share one, as in the page.
_MOST_APART = 200


def unused_lanes(
    workers: Mapping[str, Any], used: Iterable[str], since: float, until: float
) -> list[tuple[str, str]]:
    """Worker and thread of a lane for each thread on which nothing ran.

    In a large cluster those of a worker share one lane.

    Parameters
    ----------
    workers
        Columns of the table ``workers``.
    used
        The worker of each lane on which something ran.
    since, until
        Only workers that were there at this time, seconds since the epoch.
    """
    lanes = Counter(used)
    columns = (workers[name].tolist() for name in ("worker", "threads", "joined", "left"))
    # A later row replaces an earlier one.
    newest = {worker: told for worker, *told in zip(*columns, strict=True)}
    counts = {
        worker: int(threads) - lanes[worker]
        for worker, (threads, joined, left) in newest.items()
        if threads > lanes[worker] and not (left <= since or joined >= until)
    }
    apart = lanes.total() + sum(counts.values()) <= _MOST_APART
    return [
        (worker, f"unused {number}")
        for worker, count in counts.items()
        for number in range(count if apart else 1)
    ]
