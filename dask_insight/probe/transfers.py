"""Data that a worker sent to and got from others, from Dask's own logs; times are the worker's own clock."""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from typing import Any

from .rows import Names, Rows

#: The last is the number of keys.
LAYOUT = "incoming:B peer:I start:d stop:d nbytes:d compressed:d keys:I"
_BOUND = 50_000
_NAN = float("nan")


class Transfers:
    """Follows a worker's transfer logs, which keep the last thousand entries."""

    def __init__(self, worker: Any) -> None:
        self._worker = worker
        self.rows = Rows(LAYOUT, _BOUND)
        self._keys: list[tuple[Hashable, float]] = []
        self._last = {
            "incoming": _last(worker.transfer_incoming_log),
            "outgoing": _last(worker.transfer_outgoing_log),
        }
        self.peers = Names("")
        self.dropped = 0

    def look(self, direction: str) -> None:
        """Take the entries that have come since the last look."""
        log = getattr(self._worker, f"transfer_{direction}_log")
        last = self._last[direction]
        if not log or log[-1] is last:
            return
        new = []
        for entry in reversed(log):
            if entry is last:
                break
            new.append(entry)
        if len(new) == log.maxlen:
            self.dropped += 1
        self._last[direction] = log[-1]
        for entry in reversed(new):
            self._take(entry, direction == "incoming")

    def _take(self, entry: dict[str, Any], incoming: bool) -> None:
        # The middle of an outgoing transfer is the only time that Dask leaves uncorrected.
        delay = self._worker.scheduler_delay
        if not incoming:
            delay = (entry["start"] + entry["stop"]) / 2 - entry["middle"]
        keys = entry["keys"]
        if len(self._keys) + len(keys) > 4 * _BOUND:
            self.dropped += 1
            return
        self.rows.add(
            incoming,
            self.peers.code(entry["who"] or ""),
            entry["start"] - delay,
            entry["stop"] - delay,
            entry["total"] or 0,
            _NAN if incoming else _number(entry["compressed"]),
            len(keys),
        )
        self._keys.extend((key, nbytes or 0) for key, nbytes in keys.items())

    def take(self) -> tuple[dict[str, Any], list[Hashable]]:
        """What is new, packed, and the keys that were carried, transfer by transfer."""
        self.look("incoming")
        self.look("outgoing")
        lost, found = self.rows.drain()
        told: dict[str, Any] = {}
        carried, self._keys = self._keys, []
        if found and not lost:
            told["transfers"] = bytes(found)
            told["carried"] = array("d", [nbytes for _, nbytes in carried]).tobytes()
            told["peers"] = list(self.peers.codes)
        else:
            carried = []
        if lost or self.dropped:
            # Without the first ones nobody can tell whose the keys are, so the rest goes too.
            lost += len(found) // self.rows.size if lost else 0
            told["lost_transfers"], self.dropped = lost + self.dropped, 0
        self.peers = Names("")
        return told, [key for key, _ in carried]


def _last(log: Any) -> Any:
    return log[-1] if log else None


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else _NAN
