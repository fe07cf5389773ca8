"""What happens in this process's clusters and local schedulers, for as long as somebody wants to see it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from math import isfinite
from typing import Any
from weakref import WeakSet

import dask

from ..options import OUTPUT_SIZE, Emit, Options
from ..recording import Recording
from ..sources.cells import NO_CELL, running_cell
from ..sources.clients import look
from .bounded import BoundedRecording
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
#: Longest time between two looks for what a change of Dask's configuration has hidden, seconds.
_LOOK = 5.0


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

    def start(self) -> Recording:
        """Begin to record; clusters join as they answer."""
        self._check_unused()
        try:
            _WISHES.join(self)
            clusters = self._begin()
            self._note_cells()
            self._undrive = DRIVER.drive(self)
            for client in self._clients():
                clusters.begin_soon(client, self._refused)
            self._found.clear()
        except BaseException:
            self.stop()
            raise
        return self.recording

    def _unawaited(self, lost: list[str]) -> None:
        """Nobody waits for the last seconds of what has no end."""

    async def start_async(self) -> Recording:
        """The same as `start`."""
        return self.start()

    def tick(self) -> Turn:
        """Keep the recording within its bounds, and clients in sight; sends nothing."""
        self.recording.tidy()
        look()
        return Turn(False, _LOOK)

    def set(self, values: Mapping[str, Any]) -> None:
        """Take what a person has set, for all live sessions of this process until the last has ended.

        ``history``, attempts kept; ``rate``, messages a second; ``report_bytes``,
        most bytes of a report that stays in a notebook; ``resources`` and ``stacks``,
        samples a second, 0 for no stacks.
        """
        _WISHES.take({name: value for name, value in values.items() if _is_number(value)})

    def adopt(self, wishes: Mapping[str, float]) -> None:
        """Keep and sample as `set` was told."""
        if (history := wishes.get("history")) is not None:
            least, most = _HISTORY_BOUNDS
            self.recording.history.limit = int(min(max(history, least), most))
            DRIVER.wake()
        options = self._options
        if (samples := wishes.get("resources", 0)) > 0:
            options = replace(options, resources=max(1 / samples, _LEAST_INTERVAL))
        if (stacks := wishes.get("stacks")) is not None:
            options = replace(options, profile=stacks > 0)
        if stacks:
            options = replace(options, profile_interval=max(1 / stacks, _LEAST_INTERVAL))
        if options != self._options:
            self._adjust(options)

    def state(self) -> dict[str, Any]:
        """How things stand, in what JSON can say.

        Returns
        -------
        dict
            ``busy``: the notebook cell that runs, ``{id, execution}``, or None.
            ``clusters``: one entry for each that is recorded, with ``client``,
            ``address``, the client's ``status``, ``workers`` and how many of them are ``paused``,
            ``threads``, ``memory`` and ``memory_limit`` (bytes or None), ``tasks`` (``total``,
            ``done``, ``erred``) since there were none to wait for. ``local``: the same of the
            local schedulers, None before they have run anything. ``history``: ``limit`` and
            ``attempts`` kept, rows ``dropped`` by table. ``notes``: what could not be recorded,
            in words.
        """
        clusters = [] if self._clusters is None else self._clusters.recorded()
        local, kept, cell = self._tally("").state(), self.recording.history, running_cell()
        losses = [loss for tally in list(self._tallies.values()) for loss in tally.losses]
        return {
            "busy": None if cell == NO_CELL else cell._asdict(),
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
        _WISHES.leave(self)
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


class _Wishes:
    """What a person has set, for all live sessions at once; with the last of them it ends."""

    def __init__(self) -> None:
        #: Taken again where a session that garbage held ends just then.
        self._lock = threading.RLock()
        self._sessions: WeakSet[Live] = WeakSet()
        self._values: dict[str, float] = {}
        #: The first change of Dask's setting for reports, which can be taken back, and the last.
        self._before: dask.config.set | None = None
        self._size = 0

    def join(self, session: Live) -> None:
        """A session is about to begin."""
        with self._lock:
            self._sessions.add(session)
            session.adopt(self._values)

    def leave(self, session: Live) -> None:
        """A session ends."""
        with self._lock:
            self._sessions.discard(session)
            if self._sessions:
                return
            self._values.clear()
            DRIVER.interval = INTERVAL
            before, self._before = self._before, None
            # What somebody else has set since then stays.
            if before is not None and dask.config.get(OUTPUT_SIZE, None) == self._size:
                before.__exit__(None, None, None)

    def take(self, values: Mapping[str, float]) -> None:
        """More has been set."""
        with self._lock:
            if not (sessions := list(self._sessions)):
                return
            self._values |= values
            if (size := values.get("report_bytes", 0)) > 0:
                self._size = int(size)
                change = dask.config.set({OUTPUT_SIZE: self._size})
                self._before = self._before or change
            if (rate := values.get("rate", 0)) > 0:
                DRIVER.interval = 1 / rate
        for session in sessions:
            session.adopt(values)


_WISHES = _Wishes()


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
