"""The scheduler's side of the probe: hooks, and the calls that recorders and workers make."""

from __future__ import annotations

import asyncio
import threading
from array import array
from collections.abc import Hashable, Sequence
from functools import partial
from time import monotonic
from typing import Any

from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.metrics import time
from distributed.protocol import to_serialize

from .boot import unload
from .clock import host, process
from .cluster import about, in_turn, memory_rows, worker_facts
from .exits import Exits
from .farewell import PATIENCE, Farewell, topic
from .gauges import Gauges
from .journal import Journal, Labels
from .logs import LEVELS
from .own import Own
from .placing import Placing, asked, patience
from .readers import GAUGES, Reader, Stores, spans_of
from .stranded import Stranded
from .tasks import Tasks

#: Seconds between two looks at workers' memory and at readers that are gone.
_WATCH = 0.5
#: Least seconds between two messages about our own process.
_OWN = 1.0
#: Seconds without a recorder after which everything is taken off: who registered us never joined.
_UNCLAIMED = 30.0
#: Seconds after which a recorder that has left listens no more for whether we close: it says so another way,
#: mostly at once.
_UNHEARD = (1.0, 30.0)
#: Pushes of a worker for which the ids of tasks outlive them: the next one or two still name them.
_PUSHES = 3
#: Seconds for which numbering the tasks that are there holds the event loop at a time, and for which a
#: recorder waits for it before it begins: what is left comes later.
_HOLD, _NUMBERING = 0.005, 1.0
#: Seconds after which a worker that has joined must have told something if it has our plugin; and workers
#: that have left of which it is remembered what they told last.
_GREETED, _LEFT = 5.0, 1000
#: Rows a second of a whole cluster, of its workers' resources and of the stacks of their threads: a thousand
#: workers that were sampled as often as two would send 10 GB an hour. Messages a second of all its workers:
#: as many as Dask lets their heartbeats be.
_RESOURCES, _STACKS, _MESSAGES = 500, 5000, 200
#: Workers that are named where they are many.
_NAMED = 5
_CALLS = ("join", "adjust", "poll", "push", "clock", "flush", "leave")


