"""How the processes of lost workers ended: their nannies saw it, and say so where they are asked."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import signal
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple

from distributed.metrics import time

#: Seconds before each time that a nanny is asked, which may hear of it later than the scheduler, and for an
#: answer; likewise at the end, and for all that are asked then.
_RESTS, _ANSWER = (0.2, 1.0, 4.0), 3.0
_AT_END, _LAST = (0.2, 0.3, 0.3), 1.5
#: The last log records of a nanny that are asked for: all nannies of one process have the same.
_RECORDS = 200
#: Nannies that are asked at once, and lost workers that one waits to hear of.
_AT_ONCE, _MOST = 10, 200
_TOO_MANY = f"how workers ended is not asked of the nannies of more than {_MOST} at a time"

#: Time, worker, kind, level, message and detail: a row of `events`.
Row = tuple[float, str, str, str, str, str]


class _Lost(NamedTuple):
    """A worker that was lost: when, its name, its nanny's address, and the number of its process."""

    when: float
    worker: str
    nanny: str
    pid: int


class Exits:
    """Asks the nanny of each worker that went without a word; made on the scheduler's event loop.

    Parameters
    ----------
    scheduler
        The `distributed.Scheduler`.
    label
        Gives the name of the worker that had an address last.
    tell
        Told a row of `events` for each answer.
    lost
        Told in words of what is left out, once.
    """

    def __init__(
        self,
        scheduler: Any,
        label: Callable[[str], str],
        tell: Callable[[Row], None],
        lost: Callable[[str], None],
    ) -> None:
        self._scheduler = scheduler
        self._label = label
        self._tell = tell
        self._lost = lost
        #: By address of a worker that has not said that it closes, its nanny's and the number of its process.
        self._nannies: dict[str, tuple[str, int]] = {}
        self._few = asyncio.Semaphore(_AT_ONCE)
        #: Those of whose end nothing is known yet, and all that asks for it.
        self._missed: set[_Lost] = set()
        self._asking: set[asyncio.Task[None]] = set()
        self._said = False

    def there(self, address: str, state: Any) -> None:
        """A worker is there."""
        if getattr(state, "nanny", None):
            self._nannies[address] = (state.nanny, state.pid)

    def logged(self, topic: Any, message: Any) -> None:
        """Take what was logged on a topic, by Dask or by a user."""
        if not isinstance(message, dict) or topic not in self._nannies:
            return
        action = message.get("action")
        if action == "closing-worker":
            del self._nannies[topic]
        elif action == "remove-worker" and topic not in self._scheduler.workers:
            nanny, pid = self._nannies.pop(topic)
            if message.get("expected") is False:
                self._begin(_Lost(time(), self._label(topic), nanny, pid))

    def last(self) -> list[asyncio.Task[None]]:
        """What to wait for before a recording ends, not for long; others are asked for all the same."""
        return [self._start(self._in_time(lost)) for lost in self._missed]

    def stop(self) -> None:
        """Ask no more."""
        for task in self._asking:
            task.cancel()

    def _begin(self, lost: _Lost) -> None:
        if len(self._missed) < _MOST:
            self._missed.add(lost)
            self._start(self._in_patience(lost))
        elif not self._said:
            self._said = True
            self._lost(_TOO_MANY)

    def _start(self, asking: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(asking)
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)
        return task

    async def _in_patience(self, lost: _Lost) -> None:
        try:
            await self._ask(lost, _RESTS)
        finally:
            self._missed.discard(lost)

    async def _in_time(self, lost: _Lost) -> None:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._ask(lost, _AT_END), _LAST)

    async def _ask(self, lost: _Lost, rests: Sequence[float]) -> None:
        """Ask after each of these rests, until somebody has heard of it."""
        for seconds in rests:
            await asyncio.sleep(seconds)
            if lost not in self._missed:
                return
            # A nanny may have gone with its machine: then nobody knows.
            with contextlib.suppress(Exception):
                found = ended(await self._records(lost.nanny), lost.pid)
                if found and lost in self._missed:
                    self._missed.discard(lost)
                    message, detail = found
                    row = (lost.when, lost.worker, "worker-exit", "warning", message, json.dumps(detail))
                    self._tell(row)

    async def _records(self, nanny: str) -> Any:
        async with self._few:
            try:
                answer = self._scheduler.rpc(nanny).get_logs(n=_RECORDS, close=True)
                return await asyncio.wait_for(answer, _ANSWER)
            finally:
                self._unlearn(nanny)

    def _unlearn(self, nanny: str) -> None:
        """Have Dask forget an address that it has no connection with: its pool keeps all that were called."""
        pool = self._scheduler.rpc
        # Other versions of it may keep them otherwise.
        with contextlib.suppress(AttributeError):
            comms = (pool.available, pool.occupied)
            if not any(each.get(nanny) for each in (*comms, pool._connecting)):
                for each in comms:
                    each.pop(nanny, None)


def ended(records: Any, pid: int) -> tuple[str, dict[str, Any]] | None:
    """What a nanny's log, the latest first, says of a process: in words, and the numbers in them."""
    said = re.compile(
        rf"Worker process {pid} (?:was killed by signal (?P<signal>\d+)|exited with status (?P<status>\d+)"
        r"|was killed by unknown signal)"
    )
    for _, text, *_ in records:
        if match := said.search(text):
            told: dict[str, Any] = {name: int(number) for name, number in match.groupdict().items() if number}
            message = f"process {pid} " + match.group().split(maxsplit=3)[-1]
            with contextlib.suppress(ValueError):
                told["name"] = signal.Signals(told.get("signal", 0)).name
                message += f" ({told['name']})"
            return message, {"pid": pid, **told}
    return None
