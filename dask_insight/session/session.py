"""`record`: everything that Dask does, from one moment to another."""

from __future__ import annotations

import asyncio
import atexit
import math
import os
import threading
import warnings
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack, suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import arguments
from ..legible import printed
from ..options import Emit, Options
from ..probe.clock import time
from ..recording import Recording
from ..tables.facts import CLIENT
from .clusters import AsynchronousClient, Clusters
from .facts import beginning, facts, rates
from .settings import client_of, name_of, options_of
from .target import Target

#: Times `Options.stop_timeout` that who stops what another thread ends waits for it.
_LONGER = 10
#: Seconds between two looks at whether it has ended.
_LOOK = 0.05


class Session:
    """A recording in the making; `record` makes it.

    Use it in ``with`` or ``async with``, or call `start` and `stop` where a
    block cannot be (`start_async` and `stop_async` in a coroutine). A session
    records once. Sessions may nest and overlap.

    Attributes
    ----------
    recording
        What it fills; complete when the session has stopped.
    since
        The moment from which its seconds count, seconds since the epoch; by default the start.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        client: Any,
        name: str | None,
        options: Options,
        local: bool,
        clusters: bool = True,
    ) -> None:
        self._named = None if path is None else Path(_local(path))
        self._path = self._named and self._named.absolute()
        self._target: Target | None = None
        self._client = client
        self._name = name or (self._path.stem if self._path else None)
        self._options = options
        self._with_local = local
        self._with_clusters = clusters
        self.recording = Recording()
        self.since: float | None = None
        self._local: Any = None
        self._clusters: Clusters | None = None
        self._cells: Any = None
        self._unwatch: Any = None
        self._unask: Any = None
        self._early: Any = None
        self._starting: int | None = None
        #: Who begins and who ends take turns; a signal's handler may end what it interrupts.
        self._turn = threading.RLock()
        self._used = False
        #: The clients that were there, until all of them have begun.
        self._found: list[Any] = []
        #: Numbers of all that this process has.
        self._numbers = count()
        self._process = os.getpid()
        self._started = self._stopped = math.nan
        #: The thread that ends it, and whether it has.
        self._ender: int | None = None
        self._ended = threading.Event()

    def start(self) -> Recording:
        """Begin to record.

        Raises
        ------
        AsynchronousClient
            If the client is asynchronous: a `TypeError` that names the cure.
        RuntimeError
            If this session has begun before.
        OSError
            If the file cannot be written, or the scheduler not be reached.
        """
        self._check_unused()
        try:
            clusters = self._begin()
            self._note_cells()
            for client, error in clusters.begin(self._clients()):
                self._refused(client, error)
            self._begun(clusters)
        except BaseException:
            self.stop()
            raise
        return self.recording

    async def start_async(self) -> Recording:
        """Like `start`, from a coroutine, for clients of either kind."""
        self._check_unused()
        try:
            clusters = self._begin()
            self._note_cells()
            for client, error in await clusters.begin_async(self._clients()):
                self._refused(client, error)
            self._begun(clusters)
        except BaseException:
            await self.stop_async()
            raise
        return self.recording

    def stop(self) -> Recording:
        """End the recording: fetch what is left, leave the clusters clean, complete the file.

        Takes bounded time: `Options.stop_timeout` and a little more when a cluster has died, ten times that
        at most where it still sends what it has. In a process that was forked off meanwhile it does nothing:
        file and clusters are the other's. What another thread ends just then is waited for.
        """
        unawaited: list[str] = []
        if (clusters := self._taken()) is not None:
            with ExitStack() as rest:
                rest.callback(self._finish)
                rest.callback(lambda: unawaited.extend(clusters.end()))
                self._halt()
        else:
            self._see_end()
        self._unawaited(unawaited)
        return self.recording

    async def stop_async(self) -> Recording:
        """Like `stop`, from a coroutine. What another one ends just then is waited for, too."""
        if (clusters := self._taken()) is not None:
            async with AsyncExitStack() as rest:
                rest.push_async_callback(self._finish_aside)
                rest.push_async_callback(clusters.end_async)
                self._halt()
        elif self.ours and self._ender is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._seen_end(), self._end_bound)
        return self.recording

    def __enter__(self) -> Recording:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Recording:
        return await self.start_async()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop_async()

    def __repr__(self) -> str:
        if self._clusters is not None:
            state = "records"
        else:
            state = "not begun" if math.isnan(self._stopped) else "ended"
        return printed(f"<Session {self._name or ''!r}: {state}>")

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or not hasattr(Recording, name):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            raise AttributeError(
                f"a Session records: say session.recording.{name}, "
                f"or `with dask_insight.record(…) as run:` and run.{name}"
            )

    def _check_unused(self) -> None:
        with self._turn:
            if self._used:
                raise RuntimeError("this session has been used; dask_insight.record(...) makes a new one")
            self._used = True

    def _begin(self) -> Clusters:
        recording = self.recording
        self._process = os.getpid()
        with self._turn:
            self._clusters = clusters = Clusters(
                self._options, recording.identity, recording.append, self._emit_of, self._pace, self._clocked
            )
            if self._path is not None and self._named is not None:
                self._target = Target(self._path, self._named)
            # A program may end without `stop`.
            atexit.register(self._at_exit)
            self._started = self.since or time()
            all_clients = self._with_clusters and self._with_local and self._client is None
            recording.append(beginning(self._name, self._started, self._options, all_clients=all_clients))
            if self._with_local:
                from ..sources.local import LocalSource

                self._local = LocalSource(self._options, recording.identity)
                self._local.start(self._emit_of(None))
        return clusters

    def _begun(self, clusters: Clusters) -> None:
        """All clusters record; from now on the file is written."""
        with self._turn:
            if self._clusters is not clusters:
                # What came after that end has to go, too.
                self._halt()
                raise RuntimeError("this session was stopped as it began")
            self._found.clear()
            self._write()
            self._unask = self.recording.on_ask(self._catch_up)

    def _emit_of(self, client: Any) -> Emit:
        """Where the batches of a client's cluster go; of the local schedulers, without a client."""
        return self.recording.append

    def _pace(self) -> float:
        """Seconds until a scheduler is asked again."""
        return self._options.poll

    def _clocked(self) -> None:
        """It is known how the clock stands by which tasks are told: the start is told by that, too."""
        if self._clusters is not None and (ahead := self._clusters.ahead):
            self.recording.append(facts({"started": self._started - ahead}))

    def _adjust(self, options: Options) -> None:
        """Sample as often as `options` say from now on."""
        self._options = options
        if self._clusters is not None:
            self.recording.append(rates(options))
            self._clusters.adjust(options)
        if self._local is not None:
            self._local.adjust(options)

    def _write(self) -> None:
        if self._target is not None:
            self._target.begin(self.recording)
            if self._options.source:
                from .early_code import EarlyCode

                try:
                    self._early = EarlyCode(self.recording)
                except RuntimeError as error:
                    gap = f"source code before the end, for a program that is killed: {error}"
                    self.recording.tell("gap", gap)

    def _catch_up(self) -> None:
        """Somebody asks the recording while it is made."""
        clusters, local = self._clusters, self._local
        if self.ours and clusters is not None:
            if local is not None:
                local.catch_up()
            clusters.catch_up()

    def _clients(self) -> list[Any]:
        """The clients to begin with; those that appear later come to `_appeared`."""
        if not self._with_clusters:
            return []
        from ..sources.clients import watch_clients

        self._starting = threading.get_ident()
        self._unwatch = watch_clients(self._appeared, self._closing)
        self._starting = None
        return self._found if self._client is None else [self._client]

    @property
    def ours(self) -> bool:
        """Whether this is the process that records, and none that was forked off it."""
        return os.getpid() == self._process

    def _appeared(self, client: Any) -> Awaitable[None] | None:
        if (clusters := self._clusters) is None or not self.ours:
            return None
        self.recording.append(facts({f"{CLIENT}{next(self._numbers)}": client.id}))
        if self._starting == threading.get_ident():
            self._found.append(client)
            return None
        return None if self._client is not None else self._follow(clusters, client)

    async def _follow(self, clusters: Clusters, client: Any) -> None:
        try:
            await clusters.follow(client)
        except Exception as error:
            self._refused(client, error)

    def _closing(self, client: Any) -> Awaitable[None] | None:
        return self._clusters.leave(client) if self._clusters is not None and self.ours else None

    def _refused(self, client: Any, error: Exception) -> None:
        """A cluster cannot be recorded: fatal if it was asked for, else noted and said."""
        meant = client is self._client or (isinstance(error, AsynchronousClient) and _is_default(client))
        if meant or [client] == self._found:
            raise error
        message = f"{client.id} is not recorded: {self._why(client, error)}"
        if self._clusters is not None:
            self._clusters.tell("lost", message)
        warnings.warn(message, RuntimeWarning, stacklevel=4)

    def _why(self, client: Any, error: Exception) -> str:
        """Why a client is not followed, and whether its cluster is recorded all the same."""
        why = str(error) or type(error).__name__
        if self._clusters is not None and self._clusters.is_replaced(client):
            why += "; another client of its cluster goes on"
        return why

    def _note_cells(self) -> None:
        """Where IPython tells of cells, what a person does between two cells is no fault of the client."""
        from .cells import cells_noted

        clusters = self._clusters
        self._cells = cells_noted(
            self.recording.append, self._options.source, lambda: clusters.ahead if clusters else 0.0
        )

    def _taken(self) -> Clusters | None:
        """What is to end, once; None if nothing is. Of the end an interrupt costs only what it interrupts."""
        if not self.ours:
            return None
        with self._turn:
            if (clusters := self._clusters) is not None:
                # First of all: what is given up here nobody else ends.
                self._stopped = clusters.now()
                self._ender = threading.get_ident()
            clusters, self._clusters = self._clusters, None
        return clusters

    def _over(self) -> None:
        """All has ended."""
        atexit.unregister(self._at_exit)
        self._ended.set()

    def _see_end(self) -> None:
        """Wait for what another thread ends, bounded; not on an event loop, which that one may wait for."""
        if self.ours and self._ender not in (None, threading.get_ident()) and not _on_event_loop():
            self._ended.wait(self._end_bound)

    async def _seen_end(self) -> None:
        while not self._ended.is_set():
            await asyncio.sleep(_LOOK)

    @property
    def _end_bound(self) -> float:
        """Seconds that an end takes at most."""
        return _LONGER * self._options.stop_timeout

    def _unawaited(self, lost: list[str]) -> None:
        """Warn of what a plain end could not wait for."""
        for message in lost:
            warnings.warn(message, RuntimeWarning, stacklevel=4)

    def _at_exit(self) -> None:
        if self._target is not None:
            self.stop()
        else:
            self._let_go()

    def _let_go(self) -> None:
        """Leave nothing running as the process ends, and the recording with it: fetches nothing."""
        if (clusters := self._taken()) is not None:
            with ExitStack() as rest:
                rest.callback(self._over)
                rest.callback(self.recording.close)
                if self._local is not None:
                    rest.callback(self._local.stop)
                rest.callback(clusters.let_go)
                self._halt()

    def _halt(self) -> None:
        """Take nothing more in."""
        with self._turn:
            undone = self._unwatch, self._unask, self._cells and self._cells.close
            self._unask = self._unwatch = self._cells = None
        with ExitStack() as rest:
            for undo in undone:
                if undo is not None:
                    rest.callback(undo)

    def _finish(self) -> None:
        """Complete the recording and its file."""
        with ExitStack() as rest:
            rest.callback(self._over)
            if self._target is not None:
                rest.callback(self._target.finish, self.recording)
            else:
                rest.callback(self.recording.close)
            rest.callback(lambda: self.recording.append(facts({"stopped": self._stopped})))
            if self._options.source:
                rest.callback(self._keep_code)
            for source in (self._early, self._local):
                if source is not None:
                    rest.callback(source.stop)

    async def _finish_aside(self) -> None:
        """The same while the event loop goes on, which may be that of a whole cluster."""
        # All threads of the loop's own may be busy for long.
        pool = ThreadPoolExecutor(1, "dask-insight-file")
        try:
            finishing = asyncio.get_running_loop().run_in_executor(pool, self._finish)
        except RuntimeError:
            # No thread begins any more.
            self._finish()
        else:
            await asyncio.shield(finishing)
        finally:
            pool.shutdown(wait=False)

    def _keep_code(self) -> None:
        from .code import Code

        try:
            Code(self.recording).keep()
        except Exception as error:
            self.recording.tell("lost", f"source code could not be kept: {type(error).__name__}: {error}")


