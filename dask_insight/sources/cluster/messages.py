"""Turns what workers, and the scheduler's own process, push into batches of the recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import msgpack
import numpy as np
import numpy.typing as npt

from ...batch import encode
from ...identity import Identity
from ...options import Emit
from ...probe import executions, secede, transfers
from ...probe.logs import below
from ...schema import NOTHING, SECEDED
from ..dynamic import shown_traceback
from ..garbage import collected
from ..losses import detail, gap_words, losses_sent
from ..sourceless import log_without_source
from ..task_names import task_name
from .attempts import Attempts
from .clocks import Clock, Clocks
from .gather import Gather
from .layouts import idents, packed_dtype, pick
from .peers import Peers
from .profiles import profile
from .spans import Spans
from .unended import Unended

#: Runs that are remembered lest their error is told twice.
_MOST = 1_000_000
#: Log records from before the recording, of all processes together.
_EARLIER = 2000
_EXECUTIONS = packed_dtype(executions.LAYOUT)
_RUNNING = packed_dtype(executions.RUNNING)
_SECEDED = packed_dtype(secede.LAYOUT)
_TRANSFERS = packed_dtype(transfers.LAYOUT)


class Messages:
    """One scheduler's workers' share of a recording."""

    def __init__(
        self,
        identity: Identity,
        emit: Emit,
        gather: Gather,
        clocks: Clocks,
        attempts: Attempts,
        spans: Spans,
        unended: Unended,
        known: Callable[[str, int, int, int], None],
    ) -> None:
        self._identity = identity
        self._emit = emit
        self._gather = gather
        self._tasks = attempts.tasks
        self._runs = attempts.runs
        self._clocks = clocks
        self._attempts = attempts
        self._spans = spans
        self._unended = unended
        self._known = known
        self._transfers = identity.namespace("transfer")
        self._transferred = 0
        #: What workers told of attempts since the last `settle`: worker, how far its clock was ahead, rows,
        #: and their CPU seconds.
        self._ended: list[tuple[str, float, npt.NDArray[Any], npt.NDArray[np.float64]]] = []
        self.peers = Peers()
        #: The process whose stacks this one samples itself: others may have it sampled for them as well.
        self.sampled_here = ""
        #: Whether the recording has stacks at all, which others may have sampled, and source code.
        self.profile = self.source = True
        #: The least level of the log that is wanted; others may ask for more.
        self.logs = "warning"
        #: Until when what a process logs is in the recording, on its own clock, by what tells it from all
        #: others; and from when until when it was not before it was heard of here the last time.
        self._logged: dict[int, float] = {}
        self._unheard: dict[int, tuple[float, float]] = {}
        #: The last record from before of each scheduler and worker, which tell of it again when another
        #: recorder joins, and how many there were.
        self._told_earlier: dict[str, float] = {}
        self._earlier = 0
        #: Runs whose error is in the recording already: the scheduler tells of the last attempt's too.
        self.erred: set[int] = set()

    def take(self, process: str, packed_ids: bytes, blob: bytes) -> None:
        """Emit everything in one message, or keep it for others of the same answer; see `settle`.

        Parameters
        ----------
        process
            Label of the worker, or 'scheduler'.
        packed_ids
            The scheduler's ids of the tasks that the message names, u32.
        blob
            What the worker packed.
        """
        told = msgpack.unpackb(blob, use_list=False, strict_map_key=False)
        clock, ids = self._clocks.of(process), np.frombuffer(packed_ids, "<u4")
        if "address" in told:
            self.peers.calls_itself(process, told["address"])
        if "cores" in told:
            self._known(process, told["cores"], told["core_set"], told["process"])
        if "clock" in told:
            self._clock(process, clock, told)
        if "executions" in told:
            found = np.frombuffer(told["executions"], _EXECUTIONS)
            self._unended.over(found["run"])
            self._ended.append((process, clock.offset, found, _cpu(found, told.get("totals", (0.0,)))))
        if "seceded" in told:
            self._seceded(clock, np.frombuffer(told["seceded"], _SECEDED))
        if "phases" in told:
            self._phases(clock, told["phases"])
        count = told.get("running_keys", 0)
        if "running" in told:
            self._running(process, clock, np.frombuffer(told["running"], _RUNNING), ids[:count])
        errors = told.get("errors", ())
        if errors:
            self.errors(
                [
                    (run, task, *texts)
                    for (run, *texts), task in zip(errors, ids[count:].tolist(), strict=False)
                ]
            )
        if "transfers" in told:
            self._transfer(process, clock, told, ids[count + len(errors) :])
        if told.get("resources"):
            self._resources(process, clock, told["resources"])
        if "gpus" in told:
            self._gpus(process, clock, told["gpus"])
        if "collections" in told:
            self._gather.add("collections", collected(process, told["collections"], clock.offset, self._runs))
        if self.profile and "profile" in told and process != self.sampled_here:
            profile(process, told["profile"], clock.offset, self._identity.stacks, self._runs, self._gather)
        if "metrics" in told:
            self._metrics(process, told)
        if "gauges" in told:
            when, name, value = zip(*told["gauges"], strict=True)
            gauges = {"worker": [process] * len(name), "time": clock.here(when), "name": name, "value": value}
            self._gather.add("gauges", gauges)
        self._events(process, clock, told)

    def errors(self, found: Sequence[tuple[Any, ...]]) -> None:
        """Emit exceptions that are new: run, task, exception, traceback."""
        # Of those that were never given to a worker only the task is known.
        new = [row for row in found if row[0] == NOTHING or row[0] not in self.erred]
        if not new:
            return
        if len(self.erred) > _MOST:
            self.erred.clear()
        self.erred.update(row[0] for row in new)
        run, task, exception, traceback = zip(*new, strict=True)
        columns: dict[str, Any] = {"run": self._runs.map(run), "task": self._tasks.map(task)}
        shown = [shown_traceback(each, self.source) for each in traceback]
        columns |= {"exception": exception, "traceback": shown}
        self._emit(encode("errors", columns))

    def _clock(self, process: str, clock: Clock, told: dict[str, Any]) -> None:
        now, offset, uncertainty, applied = told["clock"]
        if np.isfinite(uncertainty):
            clock.offset, clock.uncertainty = offset, uncertainty
        for since, delay in told.get("delays", ()):
            clock.corrected(since, delay)
        seconds = {"offset": offset, "uncertainty": uncertainty, "applied": applied}
        row = {name: _to_the_microsecond(np.array([each])) for name, each in seconds.items()}
        self._gather.add("clocks", {"worker": [process], "time": [now - clock.offset]} | row)

    def settle(self) -> None:
        """Emit what the messages of an answer tell of attempts and transfers, one batch a table.

        Also which run: before the scheduler's rows of their end, for a history drops what is older first.
        """
        ended, self._ended = self._ended, []
        if ended:
            self._executions(*zip(*ended, strict=True))
        self._gather.flush("transfers", "transferred", "running")

    def _executions(
        self,
        workers: Sequence[str],
        offsets: Sequence[float],
        parts: Sequence[npt.NDArray[Any]],
        seconds: Sequence[npt.NDArray[np.float64]],
    ) -> None:
        found, cpu = np.concatenate(parts), np.concatenate(seconds)
        codes = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        ahead = np.array(offsets)[codes]
        now = float((found["ended"] - ahead).max())
        told = self._attempts.told(workers, codes, found["run"], found["delay"], now)
        columns: dict[str, Any] = {
            "run": self._runs.map(found["run"]),
            "worker": pick(codes, workers),
            "thread": idents(found["thread"]),
            "status": pick(found["status"], executions.STATUSES),
            "cpu": np.where(cpu > 0, _to_the_microsecond(cpu), np.nan),
            "rss": found["rss"],
        }
        for name in ("ended", "stop", "start", "executing", "ready", "received"):
            columns[name] = found[name] - ahead
        for name, better in told.items():
            columns[name] = np.where(np.isfinite(better), better, columns[name])
        self._emit(encode("executions", columns))

    def _phases(self, clock: Clock, found: Sequence[tuple[int, str, float, float]]) -> None:
        run, action, *times = zip(*found, strict=True)
        start, stop = np.array(times)
        unshifted = [each in executions.UNSHIFTED for each in action]
        shift = np.where(unshifted, 0.0, clock.delay_at(stop))
        columns: dict[str, Any] = {"run": self._runs.map(run), "action": action}
        columns |= {"start": clock.here(start - shift), "stop": clock.here(stop - shift)}
        self._gather.add("phases", columns)

    def _seceded(self, clock: Clock, found: npt.NDArray[Any]) -> None:
        columns = {
            "run": self._runs.map(found["run"]),
            "action": [SECEDED] * len(found),
            "start": clock.here(found["start"]),
            "stop": clock.here(found["stop"]),
        }
        self._gather.add("phases", columns)

    def _running(self, process: str, clock: Clock, found: npt.NDArray[Any], ids: npt.NDArray[Any]) -> None:
        new = self._unended.are_new(found["run"])
        found, ids = found[new], ids[new]
        start = clock.here(found["start"])
        threads = [str(ident) if ident else "" for ident in found["thread"].tolist()]
        columns = {
            "run": self._runs.map(found["run"]),
            "task": self._tasks.map(ids),
            "worker": [process] * len(found),
            "thread": threads,
            "start": start,
        }
        self._gather.add("running", columns)
        self._unended.begun(process, found["run"], ids, threads, start)

    def _transfer(self, process: str, clock: Clock, told: dict[str, Any], ids: npt.NDArray[Any]) -> None:
        found = np.frombuffer(told["transfers"], _TRANSFERS)
        numbers = self._transfers.map(np.arange(self._transferred, self._transferred + len(found)))
        self._transferred += len(found)
        start = clock.here(found["start"])
        columns: dict[str, Any] = {
            "transfer": numbers,
            "worker": [process] * len(found),
            "peer": self.peers.named(found["peer"], told["peers"], start).tolist(),
            "direction": pick(found["incoming"], ("out", "in")).tolist(),
            "start": start,
            "stop": clock.here(found["stop"]),
            "nbytes": found["nbytes"],
            "compressed": found["compressed"],
        }
        self._gather.add("transfers", columns)
        carried = {
            "transfer": np.repeat(numbers, found["keys"])[: len(ids)],
            "task": self._tasks.map(ids),
            "nbytes": np.frombuffer(told["carried"], "<f8")[: len(ids)],
        }
        self._gather.add("transferred", carried)

    def _resources(self, process: str, clock: Clock, packed: dict[str, bytes]) -> None:
        columns: dict[str, Any] = {name: np.frombuffer(data, "<f8") for name, data in packed.items()}
        columns["time"] = clock.here(columns["time"])
        self._gather.add("resources", columns | {"process": [process] * len(columns["time"])})

    def _gpus(self, process: str, clock: Clock, rows: Sequence[dict[str, Any]]) -> None:
        columns: dict[str, Any] = {name: [row[name] for row in rows] for name in rows[0]}
        columns["time"] = clock.here(columns["time"])
        self._gather.add("gpus", columns | {"process": [process] * len(rows)})

    def _metrics(self, process: str, told: dict[str, Any]) -> None:
        names = ("context", "span", "prefix", "activity", "unit", "value")
        columns: dict[str, Any] = dict(zip(names, zip(*told["metrics"], strict=True), strict=True))
        columns["prefix"] = list(map(task_name, columns["prefix"]))
        rows = len(told["metrics"])
        self._spans.used(columns["span"])
        now = told["clock"][0] - self._clocks.of(process).offset
        self._gather.add("metrics", columns | {"time": [now] * rows, "worker": [process] * rows})

    def _events(self, process: str, clock: Clock, told: dict[str, Any]) -> None:
        now = told["clock"][0] if "clock" in told else told["now"]
        kept, unwanted = str if self.source else log_without_source, below(self.logs)
        logs = [("log-before", row) for row in self._new_of_before(process, told)]
        logs += [("log", row) for row in told.get("logs", ())]
        found = [(row[0], kind, row[1], kept(row[2])) for kind, row in logs if row[1] not in unwanted]
        found += [(now, "gap", "info", text) for text in gap_words(told.get("gaps", ()))]
        for where, (count, text) in told.get("failures", {}).items():
            found.append((now, "lost", "error", f"the recorder failed in {where}, {count} times: {text}"))
        lost = [*losses_sent(told)]
        found += [(now, "lost", "warning", str(loss)) for loss in lost]
        if found:
            when, kind, level, message = zip(*found, strict=True)
            columns = {"time": clock.here(when), "kind": kind, "level": level, "message": message}
            details = [""] * (len(found) - len(lost)) + [detail(loss) for loss in lost]
            self._gather.add("events", columns | {"source": [process] * len(found), "detail": details})

    def goes_on(self, logged: dict[int, float]) -> None:
        """Others have listened until then, by process on its own clock; kept up for those who will."""
        self._logged = logged

    def _new_of_before(self, process: str, told: dict[str, Any]) -> Sequence[tuple[float, str, str]]:
        """What a process logged before anybody listened, and did not tell us yet."""
        one = told.get("process", 0)
        if "logged" in told:
            begun, ended = told["logged"]
            heard = self._logged.get(one, -inf)
            # A container that begins again has the same process, as far as can be told.
            if one not in self._unheard or begun > heard:
                self._unheard[one] = heard, begun
            self._logged[one] = ended
        if "earlier" not in told:
            return ()
        # It may tell it to somebody else, who joined before us or after: that is too little, or too much.
        since, until = self._unheard.get(one, (self._logged.get(one, -inf), inf))
        since = max(since, self._told_earlier.get(process, -inf))
        found = [row for row in told["earlier"] if since < row[0] < until]
        found = found[max(0, len(found) - _EARLIER + self._earlier) :]
        if found:
            self._told_earlier[process] = max(when for when, *_ in found)
            self._earlier += len(found)
        return found


def _to_the_microsecond(seconds: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Noise below it would only be stored."""
    return np.rint(seconds * 2**20) / 2**20


def _cpu(found: npt.NDArray[Any], totals: Sequence[float]) -> npt.NDArray[np.float64]:
    """CPU seconds of attempts: by so much the total of its kind had grown when the next one ended, or by now.

    NaN of those that count to none, whose code is 0.
    """
    order = np.argsort(found["total"], kind="stable")
    code, before = found["total"][order], found["before"][order]
    after = np.array(totals, "f8")[code]
    follows = code[:-1] == code[1:]
    after[:-1][follows] = before[1:][follows]
    seconds = np.empty(len(found))
    seconds[order] = np.where(code > 0, after - before, np.nan)
    return seconds
