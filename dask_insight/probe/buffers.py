"""What P2P shuffles and rechunks hold on a worker: what is yet to be sent, and to be written to disk."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

#: Rows that are kept until they are taken.
_MOST = 2000
#: Shuffles of a worker that are looked at.
_RUNS = 50


class Buffers:
    """Tells what has changed since it was told last: as ``p2p.comm-memory``, of disks likewise, and limits.

    Parameters
    ----------
    worker
        The `distributed.Worker`; its shuffles begin with its first P2P task.
    """

    def __init__(self, worker: Any) -> None:
        self._worker = worker
        self._told: dict[str, float] = {}
        self._rows: deque[tuple[float, str, float]] = deque(maxlen=_MOST)
        #: Rows that nobody took in time.
        self.dropped = 0

    def look(self, now: float) -> None:
        """Note what they hold now, from any thread."""
        try:
            found = self._held()
        except Exception:
            # They come and go meanwhile, or this version of Dask tells otherwise.
            return
        for name in self._told:
            if name.endswith("memory"):
                found.setdefault(name, 0.0)
        for name, value in found.items():
            if self._told.get(name) != value:
                self._told[name] = value
                self.dropped += len(self._rows) == _MOST
                self._rows.append((now, name, value))

    def tell_again(self) -> None:
        """Tell all at the next look: somebody new listens."""
        # What is over is told to be none even then.
        self._told = dict.fromkeys(self._told, math.nan)

    def take(self) -> list[tuple[float, str, float]]:
        """Time, name and bytes of what has changed since the last call."""
        return [self._rows.popleft() for _ in range(len(self._rows))]

    def _held(self) -> dict[str, float]:
        found: dict[str, float] = {}
        shuffles = self._worker.extensions.get("shuffle")
        if shuffles is None:
            return found
        # Those of one worker share its limits.
        for run in list(shuffles.heartbeat().values())[:_RUNS]:
            for kind in ("comm", "disk"):
                memory, limit = f"p2p.{kind}-memory", run[kind].get("memory_limit")
                found[memory] = found.get(memory, 0.0) + float(run[kind]["memory"])
                if limit is not None:
                    found[f"p2p.{kind}-limit"] = float(limit)
        return found
