"""NVTX ranges around tasks, for NVIDIA's profilers; workers, where we are not, get this file as text."""

from __future__ import annotations

from importlib import resources
from typing import Any

from distributed.diagnostics.plugin import WorkerPlugin

NAME = "dask_insight-nvtx"
#: States of a task whose function runs: it may have given its thread back, or its result is unwanted.
_ON_THREAD = ("executing", "long-running", "cancelled", "resumed")
#: Seconds that a scheduler has to take them off: it may stand still as the program ends.
_PATIENCE = 5.0
_CALL = "exec(source, scope) or scope['Ranges']()"


class Ranges(WorkerPlugin):
    """A range for each task from when it begins to execute to when it has ended, named by task name."""

    name = NAME
    idempotent = True

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        # Code would not do: workers may have another version of Python.
        source = (resources.files(__package__) / "nvtx.py").read_text("utf-8")
        return eval, (_CALL, {"source": source, "scope": {"__name__": NAME}})

    def setup(self, worker: Any) -> None:
        """Begin, where nvtx is installed."""
        self._open: dict[Any, Any] = {}
        self._worker = worker
        try:
            import nvtx

            self._nvtx: Any = nvtx
        except ImportError:
            self._nvtx = None

    def transition(self, key: Any, start: str, finish: str, **facts: Any) -> None:
        """Open or close the range of a task."""
        if self._nvtx is None:
            return
        task = self._worker.state.tasks.get(key)
        if finish == "executing" and key not in self._open:
            message = task.prefix if task is not None else str(key)
            self._open[key] = self._nvtx.start_range(message=message, domain="dask")
        # Not `finish`: a task that is to be released while its function runs comes to be cancelled instead.
        elif key in self._open and getattr(task, "state", "") not in _ON_THREAD:
            self._nvtx.end_range(self._open.pop(key))

    def teardown(self, worker: Any) -> None:
        """Close what is open."""
        while self._nvtx is not None and self._open:
            self._nvtx.end_range(self._open.popitem()[1])


def annotate(client: Any) -> None:
    """Register the ranges on all workers of a client, those that come later too."""
    client.register_plugin(Ranges(), name=NAME)


def withdraw(client: Any) -> None:
    """Take the ranges off all workers.

    Raises
    ------
    TimeoutError
        If the scheduler does not answer within some seconds.
    """
    client.sync(client._unregister_worker_plugin, name=NAME, callback_timeout=_PATIENCE)
