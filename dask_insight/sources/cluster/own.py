"""What the client's process does: its resources and the stacks of its main and event-loop threads."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...identity import Stacks
from ...options import Options
from ...probe.clock import time
from ...probe.garbage import Collections
from ...probe.messages import losses, packed_profile
from ...probe.pulse import Pulse
from ...probe.sampler import Sampler
from ...schema import NOTHING
from ..garbage import collected
from ..losses import gap_words, lost_words
from .gather import Gather
from .profiles import profile

_PROCESS = "client"
_SCHEDULER = "scheduler"


class ClientProcess:
    """Samples this process; made on the thread of the client's event loop.

    Parameters
    ----------
    options
        Rates.
    loop
        The asyncio event loop.
    scheduler
        Ident of the scheduler's thread where it is one of this process, else 0.
    """

    def __init__(self, options: Options, loop: Any, scheduler: int) -> None:
        self._options = options
        self._pulse = Pulse(options.resources, loop)
        self._collections = Collections()
        self._gaps = list(self._pulse.gaps)
        main = threading.main_thread().ident or 0
        self._names = {threading.get_ident(): "event loop", main: "main"}
        if scheduler:
            self._names[scheduler] = _SCHEDULER
        self._sampler: Sampler | None = None

    def start(self) -> None:
        """Begin."""
        self.adjust(self._options)
        self._collections.start()

    def adjust(self, options: Options) -> None:
        """Sample as often as `options` say; stacks that are to be taken no more have been told."""
        self._pulse.interval = options.resources
        # Half of a worker's budget: these threads hold up every task when they are stopped.
        interval, budget = options.profile_interval, options.profile_budget / 2
        if self._sampler is not None and options.profile:
            self._sampler.pace.aim, self._sampler.pace.budget = interval, budget
            return
        if self._sampler is not None:
            self._sampler.stop()
            self._sampler = None
        elif options.profile:
            threads = dict.fromkeys(self._names, NOTHING)
            self._sampler = Sampler(lambda: threads, self._names.__getitem__, interval, budget)
            self._sampler.start()
            if self._sampler.reason:
                self._gaps.append(self._sampler.reason)
        self._pulse.start(self._sampler)

    def stop(self) -> None:
        """End; what is left can still be taken."""
        if self._sampler is not None:
            self._sampler.stop()
        self._pulse.stop()
        self._collections.stop()

    def tell(self, offset: float, stacks: Stacks, gather: Gather) -> None:
        """Gather what is new; `offset` is this clock minus the scheduler's, seconds."""
        rows, gpus = self._pulse.take()
        for table, found in (("resources", rows), ("gpus", gpus)):
            if found:
                # What could not be read just then is missing in a row.
                names = dict.fromkeys(name for row in found for name in row)
                columns: dict[str, Any] = {name: [row.get(name, np.nan) for row in found] for name in names}
                columns["time"] = np.array(columns["time"]) - offset
                gather.add(table, columns | {"process": [_PROCESS] * len(found)})
        if collections := self._collections.take():
            gather.add("collections", collected(_PROCESS, collections, offset, None))
        told = [("gap", "info", text) for text in gap_words(self._gaps)]
        self._gaps.clear()
        lost = losses(samples=self._sampler, resources=self._pulse)
        told += [("lost", "warning", text) for text in lost_words(lost)]
        if told:
            kind, level, message = zip(*told, strict=True)
            columns = {"kind": kind, "level": level, "message": message, "source": [_PROCESS] * len(told)}
            gather.add("events", columns | {"time": np.full(len(told), time() - offset)})
        if self._sampler is not None:
            for packed, process in _parted(self._sampler.drain()):
                profile(process, packed, offset, stacks, None, gather)


def _parted(drained: dict[str, dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str]]:
    """What was sampled here, and apart from it what was sampled of a scheduler's thread in this process."""
    samples = drained["samples"]
    for process in (_PROCESS, _SCHEDULER):
        rows = [
            row
            for row, name in enumerate(samples["thread"])
            if (name == _SCHEDULER) == (process == _SCHEDULER)
        ]
        if rows or process == _PROCESS:
            own: dict[str, Any] = {
                name: array(values.typecode, [values[row] for row in rows])
                for name, values in samples.items()
                if name != "thread"
            }
            names = [samples["thread"][row] for row in rows]
            own["thread"] = ["event loop" if name == _SCHEDULER else name for name in names]
            yield packed_profile(drained | {"samples": own}), process