def _local(path: Any) -> str:
    if hasattr(path, "scheduler_info"):
        raise TypeError(f"{path!r} is no path: to record one client's cluster, write record(client=…)")
    return arguments.local_path(path)


def _on_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _is_default(client: Any) -> bool:
    from distributed import default_client

    try:
        return default_client() is client
    except ValueError:
        return False


def record(
    path: str | os.PathLike[str] | None = None,
    client: Any = None,
    name: str | None = None,
    *,
    profile: bool | str | float = True,
    resources: str | float = "200ms",
    local: bool = True,
    clusters: bool = True,
    **options: Any,
) -> Session:
    """Record what Dask does, on clusters and on the local schedulers.

    ::

        with dask_insight.record("run.dinsight") as run:
            result.compute()
        run.tasks

    A program may end without stopping it. With a path, the recording is
    complete when the program ends by itself, and up to its last seconds when
    it is killed; without one it is gone with the process. Nothing stays on the
    clusters either way.

    In a notebook it notes the cells that run meanwhile: what a person does
    between two of them is nobody's fault.

    Parameters
    ----------
    path
        File to write as it goes, replaced if it exists; by default the recording stays in memory.
    client
        Record only this client's cluster, which then must be recordable. By
        default the clusters of all clients of this process, those made later
        included.
    name
        Name of the recording; by default that of the file or the program.
    profile
        Sample call stacks: False for none, a duration for the interval, which
        is ``"10ms"`` by default.
    resources
        Interval between two samples of each process's resources, as Dask
        writes durations, or seconds.
    local
        Record the computations of the local schedulers too.
    clusters
        Record clusters; False for the local schedulers alone.
    **options
        ``profile_interval``: the same as a duration for `profile`, ``"10ms"``.
        ``profile_budget``: share of one core that sampling stacks may take in each worker, 0.02; half of it
        in scheduler and client.
        ``poll``: time between two looks at what the scheduler has for us, ``"2s"``; workers send as often,
        but once a second at most.
        ``ring``: most rows of a table that the scheduler keeps until they are fetched, 1,000,000; what is
        older then is lost, and named.
        ``logs``: the least level of what scheduler, workers and client log that is kept, ``"warning"``;
        ``"info"`` or ``"error"``.
        ``stop_timeout``: how long stopping may take where a cluster does not answer, ``"10s"``.
        ``source``: keep the text of source code, True; else only where it stands.
        ``cache_metric``: what `dask_insight.CacheProfiler` measures of a result: a function of it; None
        counts.
        Durations as above.

    Returns
    -------
    Session
        A context manager, plain and asynchronous, that gives the `Recording`.

    Raises
    ------
    TypeError, ValueError
        If an option is unknown or cannot be read, `client` is no client, or `path` no path of a file here.
    """
    read = options_of(profile, resources, options)
    sources = arguments.flag("local", local), arguments.flag("clusters", clusters)
    return Session(path, client_of(client), name_of(name), read, *sources)
