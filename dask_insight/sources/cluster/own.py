"""What the client's process does: its resources and the stacks of its main and event-loop threads."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np

from ...identity import Stacks
from ...options import Options
from ...probe.clock import time
from ...probe.gaps import Gaps
from ...probe.garbage import Collections
from ...probe.logs import Logs
from ...probe.messages import losses, packed_profile
from ...probe.pulse import Pulse
from ...probe.sampler import Sampler, started
from ...schema import NOTHING
from ..garbage import collected
from ..losses import detail, gap_words, losses_sent
from ..sourceless import log_without_source
from .gather import Gather
from .profiles import profile

_PROCESS = "client"
_SCHEDULER = "scheduler"


class ClientProcess:
    """Samples this process; made on the thread of the client's event loop.

    Of several in a recording each samples its event loop, and one of them all else: as soon as that
    has ended another one may `take_over`.

    Parameters
    ----------
    options
        Rates.
    loop
        The asyncio event loop.
    scheduler
        Ident of the scheduler's thread where it is one of this process, else 0.
    sampled
        What is sampled, and by which of those that share this.
    """

    def __init__(self, options: Options, loop: Any, scheduler: int, sampled: dict[object, object]) -> None:
        self._options = options
        self._loop = loop
        self._sampled = sampled
        self._pulse: Pulse | None = None
        self._collections = Collections()
        self._logs: Logs | None = None
        self._gaps = Gaps()
        main = threading.main_thread().ident or 0
        self._names = {threading.get_ident(): "event loop", main: "main"}
        if scheduler:
            self._names[scheduler] = _SCHEDULER
        #: Those of them that it samples itself.
        self._threads: dict[int, int] = {}
        self._sampler: Sampler | None = None

    def start(self) -> None:
        """Begin."""
        self.take_over()

    def take_over(self) -> None:
        """Sample from now on what nobody else does."""
        free = [ident for ident, name in self._names.items() if self._is_mine((ident, name))]
        if self._sampler is not None and len(free) > len(self._threads):
            self._sampler.since = time()
        self._threads = dict.fromkeys(free, NOTHING)
        if self._pulse is None and self._is_mine(_PROCESS):
            self._pulse = Pulse(self._options.resources, self._loop)
            self._gaps.add(*self._pulse.gaps)
            self._collections.start()
            self._listen()
        self.adjust(self._options)

    def _listen(self) -> None:
        """Keep what this process logs, unless a scheduler in it does."""
        if _SCHEDULER not in self._names.values():
            # Other recordings keep the same records, each for itself.
            self._logs = Logs("dask_insight-client", among=[])
            self._logs.open()

    def _is_mine(self, what: object) -> bool:
        return self._sampled.setdefault(what, self) is self

    def adjust(self, options: Options) -> None:
        """Sample as often as `options` say; stacks that are to be taken no more have been told."""
        self._options = options
        # Half of a worker's budget: these threads hold up every task when they are stopped, and do so twice
        # where one of them is the scheduler's.
        part = 4 if _SCHEDULER in self._names.values() else 2
        interval, budget = options.profile_interval, options.profile_budget / part
        if self._sampler is None and options.profile:
            made = partial(Sampler, lambda: self._threads, self._names.__getitem__, interval, budget)
            self._sampler = started(self._gaps, made)
        elif self._sampler is not None and options.profile:
            self._sampler.pace.aim, self._sampler.pace.budget = interval, budget
        elif self._sampler is not None:
            self._sampler.stop()
            self._sampler = None
        if self._pulse is not None:
            self._pulse.interval = options.resources
            self._gaps.add(self._pulse.start(self._sampler))
        if self._logs is not None:
            self._logs.ask(options.logs)

    def stop(self) -> None:
        """End; what is left can still be taken."""
        with ExitStack() as rest:
            rest.callback(self._release)
            if self._logs is not None:
                rest.callback(self._logs.shut)
            rest.callback(self._collections.stop)
            if self._pulse is not None:
                rest.callback(self._pulse.stop)
            if self._sampler is not None:
                self._sampler.stop()

    def _release(self) -> None:
        """Leave what was sampled to others."""
        for what in [what for what, by in list(self._sampled.items()) if by is self]:
            del self._sampled[what]

    def tell(self, offset: float, stacks: Stacks, gather: Gather) -> None:
        """Gather what is new; `offset` is this clock minus the scheduler's, seconds."""
        rows, gpus = ([], []) if self._pulse is None else self._pulse.take()
        for table, found in (("resources", rows), ("gpus", gpus)):
            if found:
                # What could not be read just then is missing in a row.
                names = dict.fromkeys(name for row in found for name in row)
                columns: dict[str, Any] = {name: [row.get(name, np.nan) for row in found] for name in names}
                columns["time"] = np.array(columns["time"]) - offset
                gather.add(table, columns | {"process": [_PROCESS] * len(found)})
        if collections := self._collections.take():
            gather.add("collections", collected(_PROCESS, collections, offset, None))
        self._tell_events(offset, gather)
        if self._sampler is not None:
            for packed, process in _parted(self._sampler.drain()):
                profile(process, packed, offset, stacks, None, gather)

    def _tell_events(self, offset: float, gather: Gather) -> None:
        now, kept = time(), str if self._options.source else log_without_source
        logs = [] if self._logs is None else self._logs.take()
        told = [(when, "log", level, kept(text), "") for when, level, text in logs]
        told += [(now, "gap", "info", text, "") for text in gap_words(self._gaps.take())]
        lost = losses_sent(losses(samples=self._sampler, resources=self._pulse, logs=self._logs))
        told += [(now, "lost", "warning", str(loss), detail(loss)) for loss in lost]
        if told:
            when, kind, level, message, details = zip(*told, strict=True)
            columns: dict[str, Any] = {"kind": kind, "level": level, "message": message, "detail": details}
            columns |= {"source": [_PROCESS] * len(told), "time": np.array(when) - offset}
            gather.add("events", columns)


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
