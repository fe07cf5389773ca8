"""One source for each cluster that the clients of this process reach."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack
from functools import partial
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from ..batch import encode
from ..identity import Identity
from ..options import Emit, Options
from ..probe.clock import Offset, time

if TYPE_CHECKING:
    from ..sources.cluster import ClusterSource

#: Seconds beyond a source's own bound after which it is left to itself.
_GRACE = 2.0
#: Seconds that clusters may take to begin, all together.
_START_TIMEOUT = 60.0
#: Seconds that a client which closes waits for another one to take over, so that nothing is missed meanwhile.
_HANDOVER = 1.0
#: Seconds between two looks at whether a client has its scheduler again.
_LOOK = 0.5
#: Seconds that who asks waits for clusters to answer, and for which those that did not are not asked again.
_PATIENCE, _UNASKED = 2.0, 20.0


#: Why the last seconds of an asynchronous client's cluster are lost.
_UNAWAITED = (
    "it runs on the event loop of the code that ended this, which could not wait for the last seconds: write "
    "`async with dask_insight.record(...)`, or `await session.stop_async()`"
)


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
    #: What told its cluster from others when it began; after a reconnection it may be another one.
    cluster: str


#: A client that could not be followed, and why.
Refused = tuple[Any, Exception]


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
    clocked
        Called once, when the first cluster has begun: `ahead` is known from then on.
    """

    def __init__(
        self,
        options: Options,
        identity: Identity,
        emit: Emit,
        emit_of: Callable[[Any], Emit] | None = None,
        pace: Callable[[], float] | None = None,
        clocked: Callable[[], None] = lambda: None,
    ) -> None:
        self._options = options
        self._identity = identity
        self._emit = emit
        self._emit_of = emit_of or (lambda client: emit)
        self._pace = pace
        self._clocked = clocked
        #: How this process's clock stands to those of schedulers, by cluster, in the order in which they
        #: began; of those that are followed no more at least the last one.
        self._offsets: dict[str, Offset] = {}
        #: The clusters of which somebody has told.
        self._told_of: set[str] = set()
        #: What of this process is sampled, and by which source: several would tell of it several times.
        self._sampled: dict[object, object] = {}
        #: By which source each cluster is recorded: a connection that comes back may lead to that of another.
        self._joined: dict[str, object] = {}
        #: Until when what each process logs is in the recording, on its own clock.
        self._logged: dict[int, float] = {}
        self._followed: dict[str, _Followed] = {}
        #: Those whose client closes, until what they fetch has come.
        self._leaving: dict[str, tuple[_Followed, Future[None]]] = {}
        #: Ids of those of them by which their cluster is still recorded.
        self._fetching: set[str] = set()
        self._spare: dict[str, Any] = {}
        #: Ids of clients that could not be followed, and in whose place another one of their cluster is.
        self._replaced: set[str] = set()
        #: Who comes and who ends take turns; taken again where garbage that is found just then ends it all.
        self._lock = threading.RLock()
        self._ended = False
        #: What nobody waits for, until it is done.
        self._under_way: set[Future[None]] = set()
        self._ask_after = 0.0

    def begin(self, clients: Sequence[Any]) -> list[Refused]:
        """Record clients' clusters; waits until all have begun, for as long as one may take.

        Returns
        -------
        list of (client, Exception)
            Those that could not, and why: `AsynchronousClient` if one lives on the event loop of this thread.
        """
        beginning: list[Future[None]] = []
        try:
            beginning.extend(map(self._beginning, clients))
            wait(beginning, _START_TIMEOUT)
        finally:
            # The late ones; all, where the wait is interrupted.
            for future in beginning:
                future.cancel()
        found = zip(clients, map(_failure, clients, beginning), strict=True)
        return [(client, error) for client, error in found if error is not None]

    def _beginning(self, client: Any) -> Future[None]:
        error: Exception = _LoopEnded(client)
        if _running_here(client):
            error = AsynchronousClient()
        elif (future := self._submit(client, partial(self.follow, client))) is not None:
            return future
        failed: Future[None] = Future()
        failed.set_exception(error)
        return failed

    def begin_soon(self, client: Any, failed: Callable[[Any, Exception], None]) -> None:
        """Like `begin` for one client, but waits for nothing; `failed` is told why if it does not succeed."""

        async def follow() -> None:
            try:
                await self.follow(client)
            except Exception as error:
                failed(client, error)

        if self._soon(client, follow) is None:
            failed(client, _LoopEnded(client))

    def recorded(self) -> list[Any]:
        """The clients through which clusters are recorded."""
        return [one.client for one in list(self._followed.values())]

    @property
    def ahead(self) -> float:
        """Seconds by which this process's clock is ahead of a scheduler's; 0 if that is uncertain.

        Of those that are followed the first that began, else the last that was.
        """
        offsets, clusters = self._offsets, self._in_sight()
        followed = [each for cluster, each in offsets.items() if cluster in clusters]
        offset, uncertainty = 0.0, 0.0
        for each in followed[:1] or list(offsets.values())[-1:]:
            offset, uncertainty = each.estimate(time())
        return offset if abs(offset) > uncertainty else 0.0

    def _in_sight(self) -> set[str]:
        """The clusters that are followed, and those that are again as soon as a client has left."""
        from ..sources.clients import cluster_of

        followed = {one.cluster for one in list(self._followed.values())}
        return followed.union(map(cluster_of, list(self._spare.values())))

    def now(self) -> float:
        """The time on the clock of that scheduler, by which all that its cluster tells is stamped."""
        return time() - self.ahead

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
        if monotonic() < self._ask_after:
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
            self._ask_after = monotonic() + _UNASKED

    def adjust(self, options: Options) -> None:
        """Sample as often as `options` say from now on; from any thread, waits for nothing."""
        self._options = options
        self._tell_each(lambda source: source.adjust(options))

    async def begin_async(self, clients: Sequence[Any]) -> list[Refused]:
        """Like `begin`, from a coroutine, for clients of either kind."""

        async def refusal(client: Any) -> Exception | None:
            try:
                await self._await(client, partial(self.follow, client), _START_TIMEOUT)
            except Exception as error:
                return error
            return None

        errors = await asyncio.gather(*map(refusal, clients))
        return [(client, error) for client, error in zip(clients, errors, strict=True) if error is not None]

    async def follow(self, client: Any) -> None:
        """Record a client's cluster, from the client's own event loop; nothing once all has ended.

        If that fails, another client of the cluster which has come meanwhile takes over.
        """
        one = self._made(client)
        try:
            await self._start(one)
        except BaseException:
            if self._hand_over(one, one.cluster) is not None or self._is_followed(one.cluster):
                self._replaced.add(client.id)
            raise

    def is_replaced(self, client: Any) -> bool:
        """Whether another client of its cluster has been asked to go on where this one could not."""
        return client.id in self._replaced

    def _made(self, client: Any) -> _Followed:
        from ..sources.clients import cluster_of
        from ..sources.cluster import ClusterSource

        if client.scheduler is None:
            raise _NotThere(client)
        for one in self._stuck():
            self._leave_behind(one)
            one.source.unfollowed()
        cluster = cluster_of(client)
        again = cluster in self._told_of
        shared = (self._sampled, self._joined, self._logged)
        source = ClusterSource(client, self._options, self._identity, self._pace, *shared, again=again)
        return _Followed(client, source, cluster)

    def _stuck(self) -> list[_Followed]:
        """Take off those whose event loop has ended: nobody told that they have gone."""
        with self._lock:
            # A loop that only rests may go on.
            open_still = [one for one in self._followed.values() if _is_closed(one.client)]
            # But one that rests amid a client's end would keep all others from its cluster.
            closing = [one for one, _ in self._leaving.values() if _has_ended(one.client)]
            for one in open_still:
                del self._followed[one.client.id]
            for one in closing:
                del self._leaving[one.client.id]
                self._fetching.discard(one.client.id)
        return open_still + closing

    async def _start(self, one: _Followed) -> None:
        if not self._register(one):
            return
        try:
            await one.source.start(self._emit_of(one.client))
        except BaseException:
            # The session may have ended meanwhile.
            with self._lock:
                self._followed.pop(one.client.id, None)
            raise
        if self._is_first(one):
            self._clocked()

    def _is_first(self, one: _Followed) -> bool:
        """Note that a cluster has begun; whether none had before."""
        with self._lock:
            if self._ended:
                return False
            is_first, clusters = not self._offsets, self._in_sight()
            there = {cluster: each for cluster, each in self._offsets.items() if cluster in clusters}
            # Who takes over has the place of the one before.
            self._offsets = {**there, one.cluster: one.source.offset}
            self._told_of.add(one.cluster)
        return is_first

    def _register(self, one: _Followed) -> bool:
        """Whether it is to be followed: its cluster is not yet, and there is somebody left to stop it."""
        client = one.client
        with self._lock:
            # Two at a time would tell of the same tasks, each with ids of its own.
            beside = self._is_followed(one.cluster) or self._is_fetched(one.cluster)
            if self._ended or client.id in self._followed:
                return False
            if beside:
                self._spare[client.id] = client
            else:
                self._followed[client.id] = one
        return not beside

    def _is_followed(self, cluster: str) -> bool:
        from ..sources.clients import cluster_of

        return any(cluster_of(one.client) == cluster for one in list(self._followed.values()))

    def _is_fetched(self, cluster: str) -> bool:
        """Whether a client that closes still records a cluster; the lock is held."""
        return any(self._leaving[client][0].cluster == cluster for client in self._fetching)

    async def leave(self, client: Any) -> None:
        """A client is about to close; runs on its event loop. Another one of its cluster takes over."""
        from ..sources.clients import cluster_of

        cluster = cluster_of(client)
        left: Future[None] = Future()
        # Whoever waits for it may give that up.
        left.set_running_or_notify_cancel()
        with self._lock:
            self._spare.pop(client.id, None)
            followed = self._followed.pop(client.id, None)
            if followed is None:
                return
            # It may have another one than that with which it began.
            self._leaving[client.id] = followed._replace(cluster=cluster), left
            self._fetching.add(client.id)
        self._told_of.add(cluster)
        # Half of what Dask has for all of `Client.close`, which raises beyond it.
        followed.source.patience = min(followed.source.patience, getattr(client, "_timeout", inf))
        try:
            following = await self._part(followed, cluster)
        finally:
            with self._lock:
                self._fetching.discard(client.id)
                self._leaving.pop(client.id, None)
            left.set_result(None)
        if following is not None:
            await asyncio.wait([asyncio.wrap_future(following)], timeout=_HANDOVER)

    async def _part(self, followed: _Followed, cluster: str) -> Future[None] | None:
        """Stop the source of a client that closes; gives what another one does that takes over."""
        try:
            await self._stop(followed)
        except Exception as error:
            self._unstopped(followed, _words(error))
        finally:
            # What it sampled of this process is for others now.
            self.hurry()
            following = self._hand_over(followed, cluster)
        if following is not None:
            followed.source.handed_over()
        return following

    def _hand_over(self, left: _Followed, cluster: str, why: str = "") -> Future[None] | None:
        """Have the next client of a cluster take over, on its own event loop; None if there is none.

        Parameters
        ----------
        why
            Why the one before it could not.
        """

        async def follow(other: Any) -> None:
            while other.status == "connecting" and not self._ended:
                await asyncio.sleep(_LOOK)
            try:
                await self._start(self._made(other))
            except Exception as error:
                self._hand_over(left, cluster, f"{other.id}: {_words(error)}")

        with self._lock:
            # Who comes from now on takes over.
            self._fetching.discard(left.client.id)
            goes_on, waiting = self._is_followed(cluster), self._waiting(cluster)
        if goes_on:
            left.source.handed_over()
            return None
        for other in waiting:
            if self._spare.pop(other.id, None):
                if (following := self._soon(other, partial(follow, other))) is not None:
                    return following
                why = str(_LoopEnded(other))
        if not self._ended:
            if why:
                self.tell("lost", f"nobody goes on to record the cluster of {left.client.id}: {why}")
            left.source.unfollowed()
        return None

    def _waiting(self, cluster: str) -> list[Any]:
        """The clients that can take over a cluster, those first that have its scheduler."""
        from ..sources.clients import cluster_of

        there = [other for other in list(self._spare.values()) if cluster_of(other) == cluster]
        # One that has lost the scheduler may find it again.
        return [other for status in ("running", "connecting") for other in there if other.status == status]

    def end(self) -> list[str]:
        """Stop all sources; bounded in time, never raises.

        One whose client lives on the event loop of this very thread ends when that loop runs again.

        Returns
        -------
        list of str
            What is lost of each of those, and the cure.
        """
        unawaited: list[str] = []
        ending = [(one, self._submit(one.client, partial(self._stop, one))) for one in self._taken()]
        ending += [(one, None if _has_ended(one.client) else left) for one, left in self._closing()]
        # First those that nobody waits for: a wait may be interrupted.
        ending.sort(key=lambda each: each[1] is not None)
        begun = monotonic()
        for one, future in ending:
            try:
                if future is None:
                    self._leave_behind(one)
                elif _running_here(one.client):
                    unawaited.append(self._unstopped(one, _UNAWAITED))
                else:
                    _see_end(one, future, begun)
            except BaseException as error:
                self._unstopped(one, _words(error))
                if not isinstance(error, Exception):
                    raise
        return unawaited

    async def end_async(self) -> None:
        """Like `end`, from a coroutine; cancelled, it fetches no more, and ends all the same."""
        begun = monotonic()
        ending = [(one, self._await(one.client, partial(self._stop, one), None)) for one in self._taken()]
        ending += [(one, _come(one, left)) for one, left in self._closing()]
        parts = (self._end_one(one, work, begun) for one, work in ending)
        ended = asyncio.gather(*parts, return_exceptions=True)
        cancelled: asyncio.CancelledError | None = None
        while not ended.done():
            try:
                await asyncio.wait([ended])
            except asyncio.CancelledError as error:
                # A task that is cancelled before it has begun does nothing at all, and who cancels may do so
                # in every turn: what they tell belongs into the file, so they are hurried instead.
                cancelled = error
                for one, _ in ending:
                    one.source.patience = min(one.source.patience, round(monotonic() - begun, 1))
        if cancelled is not None:
            raise cancelled

    async def _end_one(self, one: _Followed, work: Coroutine[Any, Any, None], begun: float) -> None:
        ending = asyncio.ensure_future(work)
        try:
            while not ending.done() and (left := _left(one, begun)) > 0:
                # It may be hurried meanwhile.
                await asyncio.wait([ending], timeout=min(left, _LOOK))
            if not ending.done():
                raise TimeoutError
            ending.result()
        except _LoopEnded:
            self._leave_behind(one)
        except Exception as error:
            self._unstopped(one, _words(error))
        finally:
            ending.cancel()
            # Cancelled, it emits what it has, which belongs into the file.
            await asyncio.wait([ending], timeout=_GRACE)

    def _taken(self) -> list[_Followed]:
        """All that has to be stopped; from now on nothing begins."""
        with self._lock:
            self._ended = True
            self._spare.clear()
            followed, self._followed = list(self._followed.values()), {}
        return followed

    def let_go(self) -> None:
        """Stop all sources as this process ends, and fetch nothing; takes a moment."""
        going = [*self._taken(), *(one for one, _ in self._closing())]
        ending = [(one, self._submit(one.client, one.source.let_go)) for one in going]
        wait([future for _, future in ending if future is not None], _GRACE)
        with ExitStack() as rest:
            for one, future in ending:
                if future is None or not future.done():
                    rest.callback(one.source.leave_behind)

    def _closing(self) -> list[tuple[_Followed, Future[None]]]:
        """Those whose client closes just now, and what is done when they have ended."""
        with self._lock:
            return list(self._leaving.values())

    def _leave_behind(self, one: _Followed) -> None:
        """Stop without its client's event loop, which runs no more."""
        self._unstopped(one, "its event loop has ended")
        one.source.leave_behind()

    async def _stop(self, one: _Followed) -> None:
        await asyncio.wait_for(one.source.stop(), one.source.patience + _GRACE / 2)

    def _unstopped(self, one: _Followed, why: str) -> str:
        """Note that something is lost; gives the words."""
        told = f"{one.client.id} did not end its part of the recording: {why}"
        self.tell("lost", told)
        return told

    def tell(self, kind: str, message: str) -> None:
        """Note something that went wrong here in `events`."""
        row = {"time": self.now(), "source": "recorder", "kind": kind, "level": "error", "message": message}
        self._emit(encode("events", {name: [value] for name, value in row.items()}))

    async def _await(self, client: Any, work: Callable[[], Awaitable[None]], bound: float | None) -> None:
        if _running_here(client):
            await asyncio.wait_for(work(), bound)
        elif (future := self._submit(client, work)) is not None:
            await asyncio.wait_for(asyncio.wrap_future(future), bound)
        else:
            raise _LoopEnded(client)

    def _soon(self, client: Any, work: Callable[[], Any]) -> Future[None] | None:
        """Like `_submit`, for what nobody need wait for."""
        if (future := self._submit(client, work)) is not None:
            self._under_way.add(future)
            future.add_done_callback(self._under_way.discard)
        return future

    @staticmethod
    def _submit(client: Any, work: Callable[[], Any]) -> Future[None] | None:
        """Run a coroutine on a client's event loop; None where that loop has ended."""
        loop = _loop(client)
        if loop is None or _has_ended(client):
            return None
        coroutine = work()
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, loop)
        except RuntimeError:
            # It was closed at this very moment.
            coroutine.close()
            return None


