"""The life of a recording on a cluster: register, poll, stop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, ExitStack
from time import monotonic
from typing import Any

from distributed.protocol import Serialize, Serialized, deserialize
from distributed.protocol.pickle import dumps

from ...batch import encode
from ...identity import Identity
from ...options import Emit, Options
from ...probe.clock import Offset, host, process, time
from ...probe.farewell import topic
from ...probe.placing import MANY
from ...probe.ship import SchedulerProbe, WorkerProbe, package
from ...tables.facts import SINCE
from ..clients import cluster_of
from ..losses import losses_kept
from .callers import NEWER, can_watch, watch_all
from .closing import when_closed_within
from .gather import Gather
from .own import ClientProcess
from .submissions import Submissions
from .tables import Tables

#: Attempts to join a probe that may be leaving at that very moment.
_TRIES = 5
#: Seconds between two looks at whether the client still has its scheduler.
_LOOK = 0.5
#: Least seconds between two batches of what the client's process does.
_OWN = 1.0
#: Least seconds that a worker or the scheduler has to answer at the end.
_LEAST = 0.1
#: Times `Options.stop_timeout` that the end may take as long as answers come: a slow link has its time, and a
#: cluster that works on and tells more than can be fetched keeps nobody for ever.
_LONGER = 10
#: Our part of the time in which a client is to close: it has its own to do.
_SHARE = 1 / 3
#: Bytes of an answer from which the way there counts more than all else: its rate is that of the link.
_TELLING = 50_000
#: The rate that is assumed first, and one from which on answers are as large as can be, bytes a second.
_RATE, _FAST = 1e6, 8e6
#: Least seconds that an answer takes by two clocks, and half of those at which it aims: more might have come.
_INSTANT, _QUICK = 1e-3, 0.5
#: Seconds that taking back a recording that did not begin may take.
_ABANDON = 5.0
#: Least seconds, and polls, after which the scheduler takes everything off if it was not asked for anything.
_LEASE, _POLLS = 300.0, 3
#: Options that the scheduler's probe and the workers' have to know.
_RATES = ("profile", "profile_interval", "profile_budget", "resources", "poll", "logs")


class ClusterRefused(RuntimeError):
    """The scheduler does not take our plugin; the message says what to do."""


class ClusterSource:
    """Records everything that a cluster does.

    Parameters
    ----------
    client
        A connected `distributed.Client`, synchronous or not.
    options
        Rates and bounds.
    identity
        The recording's ids.
    pace
        Gives the seconds until the next poll; by default `Options.poll`.
    sampled
        What of this process is sampled, and by which source, where several share a recording.
    joined
        Likewise, by which of them each cluster is recorded.
    logged
        Likewise, until when what each process logs is in the recording, on its own clock.
    again
        Whether another source of the recording has told of this cluster before.

    Attributes
    ----------
    offset
        How this process's clock stands to the scheduler's.
    patience
        Most seconds that the end takes, if answers keep coming.
    """

    def __init__(
        self,
        client: Any,
        options: Options,
        identity: Identity,
        pace: Callable[[], float] | None = None,
        sampled: dict[object, object] | None = None,
        joined: dict[str, object] | None = None,
        logged: dict[int, float] | None = None,
        *,
        again: bool = False,
    ) -> None:
        self._client = client
        self._options = options
        #: Those that the scheduler's probe knows.
        self._agreed: Options | None = None
        self.lease = max(_LEASE, _POLLS * options.poll)
        self._identity = identity
        self._sampled = {} if sampled is None else sampled
        self._joined = {} if joined is None else joined
        self._logged = {} if logged is None else logged
        self._again = again
        self.patience = _LONGER * options.stop_timeout
        #: Seconds more that the end waits for an answer, for the workers that are asked then.
        self._more = 0.0
        self.offset = Offset()
        self._rate = _RATE
        #: When the last answer came, monotonic.
        self._answered = 0.0
        self._recorder = uuid.uuid4().hex
        self._farewell = topic(package(), self._recorder)
        self._at: dict[str, int] | None = None
        self._following: asyncio.Task[None] | None = None
        self._abandoning: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None
        self._own: ClientProcess | None = None
        self._pace = pace or (lambda: options.poll)
        self._stopping, self._begun, self._hurried = asyncio.Event(), asyncio.Event(), asyncio.Event()
        #: Who waits for the next answer.
        self._awaited: list[asyncio.Future[None]] = []
        #: Ends what looks at the client.
        self._undo = ExitStack()
        #: Up to when the scheduler has told, and since when it is known not to answer, on its clock.
        self._heard = 0.0
        self._lost: float | None = None
        self._has_joined = False
        #: Whether the scheduler has closed, or is another source's, and everything that it had is here.
        self._ended = False
        #: What told the cluster from others that was joined.
        self._cluster = ""
        #: Whether nobody is asked until the client has another one.
        self._resting = False
        self._failures: dict[str, int] = {}

    async def start(self, emit: Emit) -> None:
        """Begin to record; runs on the client's event loop. What is begun is taken back if that fails.

        Raises
        ------
        ClusterRefused
            If the scheduler does not accept plugins.
        """
        self._emit = emit
        self._gather = Gather(emit)
        self._told_own = monotonic()
        self._submissions = Submissions(
            emit, self._options.source, lambda words: self._event("warning", "lost", words)
        )
        try:
            await self._join()
            if self._stopping.is_set():
                await self._abandon()
                return
            self._begin_here()
        except BaseException:
            # It may have been cancelled, and must not wait then.
            self._abandoning = asyncio.create_task(self._abandon())
            raise
        finally:
            self._begun.set()

    def _begin_here(self) -> None:
        """Begin what is in this process; all of it or nothing."""
        with ExitStack() as given_up:
            own = ClientProcess(self._options, asyncio.get_running_loop(), self._thread, self._sampled)
            given_up.callback(own.stop)
            own.start()
            given_up.callback(self._undo.close)
            self._undo.callback(self._deaf)
            self._undo.callback(when_closed_within(self._client, self._be_done_within))
            self._undo.callback(watch_all(self._client, self._submissions.called))
            if not can_watch(self._client):
                self._event("warning", "lost", f"the code that submits graphs is not seen: {NEWER}")
            self._following = asyncio.create_task(self._follow())
            self._own = own
            given_up.pop_all()

    def _be_done_within(self, seconds: float) -> None:
        self.patience = min(self.patience, seconds * _SHARE)

    async def _abandon(self) -> None:
        self._release()
        self._deaf()
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self._call("leave", recorder=self._recorder), _ABANDON)

    async def stop(self) -> None:
        """Fetch what is left and take everything off the cluster; `until` says for how long.

        Cancelled, it fetches no more, and takes everything off all the same.
        """
        self._stopping.set()
        self.hurry()
        if self._own is None or self._following is None:
            # It may be joining at this moment, and takes itself back then.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._begun.wait(), _ABANDON)
            await self._abandon()
            return
        begun = monotonic()
        async with AsyncExitStack() as rest:
            rest.callback(self._release)
            # One that is joining again may have listened since.
            rest.callback(self._deaf)
            rest.push_async_callback(self._take_leave, begun)
            # Before what waits: who cancels this completes the file.
            rest.callback(self._end_here)
            rest.callback(self._following.cancel)
            self._undo.close()
            try:
                if not self._ended:
                    await self._while_there(self._fetch(begun), begun)
            except Exception as error:
                self._event("error", "lost", f"the last data could not be fetched: {_words(error)}")
            if self._ended:
                await asyncio.wait([self._following], timeout=_LOOK)

    def until(self, begun: float) -> float:
        """Until when the end is waited for that began at a moment, both monotonic: answers put it off."""
        return min(max(begun, self._answered) + self._silence, begun + self.patience)

    @property
    def _silence(self) -> float:
        """Seconds at the end without an answer after which none is waited for any more."""
        return self._options.stop_timeout + self._more

    def _end_here(self) -> None:
        """End the threads of this process, and emit what they have noted."""
        if self._own is not None:
            self._own.stop()
        for last in (self._tell_own, self._submissions.settle):
            try:
                last(final=True)
            except Exception as error:
                self._failed("stop", error)

    def leave_behind(self) -> None:
        """Stop where the client's event loop runs no more, from any thread; the cluster is told nothing."""
        self._stopping.set()
        self._release()
        if self._own is not None:
            with ExitStack() as rest:
                rest.callback(self._end_here)
                rest.callback(self._undo.close)

    async def let_go(self) -> None:
        """Stop where this process ends, on the client's event loop: fetches nothing, and waits for nobody."""
        self.leave_behind()
        if self._following is not None:
            self._following.cancel()

    async def catch_up(self) -> None:
        """Wait until what the scheduler knows by now is here; runs on the client's event loop."""
        if self._following is not None and not self._following.done():
            come = asyncio.get_running_loop().create_future()
            self._awaited.append(come)
            self.hurry()
            await come

    def adjust(self, options: Options) -> None:
        """Sample as often as `options` say from now on; on the client's event loop."""
        self._options = options
        if self._own is not None:
            self._tell_own(final=True)
            self._own.adjust(options)
            self.hurry()

    def unfollowed(self) -> None:
        """The recording goes on, but nobody follows this cluster any more."""
        if self._own is not None:
            self._tables.gone(self._heard)

    def handed_over(self) -> None:
        """The recording goes on; who follows this cluster from now on tells anew of what has not ended."""
        if self._own is not None:
            self._tables.lose_sight(self._heard)

    async def _fetch(self, begun: float) -> None:
        if self._following is not None:
            while not self._following.done() and self._lost is None:
                await asyncio.wait([self._following], timeout=_LOOK)
        if self._lost is not None:
            raise self._unreachable()
        self._more = 2.0 * (len(self._tables.there) // MANY)
        await self._call("flush", timeout=max(_LEAST, (self.until(begun) - monotonic()) / 2))
        while await self._poll():
            pass

    async def _while_there(self, work: Coroutine[Any, Any, None], begun: float) -> None:
        """Wait for work that began at a moment while the client has its scheduler and answers come."""
        working = asyncio.create_task(work)
        try:
            while not (await asyncio.wait([working], timeout=_LOOK))[0]:
                if not self._has_scheduler:
                    raise self._unreachable()
                if (now := monotonic()) > begun + self.patience:
                    raise TimeoutError(f"after {self.patience:g} s not all had come")
                if now > self.until(begun):
                    raise TimeoutError(f"no answer within {self._silence:g} s")
            working.result()
        finally:
            working.cancel()

    @property
    def _has_scheduler(self) -> bool:
        # One that closes asks us first, and can be used until we have answered; but for one that closes as it
        # has no scheduler.
        status = self._client.status
        return status == "running" or (status == "closing" and self._lost is None)

    def _unreachable(self) -> OSError:
        return OSError(f"the scheduler cannot be reached any more (the client is {self._client.status})")

    async def _take_leave(self, begun: float) -> None:
        """Have everything of ours taken off; a scheduler that stands still is told when it goes on."""
        if self._ended or not self._has_scheduler:
            # It forgets the recorders of a client that has gone.
            return
        self._leaving = asyncio.create_task(self._leave())
        await asyncio.wait([self._leaving], timeout=max(_LEAST, self.until(begun) - monotonic()))

    async def _leave(self) -> None:
        until = monotonic() + self.lease
        while self._client.status != "closed" and monotonic() < until:
            try:
                await self._call("leave", recorder=self._recorder)
                return
            except OSError:
                if self._client.status == "closing":
                    return
                await asyncio.sleep(_LOOK)
            except Exception:
                # It has no probe any more.
                return

    def _call(self, name: str, **arguments: Any) -> Awaitable[Any]:
        call: Awaitable[Any] = getattr(self._client.scheduler, f"{package()}_{name}")(**arguments)
        return call

    async def _call_with_rates(self, name: str, **arguments: Any) -> Any:
        options = self._options
        rates = {rate: getattr(options, rate) for rate in _RATES}
        rates |= {"lease": self.lease, "process": process()}
        answer = await self._call(name, recorder=self._recorder, options=rates, **arguments)
        self._agreed = options
        return answer

    async def _agree(self) -> None:
        """Tell the scheduler's probe of rates that were changed."""
        if self._agreed is not self._options:
            await self._call_with_rates("adjust")
            self._sift()

    def _sift(self) -> None:
        """Leave out what is not wanted, and what others sample of a thread that this process samples."""
        messages, options = self._tables.messages, self._options
        messages.profile, messages.source, messages.logs = options.profile, options.source, options.logs
        messages.sampled_here = "scheduler" if self._thread and options.profile else ""

    def _release(self) -> None:
        for cluster in [cluster for cluster, by in list(self._joined.items()) if by is self]:
            del self._joined[cluster]

    def _is_mine(self) -> bool:
        """Whether the client has a cluster that no other source of the recording has joined."""
        return self._joined.setdefault(cluster_of(self._client), self) is self

    def _rest(self) -> None:
        self._tables.gone(self._heard)
        self._ended = self._resting = True

    def _has_another(self) -> bool:
        there = self._client.status in ("running", "connecting")
        return there and cluster_of(self._client) != self._cluster and self._is_mine()

    async def _join_again(self) -> None:
        # From now on there is something of ours to take off.
        before, self._ended = self._ended, False
        try:
            await self._join()
        except Exception:
            self._ended = before
            raise
        self._resting = False
        self._event("warning", "lost", "the scheduler had forgotten this recording; it begins again here")

    async def _join(self) -> None:
        joining = cluster_of(self._client)
        self._joined[joining] = self
        if self._has_joined:
            self._rename()
        for _ in range(_TRIES):
            await self._register()
            answer = await self._call_with_rates("join", client=self._client.id)
            if answer is not None:
                break
        else:
            raise ClusterRefused("the scheduler forgot our plugin as soon as it had it; is it shutting down?")
        self._at = None
        self._client.subscribe_topic(self._farewell, lambda event: self.hurry())
        cluster = str(answer["about"]["scheduler"]["address"])
        if self._has_joined:
            # Those that are still there are told of again.
            self._tables.gone(self._heard)
        shared = (self._identity, self._emit, self._gather, self._submissions)
        self._tables: Tables = Tables(*shared, cluster, first=not (self._has_joined or self._again))
        self._tables.messages.goes_on(self._logged)
        self._cluster, self._has_joined = joining, True
        if answer["workers"]:
            self._tables.workers(answer["workers"])
        self._thread = answer["thread"]
        self._sift()
        if answer["host"] == host():
            self.offset.same()
        # The call before may have taken long.
        asked = time()
        self._heard = (await self._call("clock"))["time"]
        self.offset.trip(asked, self._heard, time())
        facts = answer["about"]
        if answer["under_way"] and not self._identity.is_used:
            # Of what was before, only what ran on is known: threads beside it were not idle for all we know.
            facts = facts | {SINCE: answer["since"]}
        values = [json.dumps(value, default=str) for value in facts.values()]
        self._emit(encode("about", {"name": list(facts), "value": values}))
        if answer["problem"]:
            self._event("error", "lost", f"workers do not take our plugin: {answer['problem']}")

    def _tell_own(self, final: bool = False) -> None:
        """Emit what this process did, once a second at most."""
        if self._own is None:
            return
        if not self._stopping.is_set():
            self._own.take_over()
        if final or monotonic() - self._told_own >= _OWN:
            self._told_own = monotonic()
            offset, _ = self.offset.estimate(time())
            self._own.tell(offset, self._identity.stacks, self._gather)
            self._gather.flush()

    def _rename(self) -> None:
        """Be another recorder: the scheduler forgets the topic of one that has left a while later."""
        vars(self._client).get("_event_handlers", {}).pop(self._farewell, None)
        self._recorder = uuid.uuid4().hex
        self._farewell = topic(package(), self._recorder)

    async def _register(self) -> None:
        name = f"{package()}_{uuid.uuid4().hex[:8]}"
        worker = dumps(WorkerProbe(name=name))
        plugin = SchedulerProbe(worker_plugin=worker, worker_name=name, bound=self._options.ring)
        try:
            await self._client.scheduler.register_scheduler_plugin(
                plugin=dumps(plugin), name=package(), idempotent=True
            )
        except OSError:
            raise
        except Exception as error:
            cure = f"It is older than distributed 2025.1, or {NEWER}."
            if "scheduler.pickle" in str(error):
                cure = "Plugins need `distributed.scheduler.pickle: True` there."
            raise ClusterRefused(
                f"the scheduler at {self._client.scheduler.address} does not take our plugin "
                f"({_words(error)}). {cure}"
            ) from error

    async def _follow(self) -> None:
        try:
            await self._ask_again_and_again()
        finally:
            # Nobody answers those any more who have asked since the last answer.
            self._answer(len(self._awaited))

    def _answer(self, first: int) -> None:
        """Tell the first of those who wait that they need wait no longer."""
        answered, self._awaited = self._awaited[:first], self._awaited[first:]
        for come in answered:
            if not come.done():
                come.set_result(None)

    async def _ask_again_and_again(self) -> None:
        more, asked = False, 0
        while not self._stopping.is_set() or (self._ended and more):
            if not more:
                asked = len(self._awaited)
            more = False
            try:
                if not self._resting:
                    await self._agree()
                    more = await self._poll()
                    self._lost = None
                elif self._has_another():
                    await self._join_again()
            except OSError as error:
                if not self._ended:
                    self._missed(error)
            except Exception as error:
                self._failed("poll", error)
            try:
                self._submissions.settle()
                self._tell_own()
            except Exception as error:
                self._failed("own", error)
            if not more:
                self._answer(asked)
            if self._ended and not more and not self._resting:
                self._rest()
            if not more:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._hurried.wait(), _LOOK if self._ended else self._pace())
                self._hurried.clear()

    def _deaf(self) -> None:
        """Listen no more to whether the scheduler closes."""
        with contextlib.suppress(Exception):
            self._client.unsubscribe_topic(self._farewell)
            # Dask keeps the handler, and with it this recording.
            self._client._event_handlers.pop(self._farewell, None)

    def hurry(self) -> None:
        """Poll now, not after the pause; on the client's event loop."""
        self._hurried.set()

    async def _poll(self) -> bool:
        asked = time()
        call = self._call("poll", recorder=self._recorder, at=self._at, rate=self._rate)
        answer = await self._patiently(call)
        self._answered = monotonic()
        if answer is None or answer.get("unknown"):
            if not self._has_scheduler and cluster_of(self._client) == self._cluster:
                # It is not known yet which one answers: the client calls for itself.
                raise self._unreachable()
            if self._is_mine():
                await self._join_again()
            else:
                self._rest()
            return False
        # Before anything is read: an answer that cannot be read must not be asked for again and again.
        self._at, self._heard = answer["at"], answer["time"]
        self.offset.trip(asked, self._heard, time())
        took, size = self._now() - answer["time"], 0
        self._submissions.making(answer["making"], answer["time"])
        for worker, ids, blob in answer["blobs"]:
            try:
                message = _plain(blob)
                size += len(message)
                self._tables.messages.take(worker, ids, message)
            except Exception as error:
                # The names in the rest of the answer are counted on from then on.
                self._failed("message", error)
        try:
            self._tables.messages.settle()
        except Exception as error:
            self._failed("message", error)
        packed = _plain(answer["packed"])
        self._came(size + len(packed), took, answer["more"])
        for loss in losses_kept(self._tables.take(packed)):
            self._event("warning", "lost", str(loss), loss._asdict())
        if answer["spans"]:
            self._tables.spans.known(answer["spans"])
        if answer.get("ended") and not self._ended:
            self._ended = True
            self._event("info", "scheduler-closed", "the scheduler closed", self._cluster)
        return bool(answer["more"])

    def _came(self, size: int, seconds: float, more: bool) -> None:
        """So many bytes have come in so many seconds since the scheduler, which may be busy, answered.

        This process may be busy, too: one late answer says little.
        """
        if more and seconds < _QUICK:
            least = 2 * self._rate
        elif size >= _TELLING:
            least = self._rate / 2
        else:
            return
        self._rate = min(max(size / max(seconds, _INSTANT), least), _FAST)

    async def _patiently(self, call: Awaitable[Any]) -> Any:
        """Wait for an answer however long the scheduler is busy, but notice when the client has lost it."""
        asking = asyncio.ensure_future(call)
        try:
            while not (await asyncio.wait([asking], timeout=_LOOK))[0]:
                if not self._has_scheduler:
                    self._missed(self._unreachable())
            return asking.result()
        finally:
            asking.cancel()

    def _missed(self, error: Exception) -> None:
        if self._lost is None:
            self._lost = self._now()
            self._event("warning", "scheduler-lost", f"no answer from the scheduler: {_words(error)}")

    def _failed(self, where: str, error: Exception) -> None:
        """Note a fault of ours, as a count after the first."""
        count = self._failures[where] = self._failures.get(where, 0) + 1
        if count & (count - 1) == 0:
            message = f"the recorder failed in {where}, {count} times so far: {_words(error)}"
            self._event("error", "lost", message)

    def _now(self) -> float:
        """The scheduler's time."""
        now = time()
        return now - self.offset.estimate(now)[0]

    def _event(self, level: str, kind: str, message: str, detail: Any = "") -> None:
        row = {"time": self._now(), "source": "recorder", "kind": kind, "level": level, "message": message}
        row["detail"] = json.dumps(detail) if detail else ""
        self._emit(encode("events", {name: [value] for name, value in row.items()}))


def _plain(blob: Any) -> bytes:
    """What was sent through `to_serialize`; comms within a process leave it wrapped."""
    if isinstance(blob, Serialized):
        blob = deserialize(blob.header, blob.frames)
    data: bytes = blob.data if isinstance(blob, Serialize) else blob
    return data


def _words(error: BaseException) -> str:
    return str(error) if type(error) is OSError else f"{type(error).__name__}: {error}".rstrip(": ")
