"""What the scheduler's process itself does: its stacks, resources and logs."""

from __future__ import annotations

import math
import threading
from functools import partial
from typing import Any

import msgpack
from distributed.metrics import time

from .clock import process
from .earlier import Earlier
from .gaps import Gaps
from .garbage import Collections
from .logs import Logs
from .messages import losses, packed_profile, packed_rows
from .pulse import Pulse
from .sampler import Sampler, started
from .stacks import NOTHING
from .waits import Waits

#: Names of tasks up to which Dask's occupancy is asked for: each time it adds up all of them.
_NAMES = 5000
_TOO_MANY = f"expected work (occupancy) while tasks of more than {_NAMES:,} names are processed"


class Own:
    """Samples the process and its event loop's thread; made on that thread.

    Parameters
    ----------
    name
        Name of the log handler.
    loop
        The asyncio event loop.
    server
        The `distributed.Scheduler`.
    """

    def __init__(self, name: str, loop: Any, server: Any) -> None:
        self._server, self._process = server, process()
        self._thread = threading.get_ident()
        loop_thread = threading.get_native_id()
        self._waits = Waits(lambda: (loop_thread,))
        self._pulse = Pulse(0.2, loop, self._counts, self._contention)
        self._collections = Collections()
        self._collections.start()
        self._gaps = Gaps(*self._pulse.gaps)
        self._logs = Logs(name)
        self._logs.open()
        self._earlier = Earlier(server, self._logs)
        self._earlier.ask(self._logs.latest)
        self._sampler: Sampler | None = None

    def adjust(self, options: dict[str, Any], profile: bool, seen: bool) -> None:
        """Follow what the recorders ask for.

        Parameters
        ----------
        options
            Their rates.
        profile
            Whether one of them needs our stacks.
        seen
            Whether all of them are in this process, and sample it themselves.
        """
        self._pulse.interval = options["resources"]
        self._logs.ask(options["logs"])
        # Half of a worker's budget: every task waits when this event loop is stopped.
        interval, budget = options["profile_interval"], options["profile_budget"] / 2
        if self._sampler is not None and not profile:
            self._sampler.stop()
            self._sampler = None
        if profile and self._sampler is None:
            threads = {self._thread: NOTHING}
            made = partial(Sampler, lambda: threads, lambda ident: "event loop", interval, budget)
            self._sampler = started(self._gaps, made)
        elif self._sampler is not None:
            self._sampler.pace.aim, self._sampler.pace.budget = interval, budget
        if self._sampler is None and seen:
            self._pulse.start_on_loop()
        else:
            self._gaps.add(self._pulse.start(self._sampler))

    def tell_again(self) -> None:
        """Tell somebody who begins here what cannot be recorded, and what was logged before."""
        self._gaps.tell_again()
        self._earlier.ask(self._logs.latest)

    def message(self) -> bytes:
        """What is new, like a worker's push."""
        told: dict[str, Any] = {"now": time(), "process": self._process}
        rows, gpus = self._pulse.take()
        told["resources"] = packed_rows(rows)
        if gpus:
            told["gpus"] = gpus
        if self._sampler is not None:
            told["profile"] = packed_profile(self._sampler.drain())
        if collections := self._collections.take():
            told["collections"] = collections
        if (earlier := self._earlier.take()) is not None:
            told["earlier"] = earlier
        if logs := self._logs.take():
            told["logs"] = logs
        if logged := self._logs.stretch:
            told["logged"] = logged
        if gaps := self._gaps.take():
            told["gaps"] = gaps
        told |= losses(samples=self._sampler, resources=self._pulse, logs=self._logs)
        packed: bytes = msgpack.packb(told, default=str, unicode_errors="backslashreplace")
        return packed

    def stop(self) -> None:
        """End everything."""
        if self._sampler is not None:
            self._sampler.stop()
        self._pulse.stop()
        self._waits.close()
        self._collections.stop()
        self._logs.shut()

    def _counts(self) -> dict[str, float]:
        scheduler = self._server
        processing = sum(len(state.processing) for state in list(scheduler.workers.values()))
        return {
            "executing": processing,
            "ready": len(scheduler.queued),
            "waiting": len(scheduler.unrunnable),
            "occupancy": self._occupancy(),
            "starved": self._waits.take().core,
        }

    def _occupancy(self) -> float:
        if len(getattr(self._server, "_task_prefix_count_global", ())) > _NAMES:
            self._gaps.add(_TOO_MANY)
            return math.nan
        try:
            return float(self._server.total_occupancy)
        except (RuntimeError, KeyError):
            # The event loop adds or drops a name meanwhile.
            return math.nan

    def _contention(self) -> float:
        found = self._server.monitor.quantities.get("gil_contention")
        return float(found[-1]) if found else float("nan")
