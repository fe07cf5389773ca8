"""What a scheduler or worker logged before anybody recorded it: Dask keeps the last records."""

from __future__ import annotations

from typing import Any

from .logs import Logs

#: Records that are told of, the last ones, and characters of them together.
_RECORDS, _TEXT = 100, 20_000


class Earlier:
    """Tells it once whenever somebody asks.

    Parameters
    ----------
    server
        The `distributed.Scheduler` or `distributed.Worker`.
    logs
        Hears of what is logged now, from the same level on.
    """

    def __init__(self, server: Any, logs: Logs) -> None:
        self._server = server
        self._logs = logs
        self._until: float | None = None

    def ask(self, until: float) -> None:
        """Tell with the next message what was logged until then: what came later is told as it comes."""
        self._until = until

    def take(self) -> list[tuple[float, str, str]] | None:
        """Time, level and text, the oldest first; None if nobody has asked since the last call."""
        until, self._until = self._until, None
        if until is None:
            return None
        handler, size = getattr(self._server, "_deque_handler", None), 0
        found: list[tuple[float, str, str]] = []
        # Workers of one process have all the same.
        if handler is not None and self._logs.is_first:
            for record in reversed(list(handler.deque)):
                if record.levelno >= self._logs.level and record.created < until:
                    row = self._logs.told(record)
                    size += len(row[-1])
                    if size > _TEXT or len(found) == _RECORDS:
                        break
                    found.append(row)
        return found[::-1]
