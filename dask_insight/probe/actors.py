"""Calls of actors, which Dask runs beside its tasks: how many, for how long, and how long they waited."""

from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any

from dask.utils import key_split
from distributed.metrics import time

_OP = "actor_execute"
#: Most sums between two looks; methods that come later count as one of no name.
_MOST = 3000


class Actors:
    """Counts the calls of a worker's actors, as rows of fine metrics of the context ``actor``.

    Dask's handler goes on doing all; ours stands before it, and notes when it began and ended. Calls of
    plain methods follow one another on the one thread that Dask has for them: what they waited for it is told
    apart. Those of coroutines run beside one another.

    Parameters
    ----------
    worker
        The `distributed.Worker`.
    failed
        Told of an error of ours.
    """

    def __init__(self, worker: Any, failed: Callable[[str, Exception], None]) -> None:
        self._worker = worker
        self._failed = failed
        self._dask = worker.handlers.get(_OP)
        self._sums: dict[tuple[str, str, str], float] = {}
        #: Since when the thread of actors has had nothing to do.
        self._free = 0.0
        self._ours = self._call
        #: Dask's handler, from when on we have no part in it; who stood before us passes us over.
        self.passes_to: Callable[..., Any] | None = None
        #: Why calls are not known; '' if they are.
        self.reason = "" if self._dask else "calls of actors: this Dask has another way of calling them"
        if self._dask:
            worker.handlers[_OP] = self._ours

    def take(self) -> list[tuple[str, str, str, str, str, float]]:
        """Rows of context, span, method, activity, unit and what was added, in that unit."""
        sums, self._sums = self._sums, {}
        return [("actor", "", *name, value) for name, value in sums.items()]

    def close(self) -> None:
        """Give Dask its handler again, unless somebody has put another in the place of ours; that goes on."""
        self.passes_to = handler = self._dask
        if self._worker.handlers.get(_OP) is self._ours:
            while (below := getattr(getattr(handler, "__self__", None), "passes_to", None)) is not None:
                handler = below
            self._worker.handlers[_OP] = handler

    async def _call(self, **message: Any) -> Any:
        if self.passes_to is not None:
            return await self.passes_to(**message)
        asked = time()
        try:
            return await self._dask(**message)
        finally:
            try:
                self._note(message.get("actor"), message.get("function"), asked, time())
            except Exception as error:
                self._failed("actors", error)

    def _note(self, key: Any, method: Any, asked: float, stop: float) -> None:
        begun = asked
        if not iscoroutinefunction(getattr(type(self._worker.state.actors.get(key)), str(method), None)):
            begun, self._free = max(asked, min(self._free, stop)), stop
        name = f"{key_split(key)}.{method}"
        if len(self._sums) >= _MOST and (name, "call", "count") not in self._sums:
            name = ""
        for activity, unit, value in (
            ("call", "count", 1.0),
            ("call", "seconds", stop - begun),
            ("waiting", "seconds", begun - asked),
        ):
            if value > 0:
                place = name, activity, unit
                self._sums[place] = self._sums.get(place, 0.0) + value
