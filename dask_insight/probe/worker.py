"""The worker's side of the probe: collects, and pushes to the scheduler's side now and then."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import weakref
from collections import deque
from collections.abc import Hashable, Iterator
from functools import partial
from typing import Any

import msgpack
from distributed.diagnostics.plugin import WorkerPlugin
from distributed.protocol import to_serialize

from .actors import Actors
from .boot import unload
from .buffers import Buffers
from .clock import Offset, host, process, time
from .cores import cores
from .earlier import Earlier
from .executions import NOTHING, Executions
from .gaps import Gaps
from .garbage import Collections
from .gpu import has_one
from .logs import Logs
from .messages import losses, packed_profile, packed_rows
from .metrics import Metrics
from .pulse import Pulse
from .sampler import Sampler, started
from .transfers import Transfers
from .waits import Waits, task_executors, task_threads

#: Least seconds between two pushes, and those that the last one may take.
_PUSH = 1.0
_LAST = 5.0
#: Seconds that a new worker waits for its first round trips.
_GREETING = 3.0
#: Most keys in one push: the scheduler looks each up.
_KEYS = 4000
#: Most bytes kept while the scheduler does not take them.
_UNSENT = 16_000_000
#: Pushes after which a probe to which nobody listens takes itself off.
_REFUSALS = 5
#: Round trips before a worker is told of tasks, the first of which may have to connect, and after that.
_FIRST, _FURTHER = 2, 3
#: Seconds between two samples of a worker's resources up to which workers of one process take turns.
_SHARED = 1.0
_NAN = float("nan")
#: The probes of this process. A cluster may have all its workers in one: together they may cost what one may.
_here: weakref.WeakSet[Probe] = weakref.WeakSet()


class Probe(WorkerPlugin):
    """Collects on a worker while somebody records.

    Parameters
    ----------
    package
        Name of the shipped package, which our calls carry.
    name
        Name under which the scheduler's probe registered this plugin.
    options
        Rates: profile, profile_interval, profile_budget, resources, poll; logs.
    """

    idempotent = True

    def __init__(self, package: str, name: str, options: dict[str, Any] | None = None) -> None:
        self.package = package
        self.name = name
        self._options = options or {}
        self._refused = 0
        self._off = False
        #: What takes off what `setup` has put on, the last first.
        self._undo = contextlib.ExitStack()
        self._pushing: asyncio.Task[None] | None = None
        self._failures: dict[str, tuple[int, str]] = {}
        #: Messages that the scheduler has not acknowledged: number, bytes, keys, and how many before it are
        #: lost of which it tells.
        self._unsent: deque[tuple[int, bytes, list[Hashable], int]] = deque()
        #: Higher than that of any probe that this worker had before.
        self._sequence = int(1e6 * time())
        self._lost = 0

    async def setup(self, worker: Any) -> None:
        """Begin; runs on the worker's event loop."""
        self.worker = worker
        try:
            self._put_on(worker)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._ping(_FIRST), _GREETING)
        except Exception:
            # Dask keeps the plugin until it is told to remove it.
            self._leave()
            raise
        # A recorder that has left meanwhile has had it taken off.
        if not self._off:
            self._pushing = asyncio.create_task(self._keep_pushing())

    def _put_on(self, worker: Any) -> None:
        undo = self._undo.callback
        undo(unload, self.package, self)
        _here.add(self)
        undo(_here.discard, self)
        self._sending = asyncio.Lock()
        self._offset, self._process, self._cores = Offset(), process(), cores()
        self._sampler: Sampler | None = None
        self._transfers = Transfers(worker)
        self._executions = Executions(worker, self._fetched, self._failed)
        undo(self._executions.close)
        vars(self)["transition"] = self._executions.transition
        self._metrics = Metrics(worker)
        self._buffers = Buffers(worker)
        self._actors = Actors(worker, self._failed)
        undo(self._actors.close)
        # The recorders are yet to say what they ask for; those that want less leave it out.
        self._logs = Logs(self.package, "info")
        undo(self._logs.shut)
        self._logs.open()
        self._earlier = Earlier(worker, self._logs)
        self._waits = Waits(partial(task_threads, worker))
        undo(self._waits.close)
        self._collections = Collections(self._run_on)
        undo(self._collections.stop)
        self._collections.start()
        loop, self._loop_thread = asyncio.get_running_loop(), threading.get_ident()
        every = self._options.get("resources", 0.2)
        self._pulse = Pulse(every, loop, self._counts, self._contention, has_one(worker))
        undo(self._pulse.stop)
        undo(self._stop_sampling)
        self._gaps = Gaps(*self._pulse.gaps)
        self._gaps.add(self._actors.reason)
        worker.handlers[f"{self.package}_flush"] = self.flush
        undo(self._shut)
        self._adjust(self._options)

    async def teardown(self, worker: Any) -> None:
        """Push what is left and end."""
        if not self._off:
            comm = worker.batched_stream.comm
            # Without its scheduler nobody takes it, and a worker would try for long to connect anew.
            if comm is not None and not comm.closed():
                with contextlib.suppress(Exception):
                    self._tell_all()
                    await asyncio.wait_for(self._push(), _LAST)
            if self._pushing is not None:
                self._pushing.cancel()
            self._take_off()

    async def flush(self) -> None:
        """Push now; the scheduler's probe calls this before a recorder ends."""
        self._tell_all()
        await self._push()

    def _tell_all(self) -> None:
        """Have the next push leave nothing to a later one."""
        self._executions.tell_away()
        self._metrics.look_at_all()

    def _fetched(self) -> None:
        self._transfers.look("incoming")
        # A worker that gets much mostly sends much.
        self._transfers.look("outgoing")

    def _threads(self) -> dict[int, int]:
        run_of = self._executions.run_of
        found = {ident: run_of(key) for ident, key in dict(self.worker.active_threads).items()}
        if self._pulse.still():
            found.setdefault(self._loop_thread, NOTHING)
        return found

    def _called(self, ident: int) -> str:
        return "event loop" if ident == self._loop_thread else str(ident)

    def _run_on(self, ident: int) -> int:
        key = self.worker.active_threads.get(ident)
        return NOTHING if key is None else self._executions.run_of(key)

    def _counts(self) -> dict[str, float]:
        state, waited = self.worker.state, self._waits.take()
        self._buffers.look(time())
        return {
            "executing": state.executing_count,
            "ready": len(state.ready) + len(state.constrained),
            "waiting": len(state.waiting),
            "transfers_in": state.transfer_incoming_count,
            "transfers_out": self.worker.transfer_outgoing_count,
            # As large as Dask measured what is sent; other versions of it may not tell.
            "bytes_in": getattr(state, "transfer_incoming_bytes", _NAN),
            "bytes_out": getattr(self.worker, "transfer_outgoing_bytes", _NAN),
            "starved": waited.core,
            "gil_wait": waited.gil,
        }

    def _contention(self) -> float:
        found = self.worker.monitor.quantities.get("gil_contention")
        return float(found[-1]) if found else float("nan")

    async def _keep_pushing(self) -> None:
        turn = self._greet
        while not self._off:
            try:
                await turn()
            except Exception as error:
                self._failed("push", error)
            turn = self._push_again

    async def _greet(self) -> None:
        """Push at once: the recorder must know this worker's clock before it hears of its tasks."""
        await self._push()
        await self._ping(_FURTHER)

    async def _push_again(self) -> None:
        await self._rest()
        await self._push()

    async def _rest(self) -> None:
        """Wait for the next push; what Dask's log of transfers would forget by then is taken meanwhile."""
        left = max(_PUSH, self._options.get("poll", _PUSH))
        while left > 0 and not self._off:
            await asyncio.sleep(min(left, _PUSH))
            left -= _PUSH
            self._transfers.look("outgoing")

    async def _ping(self, times: int) -> None:
        for _ in range(times):
            try:
                asked = time()
                answer = await getattr(self.worker.scheduler, f"{self.package}_clock")()
            except OSError:
                return
            if not answer:
                return
            self._offset.trip(asked, answer["time"], time())
            if answer["host"] == host():
                self._offset.same()
                if self._offset.estimate(time()) == (0.0, 0.0):
                    return

    async def _push(self) -> None:
        """Send everything, oldest first; what cannot be sent is kept for the next time."""
        async with self._sending:
            more = True
            while more and not self._off:
                lost = self._lost
                blob, keys, more = self._packed()
                self._sequence += 1
                self._unsent.append((self._sequence, blob, keys, lost))
                while len(self._unsent) > 1 and sum(len(blob) for _, blob, *_ in self._unsent) > _UNSENT:
                    *_, untold = self._unsent.popleft()
                    self._lost += 1 + untold
                if not await self._send():
                    return

    async def _send(self) -> bool:
        while self._unsent:
            sequence, blob, keys, _ = self._unsent[0]
            asked = time()
            try:
                answer = await getattr(self.worker.scheduler, f"{self.package}_push")(
                    worker=self.worker.address,
                    server=self.worker.id,
                    name=self.name,
                    sequence=sequence,
                    blob=to_serialize(blob),
                    keys=keys,
                )
            except OSError:
                return False
            if not isinstance(answer, dict) or "time" not in answer:
                self._refused += 1
                if self._refused >= _REFUSALS:
                    self._take_off()
                return False
            self._refused = 0
            self._offset.trip(asked, answer["time"], time())
            self._unsent.popleft()
            self._adjust(answer["options"])
        return True

    def _packed(self) -> tuple[bytes, list[Hashable], bool]:
        """One message, the keys it names, and whether there is more."""
        now = time()
        told, keys = self._executions.take(_KEYS)
        told["running_keys"] = len(keys) - len(told.get("errors", ()))
        transfers, carried = self._transfers.take()
        told |= transfers
        keys += carried
        if self._sampler is not None:
            told["profile"] = packed_profile(self._sampler.drain())
        rows, gpus = self._pulse.take()
        told["resources"] = packed_rows(rows)
        if gpus:
            told["gpus"] = gpus
        if collections := self._collections.take():
            told["collections"] = collections
        if metrics := [*self._metrics.take(), *self._actors.take()]:
            told["metrics"] = metrics
        if gauges := self._buffers.take():
            told["gauges"] = gauges
        if (earlier := self._earlier.take()) is not None:
            told["earlier"] = earlier
        if logs := self._logs.take():
            told["logs"] = logs
        if logged := self._logs.stretch:
            told["logged"] = logged
        self._gaps.add(*self._executions.gaps, *_out_of_sight(self.worker))
        if gaps := self._gaps.take():
            told["gaps"] = gaps
        if self._failures:
            told["failures"], self._failures = self._failures, {}
        if self._lost:
            told["lost_messages"], self._lost = self._lost, 0
        told |= losses(samples=self._sampler, resources=self._pulse, gauges=self._buffers, logs=self._logs)
        told["address"], told["process"] = self.worker.address, self._process
        told["cores"], told["core_set"] = self._cores
        offset, uncertainty = self._offset.estimate(now)
        told["clock"] = (now, offset, uncertainty, self.worker.scheduler_delay)
        return (
            msgpack.packb(told, default=str, unicode_errors="backslashreplace"),
            keys,
            bool(self._executions.errors),
        )

    def _adjust(self, options: dict[str, Any]) -> None:
        """Follow what the recorders ask for."""
        if options.get("joined") != self._options.get("joined", options.get("joined")):
            self._executions.tell_again()
            self._gaps.tell_again()
            self._buffers.tell_again()
            self._earlier.ask(self._logs.before)
        before, self._options = self._options, options
        sharing = max(1, len(_here))
        if (every := options.get("resources")) is not None:
            self._pulse.interval = max(every, min(every * sharing, _SHARED))
        if (level := options.get("logs")) is not None:
            if "logs" not in before:
                self._earlier.ask(self._logs.before)
            self._logs.ask(level)
        wanted = options.get("profile", False)
        interval, budget = options.get("profile_interval", 0.0), options.get("profile_budget", 0.0) / sharing
        if wanted and self._sampler is None:
            self._sample_stacks(interval, budget)
        elif wanted and self._sampler is not None:
            pace = self._sampler.pace
            pace.aim, pace.budget = interval, budget
        elif not wanted and self._sampler is not None:
            self._executions.ended = None
            self._stop_sampling()
        self._gaps.add(self._pulse.start(self._sampler))

    def _sample_stacks(self, interval: float, budget: float) -> None:
        base = "distributed/worker.py"
        made = partial(Sampler, self._threads, self._called, interval, budget, base=base, ends=True)
        # Where it does not run the next push tries again.
        self._sampler = started(self._gaps, made)
        if self._sampler is not None:
            self._executions.ended = self._sampler.ends.append

    def _stop_sampling(self) -> None:
        if self._sampler is not None:
            self._sampler.stop()
            self._sampler = None

    def _take_off(self) -> None:
        """Leave nothing of ours on the worker."""
        if self._off:
            return
        if self.worker.plugins.get(self.name) is self:
            asyncio.get_running_loop().call_soon(self.worker.plugins.pop, self.name, None)
        self._leave()

    def _leave(self) -> None:
        self._off = True
        vars(self).pop("transition", None)
        self._undo.close()

    def _shut(self) -> None:
        handlers = self.worker.handlers
        if getattr(handlers.get(f"{self.package}_flush"), "__self__", None) is self:
            del handlers[f"{self.package}_flush"]

    def _failed(self, where: str, error: Exception) -> None:
        count = self._failures.get(where, (0, ""))[0] + 1
        self._failures[where] = (count, f"{type(error).__name__}: {error}"[:500])


def _out_of_sight(worker: Any) -> Iterator[str]:
    """What is missing of tasks that a worker runs in other processes."""
    for name, executor in task_executors(worker):
        # So concurrent.futures and loky call what they have.
        if hasattr(executor, "_processes"):
            yield f"stacks and CPU time of tasks in the executor {name!r}: it runs them in other processes"
