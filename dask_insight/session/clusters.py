"""One source for each cluster that the clients of this process reach."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as FutureTimeout
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..batch import encode
from ..identity import Identity
from ..options import Emit, Options

if TYPE_CHECKING:
    from ..sources.cluster import ClusterSource

#: Seconds beyond a source's own bound after which it is left to itself.
_GRACE = 2.0
#: Seconds that a cluster may take to begin.
_START_TIMEOUT = 60.0
#: Seconds that who asks waits for clusters to answer, and for which those that did not are not asked again.
_PATIENCE, _UNASKED = 2.0, 20.0


class AsynchronousClient(TypeError):
    """An asynchronous client in a plain ``with`` block; the message names the cure."""

    def __init__(self) -> None:
        super().__init__(
            "this client is asynchronous: write `async with dask_insight.record(...)`, "
            "or `await session.start_async()` and `await session.stop_async()`"
        )


class _Followed(NamedTuple):
    client: Any
    source: ClusterSource


class Clusters:
    """The sources of a session that are clusters.

    Each runs on the event loop of the client through which it was found; a
    cluster with several clients is recorded once.

    Parameters
    ----------
    options
        Rates and bounds.
    identity
        The recording's ids.
    emit
        Where batches go.
    emit_of
        Gives, for a client, where the batches of its cluster go; by default `emit`.
    pace
        Gives the seconds until a scheduler is asked again; by default `Options.poll`.
    """

    def __init__(
        self,
        options: Options,
        identity: Identity,
        emit: Emit,
        emit_of: Callable[[Any], Emit] | None = None,
        pace: Callable[[], float] | None = None,
    ) -> None:
        self._options = options
        self._identity = identity
        self._emit = emit
        self._emit_of = emit_of or (lambda client: emit)
        self._pace = pace
        self._followed: dict[str, _Followed] = {}
        self._spare: dict[str, Any] = {}
        self._ask_after = 0.0

    def begin(self, client: Any) -> None:
        """Record a client's cluster; waits until it has begun.

        Raises
        ------
        AsynchronousClient
            If the client lives on the event loop of this very thread.
        """
        self._wait(client, partial(self.follow, client), _START_TIMEOUT)

    def begin_soon(self, client: Any, failed: Callable[[Any, Exception], None]) -> None:
        """Like `begin`, but waits for nothing; `failed` is told why if it does not succeed."""

        async def follow() -> None:
            try:
                await asyncio.wait_for(self.follow(client), _START_TIMEOUT)
            except Exception as error:
                failed(client, error)

        if self._submit(client, follow) is None:
            failed(client, RuntimeError(f"the event loop of {client.id} has ended; make a new Client"))

    def recorded(self) -> list[Any]:
        """The clients through which clusters are recorded."""
        return [one.client for one in list(self._followed.values())]

    def hurry(self) -> None:
        """Ask all schedulers now, whatever the pace; from any thread, waits for nothing."""
        self._tell_each(lambda source: source.hurry())

    def _tell_each(self, what: Callable[[ClusterSource], None]) -> None:
        """Call something with each source, on its event loop."""
        for one in list(self._followed.values()):
            loop = _loop(one.client)
            if loop is not None:
                with contextlib.suppress(RuntimeError):
                    # A loop that has ended takes nothing.
                    loop.call_soon_threadsafe(what, one.source)

    def catch_up(self) -> None:
        """Have what has happened by now come; takes bounded time.

        Clusters whose clients live on the event loop of this very thread are left out.
        """
        if time.monotonic() < self._ask_after:
            return
        asked = [
            self._submit(one.client, one.source.catch_up)
            for one in list(self._followed.values())
            if not _running_here(one.client)
        ]
        late = wait([future for future in asked if future is not None], _PATIENCE).not_done
        for future in late:
            future.cancel()
        if late:
            self._ask_after = time.monotonic() + _UNASKED

    def adjust(self, options: Options) -> None:
        """Sample as often as `options` say from now on; from any thread, waits for nothing."""
        self._options = options
        self._tell_each(lambda source: source.adjust(options))

    async def begin_async(self, client: Any) -> None:
        """Like `begin`, from a coroutine."""
        await self._await(client, partial(self.follow, client), _START_TIMEOUT)

    async def follow(self, client: Any) -> None:
        """Like `begin`, from the client's own event loop."""
        from ..sources.clients import cluster_of
        from ..sources.cluster import ClusterSource

        if client.id in self._followed:
            return
        cluster = cluster_of(client)
        if any(cluster_of(one.client) == cluster for one in self._followed.values()):
            self._spare[client.id] = client
            return
        source = ClusterSource(client, self._options, self._identity, self._pace)
        self._followed[client.id] = _Followed(client, source)
        try:
            await source.start(self._emit_of(client))
        except BaseException:
            # The session may have ended meanwhile.
            self._followed.pop(client.id, None)
            raise

    async def leave(self, client: Any) -> None:
        """A client is about to close; runs on its event loop. Another one of its cluster takes over."""
        from ..sources.clients import cluster_of

        self._spare.pop(client.id, None)
        followed = self._followed.pop(client.id, None)
        if followed is None:
            return
        cluster = cluster_of(client)
        await self._stop(followed)
        for other in list(self._spare.values()):
            if cluster_of(other) == cluster and other.status == "running":
                del self._spare[other.id]
                await self._await(other, partial(self.follow, other), _START_TIMEOUT)
                return
        followed.source.unfollowed()

    def end(self) -> None:
        """Stop all sources; bounded in time, never raises.

        One whose client lives on the event loop of this very thread ends when that loop runs again.
        """
        ending = [(one, self._submit(one.client, partial(self._stop, one))) for one in self._taken()]
        deadline = time.monotonic() + self._options.stop_timeout + _GRACE
        for one, future in ending:
            try:
                if future is not None and not _running_here(one.client):
                    future.result(max(0.0, deadline - time.monotonic()))
            except BaseException as error:
                self._unstopped(one, error)
                if not isinstance(error, Exception):
                    raise

    async def end_async(self) -> None:
        """Like `end`, from a coroutine."""
        bound = self._options.stop_timeout + _GRACE
        await asyncio.gather(*(self._end_one(one, bound) for one in self._taken()))

    async def _end_one(self, one: _Followed, bound: float) -> None:
        try:
            await self._await(one.client, partial(self._stop, one), bound)
        except Exception as error:
            self._unstopped(one, error)

    def _taken(self) -> list[_Followed]:
        followed, self._followed = list(self._followed.values()), {}
        self._spare.clear()
        return followed

    async def _stop(self, one: _Followed) -> None:
        await asyncio.wait_for(one.source.stop(), self._options.stop_timeout + _GRACE / 2)

    def _unstopped(self, one: _Followed, error: BaseException) -> None:
        why = f"{type(error).__name__}: {error}".rstrip(": ")
        self.tell("lost", f"{one.client.id} did not end its part of the recording: {why}")

    def tell(self, kind: str, message: str) -> None:
        """Note something that went wrong here in `events`."""
        row = {"time": time.time(), "source": "recorder", "kind": kind, "level": "error", "message": message}
        self._emit(encode("events", {name: [value] for name, value in row.items()}))

    def _wait(self, client: Any, work: Callable[[], Coroutine[Any, Any, None]], bound: float) -> None:
        if _running_here(client):
            raise AsynchronousClient
        if (future := self._submit(client, work)) is None:
            raise RuntimeError(f"the event loop of {client.id} has ended; make a new Client")
        try:
            future.result(bound)
        except FutureTimeout:
            future.cancel()
            raise TimeoutError(f"the cluster of {client.id} did not answer within {bound:g} s") from None
        except BaseException:
            # Interrupted, by Ctrl-C for one.
            future.cancel()
            raise

    async def _await(self, client: Any, work: Callable[[], Awaitable[None]], bound: float) -> None:
        if _running_here(client):
            await asyncio.wait_for(work(), bound)
        elif (future := self._submit(client, work)) is not None:
            await asyncio.wait_for(asyncio.wrap_future(future), bound)

    @staticmethod
    def _submit(client: Any, work: Callable[[], Any]) -> Future[None] | None:
        """Run a coroutine on a client's event loop; None where that loop has ended."""
        loop = _loop(client)
        if loop is None or loop.is_closed() or not loop.is_running():
            return None
        return asyncio.run_coroutine_threadsafe(work(), loop)


def _loop(client: Any) -> asyncio.AbstractEventLoop | None:
    loop: asyncio.AbstractEventLoop | None = getattr(client.loop, "asyncio_loop", None)
    return loop


def _running_here(client: Any) -> bool:
    try:
        return asyncio.get_running_loop() is _loop(client)
    except RuntimeError:
        return False
