"""Numbers that workers tell beside what Dask measures: those of RMM and cuDF, and metrics of users."""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from numbers import Real
from typing import Any

#: What Dask puts into every heartbeat, which other tables tell better.
_CORE = frozenset(
    (
        *("task_counts", "bandwidth", "digests_total_since_heartbeat", "managed_bytes", "spilled_bytes"),
        *("transfer", "event_loop_interval", "cpu", "memory", "time", "num_fds", "gil_contention"),
        *("host_net_io", "host_disk_io", "host_cpu"),
        *("gpu", "gpu-memory-total", "gpu_utilization", "gpu_memory_used"),
    )
)
#: Numbers that are told of a worker, entries of its metrics that are looked at for them, letters of a name.
_MOST, _ENTRIES, _LONGEST = 50, 500, 100
_LOOKED_AT = f"of each worker's metrics {_ENTRIES} entries are looked at"


class Gauges:
    """Tells what has changed since it was told last.

    Parameters
    ----------
    lost
        Told in words what is left out, of each kind once.
    """

    def __init__(self, lost: Callable[[str], None]) -> None:
        self._lost = lost
        #: What has been said to be left out.
        self._said: set[str] = set()
        #: By code of the worker, the metrics that it sent last and what was told of them.
        self._told: dict[int, tuple[Any, dict[str, float]]] = {}

    def tell_again(self) -> None:
        """Tell all at the next look: somebody new listens."""
        self._told.clear()
        self._said.clear()

    def left_out(self, what: str) -> None:
        """Say what numbers are not told, unless that was said."""
        if what not in self._said:
            self._said.add(what)
            self._lost(f"not all numbers that workers tell of themselves are kept: {what}")

    def left(self, code: int) -> None:
        """A worker has left."""
        self._told.pop(code, None)

    def look(
        self, workers: Iterable[tuple[str, Any]], codes: Mapping[str, int]
    ) -> Iterator[tuple[int, float, str, float]]:
        """Code of the worker, when the scheduler heard of it, name and value of each number that changed."""
        for address, state in workers:
            if (code := codes.get(address)) is None:
                continue
            metrics, (seen, told) = state.metrics, self._told.get(code, (None, {}))
            if metrics is seen:
                continue
            self._told[code] = (metrics, told)
            # Workers of this process may change what they have sent while it is read.
            with contextlib.suppress(Exception):
                self._told[code] = (metrics, dict(numbers(metrics, self.left_out)))
            for name, value in self._told[code][1].items():
                if told.get(name) != value:
                    yield code, state.last_seen, name, value


def numbers(metrics: Mapping[Any, Any], left_out: Callable[[str], None]) -> Iterator[tuple[str, float]]:
    """Those of a worker's metrics that are not Dask's; of dicts with the keys after dots: rmm.rmm-used.

    What is left out is told in words.
    """
    entries = deque((str(name), value) for name, value in metrics.items() if name not in _CORE)
    found = 0
    for _ in range(_ENTRIES):
        if not entries:
            return
        name, value = entries.popleft()
        if len(name) > _LONGEST:
            left_out(f"only those whose names have up to {_LONGEST} letters")
        elif isinstance(value, dict):
            room = max(0, _ENTRIES - len(entries))
            entries.extend((f"{name}.{key}", part) for key, part in islice(value.items(), room))
            if len(value) > room:
                left_out(_LOOKED_AT)
        elif math.isfinite(number := _number(value)):
            if found == _MOST:
                left_out(f"of each worker up to {_MOST}")
                return
            found += 1
            yield name, number
    if entries:
        left_out(_LOOKED_AT)


def _number(value: Any) -> float:
    """NaN for what is none, or is too large for one."""
    try:
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except Exception:
        return math.nan
