"""Hands a plugin to a cluster's workers and takes it back, whichever of them answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

#: Seconds for which workers are waited for.
PATIENCE = 5.0
#: What a call of a worker ends with that is not there, or no more.
_UNREACHABLE = (OSError, asyncio.TimeoutError)


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
            await asyncio.wait(calls.values(), timeout=PATIENCE)
        answers = {address: call.result() for address, call in calls.items() if call.done()}
        failed = {address: answer for address, answer in answers.items() if isinstance(answer, Exception)}
        for error in failed.values():
            if not isinstance(error, _UNREACHABLE):
                # A plugin that cannot be loaded would keep new workers out.
                await self.withdraw()
                raise error
        self._unrecorded("could not be reached", list(failed))
        refused = [each for each in answers if each not in failed and answers[each]["status"] == "error"]
        self._unrecorded("could not load the probe", refused)

    def tell_waiting(self) -> None:
        """Name the workers that have not answered yet."""
        waited = [address for address, call in self._calls.items() if not call.done()]
        self._unrecorded("have not answered the call to record", waited)

    async def withdraw(self) -> None:
        """Take it from the workers; who does not answer takes it off itself when nobody listens."""
        self._scheduler.worker_plugins.pop(self._name, None)
        for call in self._calls.values():
            call.cancel()
        calls = self._call_all({"op": "plugin-remove", "name": self._name}).values()
        if calls:
            await asyncio.wait(calls, timeout=PATIENCE)
        for call in calls:
            call.cancel()

    def _call_all(self, message: dict[str, Any]) -> dict[str, asyncio.Future[Any]]:
        addresses = list(self._scheduler.workers)
        return {each: asyncio.ensure_future(asked(self._scheduler, message, each)) for each in addresses}


async def asked(scheduler: Any, message: dict[str, Any], address: str) -> Any:
    """What a worker answers a message, or the exception that kept it from that."""
    try:
        return (await scheduler.broadcast(msg=message, workers=[address], on_error="return"))[address]
    except Exception as error:
        return error