class _LoopEnded(RuntimeError):
    """A client is there that can do nothing any more."""

    def __init__(self, client: Any) -> None:
        super().__init__(f"the event loop of {client.id} has ended; make a new Client")


class _NotThere(RuntimeError):
    """A client has no scheduler."""

    def __init__(self, client: Any) -> None:
        why = "is closed; make a new Client"
        if client.status in ("newly-created", "connecting"):
            why = "has not connected yet; `await` it first"
        super().__init__(f"{client.id} {why}")


async def _come(one: _Followed, left: Future[None]) -> None:
    """Wait until what a client fetches that closes has come."""
    if _has_ended(one.client):
        raise _LoopEnded(one.client)
    await asyncio.wrap_future(left)


def _left(one: _Followed, begun: float) -> float:
    """Seconds for which the end of a source is still waited for that began at a moment."""
    return one.source.until(begun) + _GRACE - monotonic()


def _see_end(one: _Followed, future: Future[None], begun: float) -> None:
    """Wait for the end of a source, which may take longer while it is answered."""
    while True:
        left = _left(one, begun)
        try:
            return future.result(max(0.0, left))
        except TimeoutError:
            if future.done() or left <= 0:
                raise


def _failure(client: Any, beginning: Future[None]) -> Exception | None:
    if beginning.cancelled():
        return TimeoutError(f"the cluster of {client.id} did not answer within {_START_TIMEOUT:g} s")
    error = beginning.exception()
    if error is None or isinstance(error, Exception):
        return error
    raise error


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _loop(client: Any) -> asyncio.AbstractEventLoop | None:
    loop: asyncio.AbstractEventLoop | None = getattr(client.loop, "asyncio_loop", None)
    return loop


def _has_ended(client: Any) -> bool:
    loop = _loop(client)
    return loop is None or not loop.is_running()


def _is_closed(client: Any) -> bool:
    loop = _loop(client)
    return loop is None or loop.is_closed()


def _running_here(client: Any) -> bool:
    try:
        return asyncio.get_running_loop() is _loop(client)
    except RuntimeError:
        return False
