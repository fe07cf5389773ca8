"""Tasks that no worker may run: none has what they ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import islice
from time import monotonic
from typing import Any

#: Seconds for which there are such tasks before they are told of; then each time that these have doubled.
_TELL = 2.0
#: Tasks that are looked at, and names, workers and hosts that are told.
_LOOKED, _TOLD = 1000, 5


class Stranded:
    """Tells of such tasks while there are any, and once when there are none any more.

    Parameters
    ----------
    scheduler
        The `distributed.Scheduler`.
    event
        Writes an event: level, kind, message, detail.
    """

    def __init__(self, scheduler: Any, event: Callable[[str, str, str, Any], None]) -> None:
        self._scheduler = scheduler
        self._event = event
        self._since = 0.0
        self._next = _TELL

    def look(self) -> None:
        """Look at them; several times a second at most."""
        waiting = getattr(self._scheduler, "unrunnable", ())
        if not waiting and not self._scheduler.workers:
            # Where tasks are queued on the scheduler, they are for want of any worker.
            waiting = getattr(self._scheduler, "queued", ())
        if not waiting:
            if self._since and self._next > _TELL:
                self._event("info", "no-worker", "no task waits for a worker that may run it", {"tasks": 0})
            self._since, self._next = 0.0, _TELL
            return
        self._since = self._since or monotonic()
        seconds = monotonic() - self._since
        if seconds < self._next:
            return
        self._next = 2 * seconds
        text = f"{len(waiting)} tasks wait for a worker that may run them"
        self._event("warning", "no-worker", text, self._detail(waiting) | {"seconds": seconds})

    def _detail(self, waiting: Any) -> dict[str, Any]:
        some = list(islice(waiting, _LOOKED))
        names = Counter(str(getattr(task.prefix, "name", "")) for task in some)
        resources: dict[str, float] = {}
        for task in some:
            for name, amount in (task.resource_restrictions or {}).items():
                resources[str(name)] = max(resources.get(str(name), 0.0), float(amount))
        bound = {str(each) for task in some for each in islice(task.worker_restrictions or (), _TOLD)}
        bound |= {str(each) for task in some for each in islice(task.host_restrictions or (), _TOLD)}
        return {
            "tasks": len(waiting),
            "names": [name for name, _ in names.most_common(_TOLD)],
            "resources": dict(islice(resources.items(), _TOLD)),
            "bound": sorted(bound)[:_TOLD],
            "workers": len(self._scheduler.workers),
        }
