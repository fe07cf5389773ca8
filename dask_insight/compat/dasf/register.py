"""Recording from the outside of a program, as DASF's plugins do."""

from __future__ import annotations

import atexit
import time
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import Any

from ...recording import Recording
from ...session import Session, record


class Registered:
    """A recording until the program ends.

    Attributes
    ----------
    recording
        What it fills.
    """

    def __init__(self, session: Session, client: Any, ranges: bool) -> None:
        self.recording: Recording = session.start()
        self._session, self._client, self._ranges = session, client, ranges
        if ranges:
            self._annotate()
        atexit.register(self.stop)

    def _annotate(self) -> None:
        from .nvtx import annotate, withdraw

        try:
            annotate(self._client)
        except BaseException:
            # The scheduler has it all the same, and gives it to every worker to come.
            with suppress(Exception):
                withdraw(self._client)
            self._session.stop()
            raise

    def stop(self) -> None:
        """End it now, and leave nothing on the workers; in a process that was forked off do nothing."""
        atexit.unregister(self.stop)
        self._session.stop()
        if self._ranges and self._session.ours and self._client.status == "running":
            from .nvtx import withdraw

            with suppress(TimeoutError):
                withdraw(self._client)
        self._ranges = False


def register_default_profiler(
    target: Any, name: str | None = None, enable_nvtx: bool = False, add_time_suffix: bool = True
) -> Registered:
    """Record what a cluster does until the program ends.

    Parameters
    ----------
    target
        A client, a cluster, anything with a ``client`` or ``cluster``, or anything whose ``executor`` has
        one, as DASF's pipelines do.
    name
        The file's name without its end; ``default`` if none is given.
    enable_nvtx
        Put NVTX ranges named by task around the execution of tasks, on workers that have `nvtx`.
    add_time_suffix
        Add the time, whole seconds since the epoch, to the name.

    Returns
    -------
    Registered
        Its `stop` ends the recording before the program does.

    Raises
    ------
    TypeError
        If nothing to record is found in `target`.
    """
    client = _client_of(target)
    path = f"{name or 'default'}.dinsight"
    if add_time_suffix:
        path = _free(f"{name or 'default'}-{int(time.time())}")
    session = record(path, client=client, name=name or "default", local=False)
    return Registered(session, client, enable_nvtx)


def _free(stem: str) -> str:
    """A file that is not there: a second may bring several."""
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    return next(f"{each}.dinsight" for each in names if not Path(f"{each}.dinsight").exists())


def _client_of(target: Any) -> Any:
    from distributed import Client

    holders = [target, *_named(target, "executor")]
    for found in (each for holder in holders for each in (holder, *_named(holder, "client"))):
        if isinstance(found, Client):
            return found
    for found in (each for holder in holders for each in (holder, *_named(holder, "cluster"))):
        address = getattr(found, "scheduler_address", None)
        if isinstance(address, str) and address:
            return Client(found)
    raise TypeError(
        f"{type(target).__name__} is no client or cluster and has none: give a distributed.Client, "
        "a cluster, or an object with .client or .cluster"
    )


def _named(target: Any, name: str) -> list[Any]:
    return [getattr(target, each, None) for each in (name, f"_{name}")]
