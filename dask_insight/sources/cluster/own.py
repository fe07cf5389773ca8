"""What the client's process does: its resources and the stacks of its main and event-loop threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...batch import encode
from ...identity import Stacks
from ...options import Options
from ...probe.messages import packed_profile
from ...probe.pulse import Pulse
from ...probe.sampler import Sampler
from ...schema import NOTHING
from .profiles import profile

_PROCESS = "client"


class ClientProcess:
    """Samples this process; made on the thread of the client's event loop."""

    def __init__(self, options: Options, loop: Any) -> None:
        self._pulse = Pulse(options.resources, loop)
        self.gaps = list(self._pulse.gaps)
        main = threading.main_thread().ident or 0
        own = threading.get_ident()
        names = {main: "main", own: "event loop" if own != main else "main"}
        self._sampler: Sampler | None = None
        if options.profile:
            threads = dict.fromkeys(names, NOTHING)
            self._sampler = Sampler(
                lambda: threads, names.__getitem__, options.profile_interval, options.profile_budget
            )
            if self._sampler.reason:
                self.gaps.append(self._sampler.reason)

    def start(self) -> None:
        """Begin."""
        self._pulse.start()
        if self._sampler is not None:
            self._sampler.start()

    def stop(self) -> None:
        """End; what is left can still be taken."""
        self._pulse.stop()
        if self._sampler is not None:
            self._sampler.stop()

    def batches(self, offset: float, stacks: Stacks) -> Iterator[bytes]:
        """What is new; `offset` is this clock minus the scheduler's, seconds."""
        rows, gpus = self._pulse.take()
        if rows:
            columns: dict[str, Any] = {name: [row[name] for row in rows] for name in rows[0]}
            columns["time"] = np.array(columns["time"]) - offset
            yield encode("resources", columns | {"process": [_PROCESS] * len(rows)})
        if gpus:
            columns = {name: [row[name] for row in gpus] for name in gpus[0]}
            columns["time"] = np.array(columns["time"]) - offset
            yield encode("gpus", columns | {"process": [_PROCESS] * len(gpus)})
        if self._sampler is not None:
            yield from profile(_PROCESS, packed_profile(self._sampler.drain()), offset, stacks, None)
