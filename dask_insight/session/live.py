"""What happens in this process's clusters and local schedulers, for as long as somebody wants to see it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from math import isfinite, isnan
from typing import Any

import dask

from ..options import OUTPUT_SIZE, Emit, Options
from ..recording import Recording
from ..sources.cells import NO_CELL, Cell, cell_runs, running_cell
from .bounded import BoundedRecording
from .cells import cell_rows
from .driver import DRIVER, INTERVAL
from .feed import Turn
from .session import Session
from .tally import Tally

#: Attempts that are kept unless a person wants more or fewer, and the fewest and most that can be.
HISTORY = 200_000
_HISTORY_BOUNDS = (1_000, 5_000_000)
#: Seconds between two polls of a scheduler while somebody looks on, and while nobody does.
_POLL = 0.4
_UNSEEN = 2.0
#: Least seconds between two samples that a person can set.
_LEAST_INTERVAL = 0.001
#: Longest that a new client is kept from its maker until its cluster is recorded, seconds.
_PATIENCE = 5.0
#: Problems that are kept in words.
_NOTES = 20


class Live(Session):
    """A session over everything, without an end, that never stands in its user's way.

    A cluster that cannot be recorded is named in `state`; nothing is raised
    for it and nobody waits for it.

    Parameters
    ----------
    options
        Rates and bounds; by default the usual ones, with more polls.
    client
        Record only this client's cluster; by default everything.
    history
        Attempts that are kept; older ones are dropped and counted.
    """

    recording: BoundedRecording

    def __init__(self, options: Options | None = None, client: Any = None, history: int = HISTORY) -> None:
        super().__init__(None, client, "live", options or Options(poll=_POLL), client is None)
        self.recording = BoundedRecording(history, DRIVER.wake, self._hurry)
        self._undrive: Callable[[], None] | None = None
        #: Of the local schedulers under ''.
        self._tallies: dict[str, Tally] = {}
        self._notes: list[str] = []
        self._cell: Cell = NO_CELL
        #: Whether it has set the rate of messages.
        self._paced = False

    def start(self) -> Recording:
        """Begin to record; clusters join as they answer."""
        self._check_unused()
        try:
            clusters = self._begin()
            self._undrive = DRIVER.drive(self)
            for client in self._clients():
                clusters.begin_soon(client, self._refused)
            self._found.clear()
        except BaseException:
            self.stop()
            raise
        return self.recording

    async def start_async(self) -> Recording:
        """The same as `start`."""
        return self.start()

    def tick(self) -> Turn:
        """Keep the recording within its bounds; sends nothing."""
        self.recording.tidy()
        return Turn(False, None)

    def set(self, values: Mapping[str, Any]) -> None:
        """Take what a person has set.

        ``history``, attempts kept; ``rate``, messages a second; ``report_bytes``,
        most bytes of a report that stays in a notebook; ``resources`` and ``stacks``,
        samples a second, 0 for no stacks.
        """
        set_to = {name: value for name, value in values.items() if _is_number(value)}
        if (size := set_to.get("report_bytes", 0)) > 0:
            dask.config.set({OUTPUT_SIZE: int(size)})
        if (history := set_to.get("history")) is not None:
            least, most = _HISTORY_BOUNDS
            self.recording.history.limit = int(min(max(history, least), most))
            DRIVER.wake()
        if (rate := set_to.get("rate", 0)) > 0:
            DRIVER.interval = 1 / rate
            self._paced = True
        options = self._options
        if (samples := set_to.get("resources", 0)) > 0:
            options = replace(options, resources=max(1 / samples, _LEAST_INTERVAL))
        if (stacks := set_to.get("stacks")) is not None:
            options = replace(options, profile=stacks > 0)
        if stacks:
            options = replace(options, profile_interval=max(1 / stacks, _LEAST_INTERVAL))
        if options != self._options:
            self._adjust(options)

    def cell(self, execution: int, cell: str, code: str, start: float, stop: float, status: str) -> None:
        """A notebook cell has begun, or with a `stop` that is not NaN has ended."""
        self._cell = Cell(cell, execution) if isnan(stop) else NO_CELL
        cell_runs(self._cell)
        code = code if self._options.source else ""
        ahead = 0.0 if self._clusters is None else self._clusters.ahead
        self.recording.append(cell_rows(execution, cell, code, start - ahead, stop - ahead, status))

    def state(self) -> dict[str, Any]:
        """How things stand, in what JSON can say.

        Returns
        -------
        dict
            ``busy``: the notebook cell that runs, ``{id, execution}``, or None.
            ``clusters``: one entry for each that is recorded, with ``client``,
            ``address``, the client's ``status``, ``workers`` and how many of them are ``paused``,
            ``threads``, ``memory`` and ``memory_limit`` (bytes or None), ``tasks`` (``total``,
            ``done``, ``erred``). ``local``: the same of the local schedulers, None before
            they have run anything. ``history``: ``limit`` and ``attempts`` kept,
            rows ``dropped`` by table. ``notes``: what could not be recorded, in words.
        """
        clusters = [] if self._clusters is None else self._clusters.recorded()
        local, kept = self._tally("").state(), self.recording.history
        losses = [loss for tally in list(self._tallies.values()) for loss in tally.losses]
        return {
            "busy": None if self._cell == NO_CELL else self._cell._asdict(),
            "clusters": list(filter(None, map(self._cluster, clusters))),
            "local": local if local["tasks"]["total"] else None,
            "history": {
                "limit": kept.limit,
                "attempts": kept.attempts,
                "dropped": {table: rows for table, rows in kept.dropped.items() if rows},
            },
            "notes": [*self._notes, *losses],
        }

    def _cluster(self, client: Any) -> dict[str, Any] | None:
        # Its event loop takes the scheduler away when it closes.
        if (scheduler := client.scheduler) is None:
            return None
        of_client = {"client": client.id, "address": scheduler.address, "status": client.status}
        return of_client | self._tally(client.id).state()

    def _tally(self, client: str) -> Tally:
        return self._tallies.setdefault(client, Tally(self.recording.append))

    def _emit_of(self, client: Any) -> Emit:
        if client is None:
            return self._tally("")
        self._forget_those_that_closed()
        # A client that is followed again begins to count anew: its cluster may be another one.
        tally = self._tallies[client.id] = Tally(self.recording.append)
        return tally

    def _forget_those_that_closed(self) -> None:
        """Of clients that are followed no more only the last losses are kept, in words."""
        clients = [] if self._clusters is None else self._clusters.recorded()
        for gone in set(self._tallies) - {"", *(client.id for client in clients)}:
            if (tally := self._tallies.pop(gone, None)) is not None:
                self._notes = [*self._notes, *tally.losses][-_NOTES:]

    def _appeared(self, client: Any) -> Awaitable[None] | None:
        joining = super()._appeared(client)
        return None if joining is None else self._patiently(joining)

    async def _patiently(self, joining: Awaitable[None]) -> None:
        """Have a new client wait until its cluster is recorded, but not for long."""
        await asyncio.wait([asyncio.ensure_future(joining)], timeout=_PATIENCE)

    def _pace(self) -> float:
        poll = self._options.poll
        return poll if self.recording.audience.there else max(poll, _UNSEEN)

    def _clocked(self) -> None:
        """Pages know a session by its start, so that stays as it was told."""

    def _hurry(self) -> None:
        if (clusters := self._clusters) is not None:
            clusters.hurry()

    def _refused(self, client: Any, error: Exception) -> None:
        self._notes = [*self._notes, f"{client.id} is not recorded: {self._why(client, error)}"][-_NOTES:]
        if self._clusters is not None:
            self._clusters.tell("lost", self._notes[-1])

    def _halt(self) -> None:
        # Another session may go on to tell which cell runs, and to set the rate.
        if NO_CELL != self._cell == running_cell():
            cell_runs(NO_CELL)
        if self._paced:
            DRIVER.interval = INTERVAL
        undrive, self._undrive = self._undrive, None
        try:
            if undrive is not None:
                undrive()
        finally:
            super()._halt()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


#: A widget that is garbage may give its hold back wherever Python looks for garbage, also where this is held.
_lock = threading.RLock()
_live: Live | None = None
_holders = 0


def hold_live() -> tuple[Live, Callable[[], None]]:
    """The live session over everything in this process, which all who want it share.

    Returns
    -------
    session
        It has begun.
    release
        Ends this hold; with the last one the session ends.
    """
    global _live, _holders
    with _lock:
        # First of all: from here on nobody else ends it.
        _holders += 1
        try:
            if _live is None:
                begun = Live()
                begun.start()
                _live = begun
        except BaseException:
            _holders -= 1
            raise
        held, done = _live, False

    def release() -> None:
        global _live, _holders
        nonlocal done
        with _lock:
            if done:
                return
            done = True
            _holders -= 1
            if _holders:
                return
            _live = None
        held.stop()

    return held, release


_watching: dict[object, Callable[[], None]] = {}


def until_unloaded(end: Callable[[], None]) -> Callable[[], None]:
    """Have `end` called when the extension is unloaded; gives what revokes that."""
    key = object()
    _watching[key] = end

    def revoke() -> None:
        _watching.pop(key, None)

    return revoke


def end_watching() -> None:
    """The extension is unloaded: who still watches stops."""
    with ExitStack() as rest:
        while _watching:
            rest.callback(_watching.popitem()[1])


def live() -> Live | None:
    """The live session of this process, if there is one."""
    return _live
