"""Hands a plugin to a cluster's workers and takes it back, whichever of them answer."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

#: Seconds for which workers are waited for, how many of them a second more is for, and the most.
PATIENCE, MANY, _LONGEST = 5.0, 200, 30.0
#: What a call of a worker ends with that is not there, or no more.
_UNREACHABLE = (OSError, asyncio.TimeoutError)
_NOT_REACHED, _NOT_LOADED = "could not be reached", "could not load the probe"
#: Characters of a worker's reason.
_REASON = 200


class Placing:
    """One plugin of the workers.

    Dask's own way waits for each worker without a bound, and fails where one of them dies meanwhile.

    Parameters
    ----------
    scheduler
        The `distributed.Scheduler`.
    plugin
        The pickled plugin.
    name
        Its name, which no other registration has.
    unrecorded
        Told why some workers, by their addresses, do not have it.
    """

    def __init__(
        self, scheduler: Any, plugin: bytes, name: str, unrecorded: Callable[[str, Sequence[str]], None]
    ) -> None:
        self._scheduler = scheduler
        self._plugin = plugin
        self._name = name
        self._unrecorded = unrecorded
        self._calls: dict[str, asyncio.Future[Any]] = {}

    async def place(self) -> None:
        """Hand it to the workers, those that come later included.

        Raises
        ------
        Exception
            What kept a worker from loading it: then none has it.
        """
        self._scheduler.worker_plugins[self._name] = self._plugin
        message = {"op": "plugin-add", "name": self._name, "plugin": self._plugin}
        calls = self._calls = self._call_all(message)
        if calls:
            await asyncio.wait(calls.values(), timeout=patience(len(calls)))
        answers = {address: call.result() for address, call in calls.items() if call.done()}
        for answer in answers.values():
            if _keeps_out(answer):
                await self.withdraw()
                raise answer
        self._tell_failed(answers)
        for address, call in calls.items():
            if address not in answers:
                call.add_done_callback(partial(self._late, address))

    def tell_waiting(self) -> None:
        """Name the workers that have not answered yet; of those that fail later it is told then."""
        waited = [address for address, call in self._calls.items() if not call.done()]
        self._unrecorded("have not answered the call to record yet; until then", waited)

    def _late(self, address: str, call: asyncio.Future[Any]) -> None:
        if call.cancelled():
            return
        answer = call.result()
        if _keeps_out(answer):
            self._scheduler.worker_plugins.pop(self._name, None)
        self._tell_failed({address: answer})

    def _tell_failed(self, answers: Mapping[str, Any]) -> None:
        failed: defaultdict[str, list[str]] = defaultdict(list)
        for address, answer in answers.items():
            if why := _why(answer):
                failed[why].append(address)
        for why, addresses in failed.items():
            self._unrecorded(why, addresses)

    async def withdraw(self) -> None:
        """Take it from the workers; who does not answer takes it off itself when nobody listens."""
        self._scheduler.worker_plugins.pop(self._name, None)
        for call in self._calls.values():
            call.cancel()
        calls = self._call_all({"op": "plugin-remove", "name": self._name}).values()
        if calls:
            await asyncio.wait(calls, timeout=patience(len(calls)))
        for call in calls:
            call.cancel()

    def _call_all(self, message: dict[str, Any]) -> dict[str, asyncio.Future[Any]]:
        addresses = list(self._scheduler.workers)
        return {each: asyncio.ensure_future(asked(self._scheduler, message, each)) for each in addresses}


def patience(workers: int) -> float:
    """Seconds for which so many workers are waited for."""
    return min(PATIENCE + workers / MANY, _LONGEST)


def _keeps_out(answer: Any) -> bool:
    """Whether a worker could not even load the plugin: one that comes later would not start with it."""
    return isinstance(answer, Exception) and not isinstance(answer, _UNREACHABLE)


def _why(answer: Any) -> str:
    """Why a worker that answers so does not have the plugin; '' if it has."""
    if isinstance(answer, _UNREACHABLE):
        return _NOT_REACHED
    if isinstance(answer, Exception):
        return _not_loaded(repr(answer))
    return _not_loaded(answer.get("exception_text")) if answer["status"] == "error" else ""


def _not_loaded(reason: str | None) -> str:
    return f"{_NOT_LOADED} ({reason[:_REASON]})" if reason else _NOT_LOADED


async def asked(scheduler: Any, message: dict[str, Any], address: str) -> Any:
    """What a worker answers a message, or the exception that kept it from that."""
    try:
        return (await scheduler.broadcast(msg=message, workers=[address], on_error="return"))[address]
    except Exception as error:
        return error
