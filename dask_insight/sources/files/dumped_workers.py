"""What a cluster dump tells of its workers: what they are, had, sent each other, and wrote to their logs."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from ...batch import encode
from .tasks import Tasks
from .told import listed, mapping, number
from .told import whole as count

_NAN = math.nan
_MEMORY = ("process", "managed", "unmanaged_old", "unmanaged_recent", "spilled", "optimistic")


class DumpedWorkers:
    """Workers of one dump after another; the workers themselves go to `tasks`.

    Attributes
    ----------
    batches
        Tables `memory`, `resources`, `transfers` and `events`.
    measured
        When they were measured, seconds since the epoch.
    silent
        Who did not tell its state, in words.
    """

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self.batches: list[bytes] = []
        self.measured: list[float] = []
        self.silent: list[str] = []
        # What each dump tells again, as long as its logs hold it.
        self._transfers: set[tuple[Any, ...]] = set()
        self._lines: Counter[tuple[str, str, str]] = Counter()

    def take(self, known: Mapping[str, Mapping[str, Any]], workers: Mapping[str, Any]) -> None:
        """Take what the scheduler knows of them, and what they told of themselves, by address."""
        memory: dict[str, list[Any]] = defaultdict(list)
        resources: dict[str, list[Any]] = defaultdict(list)
        for address in dict.fromkeys((*known, *workers)):
            told = known.get(address, {})
            own = workers.get(address)
            if not isinstance(own, dict):
                why = f": {str(own)[:200]}" if own else ""
                self.silent.append(f"{address} did not tell its state{why}")
                own = {}
            limit = number(told.get("memory_limit", own.get("memory_limit")))
            self._tasks.workers[address] = {
                "name": str(told.get("name", own.get("name", address))),
                "host": str(told.get("host") or ""),
                "pid": count(told.get("pid")),
                "threads": count(told.get("nthreads", own.get("nthreads"))),
                "memory_limit": limit if limit > 0 else _NAN,
                "joined": _NAN,
                "detail": json.dumps({"status": str(told.get("status"))}),
            }
            metrics, measured = mapping(told.get("metrics")), mapping(told.get("memory"))
            moment = number(metrics.get("time"), number(told.get("last_seen")))
            if math.isnan(moment):
                continue
            self.measured.append(moment)
            if measured:
                memory["worker"].append(address)
                memory["time"].append(moment)
                for name in _MEMORY:
                    memory[name].append(number(measured.get(name)))
            if metrics:
                for name, value in _sample(address, moment, metrics).items():
                    resources[name].append(value)
        # Sums over workers need one moment, and it lasts until the dump is made.
        if memory:
            memory["time"] = [min(memory["time"])] * len(memory["time"])
        for table, columns in (("memory", memory), ("resources", resources)):
            if columns:
                self.batches.append(encode(table, columns))
        for address, told in workers.items():
            if isinstance(told, dict):
                self._take_transfers(address, told)
                self._take_logs(address, told)

    def _take_transfers(self, worker: str, told: Mapping[str, Any]) -> None:
        rows: dict[str, list[Any]] = defaultdict(list)
        for direction, log in (("in", "transfer_incoming_log"), ("out", "transfer_outgoing_log")):
            for each in listed(told.get(log)):
                if not isinstance(each, dict) or not number(each.get("start")) <= number(each.get("stop")):
                    continue
                place = (worker, direction, str(each.get("who")), each["start"], each["stop"])
                if place in self._transfers:
                    continue
                row = {
                    "transfer": len(self._transfers),
                    "worker": worker,
                    "peer": str(each.get("who") or ""),
                    "direction": direction,
                    "start": number(each["start"]),
                    "stop": number(each["stop"]),
                    "nbytes": number(each.get("total")),
                    "compressed": number(each.get("compressed")),
                }
                self._transfers.add(place)
                for name, value in row.items():
                    rows[name].append(value)
        if rows:
            self.batches.append(encode("transfers", rows))

    def _take_logs(self, worker: str, told: Mapping[str, Any]) -> None:
        here: Counter[tuple[str, str, str]] = Counter()
        lines = []
        for each in listed(told.get("logs")):
            if isinstance(each, list) and len(each) >= 2:
                line = (worker, str(each[0]).lower(), str(each[-1]))
                here[line] += 1
                if here[line] > self._lines[line]:
                    lines.append(line)
        self._lines |= here
        if lines:
            _, level, message = map(list, zip(*lines, strict=True))
            columns = {"level": level, "message": message, "source": [worker] * len(lines)}
            columns |= {"kind": ["log"] * len(lines), "time": [_NAN] * len(lines)}
            self.batches.append(encode("events", columns))


def _sample(worker: str, moment: float, metrics: Mapping[str, Any]) -> dict[str, Any]:
    network, disk = mapping(metrics.get("host_net_io")), mapping(metrics.get("host_disk_io"))
    counts: Counter[str] = Counter()
    for state, tasks in mapping(metrics.get("task_counts")).items():
        # By state, or by the text of ['name', 'state'].
        counts[str(state).rpartition("', '")[2].rstrip("']")] += count(tasks)
    return {
        "process": worker,
        "time": moment,
        "cpu": number(metrics.get("cpu")),
        "memory": number(metrics.get("memory")),
        "net_read": number(network.get("read_bps")),
        "net_write": number(network.get("write_bps")),
        "disk_read": number(disk.get("read_bps")),
        "disk_write": number(disk.get("write_bps")),
        "fds": number(metrics.get("num_fds")),
        "executing": float(counts["executing"]),
        "ready": float(counts["ready"] + counts["constrained"]),
        "waiting": float(counts["waiting"]),
    }