class Probe(SchedulerPlugin):
    """Collects on the scheduler while at least one recorder reads.

    Parameters
    ----------
    package
        Name of the shipped package; it is the version of the probe.
    worker_plugin
        The pickled plugin for workers.
    worker_name
        Its name, which no other registration has.
    bound
        Most rows of a table that are kept until they are fetched.
    """

    idempotent = True

    def __init__(self, package: str, worker_plugin: bytes, worker_name: str, bound: int) -> None:
        self.name = package
        self._worker_plugin = worker_plugin
        self._worker_name = worker_name
        self._bound = bound
        self._readers: dict[str, Reader] = {}
        self._watching: asyncio.Task[None] | None = None
        self._placed: asyncio.Task[None] | None = None
        self._going: asyncio.Task[None] | None = None
        self._numbering: asyncio.Task[None] | None = None
        #: Whether what was there before anybody looked has been numbered; the hooks number what comes.
        self._numbered = False
        self._own: Own | None = None
        self._told_own = 0.0
        self._turn = 0
        #: Number of the last message of each worker, by its id; since when those are there that sent none.
        self._heard: dict[str, int] = {}
        #: How many times less often than asked for workers were sampled when that was told last.
        self._slower = 1.0
        self._unheard: dict[str, float] = {}
        self._joined = 0
        self._leaving: set[asyncio.Task[bool]] = set()
        self._farewell: Farewell | None = None

    async def start(self, scheduler: Any) -> None:
        """Open our calls on the scheduler; nothing is collected before somebody joins."""
        self.scheduler = scheduler
        self.tasks = Tasks(scheduler, self._bound, self._failed)
        self.stores = Stores(self.tasks, self._bound)
        self.labels = Labels()
        self.journal = Journal(self.stores.events, self.tasks, self.labels)
        self._gauges = Gauges(lambda why: self.journal.event("info", "lost", why, source="recorder"))
        self._stranded = Stranded(scheduler, self.journal.event)
        self._placing = Placing(scheduler, self._worker_plugin, self._worker_name, self._unrecorded)
        lost = partial(self.journal.event, "info", "lost", source="recorder")
        self._exits = Exits(scheduler, self.labels.last, self.stores.events.add, lost)
        for address in scheduler.workers:
            self._worker_there(address)
        for name in _CALLS:
            scheduler.handlers[f"{self.name}_{name}"] = getattr(self, name)
        self._claimed = monotonic()
        self._watching = asyncio.create_task(self._watch())

    # What recorders call

    async def join(self, *, recorder: str, client: str, options: dict[str, Any]) -> dict[str, Any]:
        """Begin to collect for a recorder; answers what it must know of the cluster."""
        since, under_way = time(), any(each.processing for each in self.scheduler.workers.values())
        reader = self._readers[recorder] = Reader(client, options)
        self._joined += 1
        self._slower = 1.0  # It is to be told of that, too.
        vars(self)["transition"] = self.tasks.transition
        self._begin(reader)
        if self._numbering is not None and not self._numbering.done():
            # What is numbered meanwhile is told to all: it is not to be told to this one again.
            await asyncio.wait([self._numbering])
            self._begin(reader)
        self._tell_paused()
        if not self._numbered:
            self._numbering = asyncio.create_task(self._number())
        if self._own is None:
            self._own = Own(f"{self.name}-scheduler", asyncio.get_running_loop(), self.scheduler)
        self._adjust_own()
        if self._placed is None:
            self._placed = asyncio.create_task(self._placing.place())
        problem = ""
        if self._numbering is not None:
            await asyncio.wait([self._numbering], timeout=_NUMBERING)
        try:
            await asyncio.shield(self._placed)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        self._placing.tell_waiting()
        workers = [self._worker_row(address) for address in list(self.scheduler.workers)]
        return {
            "about": about(self.scheduler),
            "workers": workers,
            "problem": problem,
            "host": host(),
            # From when on it is told of everything, and whether tasks were under way then.
            "since": since,
            "under_way": under_way,
            # A recorder in this very process samples our thread with its own.
            "thread": threading.get_ident() if options.get("process") == process() else 0,
        }

    def adjust(self, *, recorder: str, options: dict[str, Any]) -> None:
        """A recorder asks for other rates; workers hear of it when they push."""
        if (reader := self._readers.get(recorder)) is not None:
            reader.options = options
            self._tell_own()

    def _begin(self, reader: Reader) -> None:
        """Have a reader begin here: tasks that have a number by now are told again."""
        self.tasks.settle()
        reader.backlog, reader.below = self.tasks.graph.again()
        reader.at = self.stores.start()
        self._gauges.tell_again()
        if self._own is not None:
            self._own.tell_again()
        self.tasks.graph.leaves_out.tell_again()

    def _tell_paused(self) -> None:
        """Tell which workers are paused: what came before is not known to who begins here."""
        for address, state in self.scheduler.workers.items():
            if state.status.name == "paused":
                self.journal.event("warning", "worker-status", "→ paused", source=self.labels.last(address))

    async def _number(self) -> None:
        """Number the tasks that were there before anybody looked; the scheduler goes on meanwhile."""
        until = monotonic() + _HOLD
        try:
            for _ in self.tasks.there():
                if monotonic() > until:
                    await asyncio.sleep(0)
                    until = monotonic() + _HOLD
            self._numbered = True
        except Exception as error:
            self._failed("graph", error)

    def _samples_us(self, reader: Reader) -> bool:
        """Whether a recorder needs our sampler: it wants stacks and is not in this process."""
        return bool(reader.options["profile"]) and reader.options.get("process") != process()

    def _adjust_own(self) -> None:
        """Sample our own process as the recorders that are there need it."""
        readers = self._readers.values()
        if self._own is not None and readers:
            self._own.adjust(
                self._strongest(),
                profile=any(map(self._samples_us, readers)),
                seen=all(each.options.get("process") == process() for each in readers),
            )

    def _unrecorded(self, why: str, addresses: Sequence[str]) -> None:
        """Tell of workers that are there and of which nothing comes."""
        self._missing(why, [self.labels.last(each) for each in addresses if each in self.scheduler.workers])

    def _missing(self, why: str, labels: Sequence[str]) -> None:
        if labels:
            share = f"{len(labels)} of {len(self.scheduler.workers)} workers"
            message = f"{share} {why}, what they do is missing: {_named(labels)}"
            self.journal.event("warning", "lost", message, source="recorder")

    def poll(self, *, recorder: str, at: dict[str, int] | None, rate: float) -> dict[str, Any]:
        """What a recorder does not have yet.

        Parameters
        ----------
        at
            The position that the last answer gave.
        rate
            Bytes a second that come to it.
        """
        reader = self._readers.get(recorder)
        if reader is None:
            return {"unknown": True}
        reader.heard = monotonic()
        if at:
            reader.received(at)
        if reader.heard - self._told_own >= _OWN:
            self._tell_own()
        self.tasks.settle()
        self.tasks.graph.flush()
        self.stores.release(list(self._readers.values()))
        if all(each.caught_up for each in self._readers.values()):
            self.tasks.graph.all_told()
        packed, blobs, position, more = self.stores.read(reader, rate)
        answer = {
            "packed": to_serialize(packed),
            "blobs": blobs,
            # The scheduler remembers all that it ever had.
            "spans": spans_of(self.scheduler, reader.groups),
            "at": position,
            "more": more,
            "time": time(),
            # Graphs that it has been sent and is making, where this version of Dask counts them.
            "making": getattr(self.scheduler, "_active_graph_updates", 0),
        }
        if self._farewell is not None:
            self._farewell.asked()
            # It asks once more, so that it is known to have received this.
            answer |= {"ended": not more, "more": position != reader.at}
            if not answer["more"]:
                self._farewell.without(recorder)
        return answer

    async def flush(self, *, timeout: float) -> None:
        """Have every worker push what it has; those that do not are named."""
        calls = {address: asyncio.ensure_future(self._flushed(address)) for address in self.scheduler.workers}
        numbering = [] if self._numbering is None else [self._numbering]
        if waited := [*calls.values(), *numbering, *self._exits.last()]:
            await asyncio.wait(waited, timeout=timeout)
        silent = [
            self.labels.last(address)
            for address, call in calls.items()
            if address in self.scheduler.workers and not (call.done() and call.result())
        ]
        for call in calls.values():
            call.cancel()
        if silent:
            text = (
                f"no answer to the last call for data from {len(silent)} of {len(calls)} workers, what they"
            )
            self.journal.event("warning", "lost", f"{text} did at the end is missing: {_named(silent)}")
        since = monotonic() - _GREETED
        never = [label for label, joined in self._unheard.items() if joined < since and label not in silent]
        self._missing("have sent nothing since they joined", never)
        try:
            self._look()
            self._tell_own()
        except Exception as error:
            self._failed("flush", error)

    async def _flushed(self, address: str) -> bool:
        """Have one worker push; whether it has."""
        answer = await asked(self.scheduler, {"op": f"{self.name}_flush"}, address)
        return not isinstance(answer, Exception)

    async def leave(self, *, recorder: str) -> bool:
        """End for a recorder; when nobody else records, everything of ours is taken off."""
        self._readers.pop(recorder, None)
        # Dask keeps every topic for which there was a listener.
        topics = getattr(getattr(self.scheduler, "_broker", None), "_topics", {})
        for seconds in _UNHEARD:
            asyncio.get_running_loop().call_later(seconds, topics.pop, topic(self.name, recorder), None)
        if self._farewell is not None:
            self._farewell.without(recorder)
        if self._readers:
            self._tell_own()
        else:
            await self._take_off()
        return True

    async def _take_off(self) -> None:
        """Leave nothing of ours, once: a recorder may leave just when its client is found to be gone."""
        if self._going is None:
            self._going = asyncio.create_task(self._go())
        await asyncio.shield(self._going)

    async def _go(self) -> None:
        """Take everything off; a new probe may be started meanwhile, and keeps what is its own."""
        if self.scheduler.plugins.get(self.name) is self:
            del self.scheduler.plugins[self.name]
        self._shut("join", "adjust", "poll", "flush", "leave")
        self._exits.stop()
        if self._own is not None:
            self._own.stop()
        if self._numbering is not None:
            self._numbering.cancel()
        if self._placed is not None:
            await asyncio.wait([self._placed], timeout=patience(len(self.scheduler.workers)))
            await self._placing.withdraw()
        self._shut("push", "clock")
        unload(self.name, self)
        if self._watching is not None:
            self._watching.cancel()

    def _shut(self, *names: str) -> None:
        handlers = self.scheduler.handlers
        for name in names:
            if getattr(handlers.get(f"{self.name}_{name}"), "__self__", None) is self:
                del handlers[f"{self.name}_{name}"]

    # What workers call

    def push(
        self, *, worker: str, server: str, name: str, sequence: int, blob: Any, keys: list[Hashable]
    ) -> dict[str, Any] | None:
        """Keep a worker's message for the recorders; None tells the worker that nobody listens."""
        if name != self._worker_name or not self._readers:
            return None
        if sequence > self._heard.get(server, 0):
            self._heard[server] = sequence
            self.tasks.settle()
            ids = array("I", map(self.tasks.graph.id, keys))
            size = sum(map(len, blob.frames)) if hasattr(blob, "frames") else len(blob.data)
            label = self.labels.of_server(server, worker)
            self._unheard.pop(label, None)
            self.stores.blobs.add((label, ids.tobytes(), blob), size + 4 * len(ids))
        return {"time": time(), "options": self._of_each(self._strongest())}

    def clock(self) -> dict[str, Any]:
        """The scheduler's time, and what processes on its host share."""
        return {"time": time(), "host": host()}

    def _strongest(self) -> dict[str, Any]:
        asked = [reader.options for reader in self._readers.values()]
        profiling = [options for options in asked if options["profile"]]
        return {
            "profile": bool(profiling),
            "profile_interval": min(options["profile_interval"] for options in profiling or asked),
            "profile_budget": max(options["profile_budget"] for options in profiling or asked),
            "resources": min(options["resources"] for options in asked),
            "poll": min(options["poll"] for options in asked),
            "logs": min((options["logs"] for options in asked), key=LEVELS.__getitem__),
            "joined": self._joined,
        }

    def _of_each(self, options: dict[str, Any]) -> dict[str, Any]:
        """What each worker is asked for: the more there are, the less often it is sampled, and pushes."""
        return options | {
            "profile_interval": max(options["profile_interval"], self.scheduler.total_nthreads / _STACKS),
            "resources": max(options["resources"], len(self.scheduler.workers) / _RESOURCES),
            "poll": max(options["poll"], len(self.scheduler.workers) / _MESSAGES),
        }

    # What the scheduler calls

    def update_graph(self, scheduler: Any, *, client: str, keys: Any, tasks: Any = (), **facts: Any) -> None:
        try:
            self.tasks.submitted(client, keys, len(tasks), facts.get("priority") or {})
        except Exception as error:
            self._failed("update_graph", error)

    def add_worker(self, scheduler: Any, worker: str) -> None:
        try:
            label = self._worker_there(worker)
            self._unheard[label] = monotonic()
            self.stores.workers.add(self._worker_row(worker))
            self.journal.event("info", "worker-added", f"{label} joined", source=label)
        except Exception as error:
            self._failed("add_worker", error)

    def remove_worker(self, scheduler: Any, worker: str, *, stimulus_id: str = "", **facts: Any) -> None:
        try:
            label = self.labels.last(worker)
            self._unheard.pop(label, None)
            self._gauges.left(self.tasks.codes.get(worker, 0))
            self.stores.workers.add({"worker": label, "left": time()})
            self.journal.event("info", "worker-removed", f"{label} left", source=label)
        except Exception as error:
            self._failed("remove_worker", error)

    def restart(self, scheduler: Any) -> None:
        try:
            self.tasks.clear()
            self.journal.event("warning", "restart", "the cluster was restarted: all tasks were forgotten")
        except Exception as error:
            self._failed("restart", error)

    def remove_client(self, scheduler: Any, client: str) -> None:
        for recorder, reader in list(self._readers.items()):
            if reader.client == client:
                task = asyncio.create_task(self.leave(recorder=recorder))
                self._leaving.add(task)
                task.add_done_callback(self._leaving.discard)

    def log_event(self, topic: str, msg: Any) -> None:
        try:
            if self._farewell is None:
                self.journal.logged(topic, msg, self.scheduler.clients)
                self._exits.logged(topic, msg)
        except Exception as error:
            self._failed("log_event", error)

    async def before_close(self) -> None:
        """The scheduler closes: recorders fetch what they do not have yet, without a pause."""
        there = {name for name, reader in self._readers.items() if reader.client in self.scheduler.clients}
        if there:
            try:
                await self.flush(timeout=PATIENCE)
                # Some have left meanwhile.
                self._farewell = Farewell(there & self._readers.keys())
                self.scheduler.log_event([topic(self.name, recorder) for recorder in there], {})
                await self._farewell.over()
            except Exception as error:
                self._failed("before_close", error)

    async def close(self) -> None:
        self._exits.stop()
        if self._own is not None:
            self._own.stop()
        for task in (self._watching, self._numbering):
            if task is not None:
                task.cancel()
        unload(self.name, self)

    # Ourselves

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_WATCH)
            try:
                pushes = self._of_each(self._strongest())["poll"] if self._readers else 0.0
                self.tasks.forget(20_000, _PUSHES * max(1.0, pushes))
                for recorder, reader in list(self._readers.items()):
                    if reader.gone():
                        await self.leave(recorder=recorder)
                if self._readers:
                    self._claimed = monotonic()
                elif monotonic() - self._claimed > _UNCLAIMED:
                    await self._take_off()
                if self.scheduler.plugins.get(self.name) is not self:
                    return
                self._forget()
                self._tell_rates()
                self._tell_lacking()
                self._look()
                self._stranded.look()
            except Exception as error:
                self._failed("watch", error)

    def _forget(self) -> None:
        """Of most workers that have left nothing need be remembered: adaptive clusters have ever more."""
        workers = self.scheduler.workers
        if len(self._heard) > len(workers) + _LEFT:
            there = {state.server_id for state in workers.values()}
            self._heard = {server: last for server, last in self._heard.items() if server in there}

    def _tell_rates(self) -> None:
        """Tell that workers are sampled less often than asked for, and again whenever that has doubled."""
        if not self._readers:
            return
        wanted = self._strongest()
        kept = self._of_each(wanted)
        rates = {"resources": "resources"} | ({"profile_interval": "call stacks"} if kept["profile"] else {})
        slower = max(kept[rate] / wanted[rate] for rate in rates)
        if slower >= 2 * self._slower:
            self._slower = slower
            workers, threads = len(self.scheduler.workers), self.scheduler.total_nthreads
            every = " and ".join(f"{what} every {kept[rate]:.2g} s" for rate, what in rates.items())
            of_all = f"{workers:,} workers with {threads:,} threads"
            message = f"to bound what {of_all} send, each samples {every} at most"
            self.journal.event("info", "sampling", message, source="recorder")

    def _tell_lacking(self) -> None:
        """Tell what of graphs is left out: all hear of it again when another recorder has joined."""
        if self._readers:
            for what in self.tasks.graph.leaves_out.take():
                self.journal.event("info", "lost", what, source="recorder")

    def _look(self) -> None:
        self._turn += 1
        workers, codes, stores = in_turn(self.scheduler, self._turn), self.tasks.codes, self.stores
        for row in memory_rows(workers, codes):
            stores.memory.add(*row)
        for worker, when, name, value in self._gauges.look(workers, codes):
            if code := stores.gauge_names.code(name):
                stores.gauges.add(worker, code, when, value)
            elif name:
                self._gauges.left_out(f"of all workers together those of {GAUGES:,} names")

    def _tell_own(self) -> None:
        if self._own is not None:
            self._told_own = monotonic()
            message = self._own.message()
            self.stores.blobs.add(("scheduler", b"", to_serialize(message)), len(message))
            # What could not begin is tried again.
            self._adjust_own()

    def _worker_there(self, address: str) -> str:
        label = self.labels.of(address, self.scheduler.workers[address].server_id)
        self.tasks.worker(address, label)
        self._exits.there(address, self.scheduler.workers[address])
        return label

    def _worker_row(self, address: str) -> dict[str, Any]:
        state = self.scheduler.workers[address]
        return {"worker": self.labels.of(address, state.server_id)} | worker_facts(self.scheduler, state)

    def _failed(self, where: str, error: Exception) -> None:
        self.journal.failed(where, error)


def _named(labels: Sequence[str]) -> str:
    """Names of workers, the first of them where they are many."""
    return ", ".join(labels[:_NAMED]) + (", …" if len(labels) > _NAMED else "")
