"""What happens on a scheduler besides tasks, as rows of `events`, and how workers are called there."""

from __future__ import annotations

import json
from collections import deque
from typing import Any

from distributed.metrics import time

from .rows import Items
from .tasks import Tasks

#: Characters of a message, of a detail, and of one that is too long: as JSON these may be twice as many.
_MESSAGE, _DETAIL, _START = 4000, 64_000, 1900
#: Characters of all details together that are longer than a message.
_KEPT = 16_000_000
#: Topics of Dask's own, and a member that whatever it says there has: what has none is a user's.
_MEMBERS = {"all": "action", "scheduler": "action", "worker-get-client": "client", "worker-client": "client"}
#: Those on which it tells of trouble.
_TROUBLE = {
    "transitions": "transition_log",
    "invalid-worker-transition": "story",
    "invalid-worker-task-state": "story",
    "transition-counter-max-exceeded": "story",
    "worker-fail-hard": "exception",
    "worker-restart-memory": "rss",
    "p2p": "shuffle",
}
#: How what it tells of stealing begins.
_STEALING = ("request", "confirm", "reschedule", "stale-response", "already-aborted", "already-computing")
#: What it tells on topics of the workers and clients themselves that is told elsewhere too, or not of us.
_OF_ONE = (
    *("add-client", "remove-client", "update-graph", "scatter", "retry", "cancel", "restart-workers"),
    *("add-worker", "remove-worker", "close-worker", "retired", "could-not-retire", "missing-data"),
    *("rebalance", "replicate-add", "remove-worker-data"),
)
_GONE = {"worker", "expected", "processing-tasks", "lost-computed-tasks", "lost-scattered-tasks"}
_CHANGED = {"prev-status", "status"}


class Labels:
    """Names of workers: the address, and a number where another worker had the address before."""

    def __init__(self) -> None:
        self._servers: dict[str, list[str]] = {}
        self._addresses: dict[str, str] = {}

    def of_server(self, server: str, address: str) -> str:
        """The name of the worker that has this id, whatever address it says it has."""
        return self.of(self._addresses.get(server, address), server)

    def of(self, address: str, server: str) -> str:
        """The name of the worker that has this address and this id."""
        self._addresses[server] = address
        servers = self._servers.setdefault(address, [])
        if server not in servers:
            servers.append(server)
        index = servers.index(server)
        return address if index == 0 else f"{address}#{index + 1}"

    def last(self, address: str) -> str:
        """The name of the last worker at an address."""
        servers = self._servers.get(address)
        return self.of(address, servers[-1]) if servers else address


class Journal:
    """Writes events, from Dask's own and from what the probe sees."""

    def __init__(self, events: Items, tasks: Tasks, labels: Labels) -> None:
        self._events = events
        self._tasks = tasks
        self._labels = labels
        self._failures: dict[str, int] = {}
        #: The latest rows with a long detail, and how long these are together.
        self._long: deque[list[Any]] = deque()
        self._kept = 0
        self._cut = 0

    def event(
        self, level: str, kind: str, message: str, detail: Any = None, source: str = "scheduler"
    ) -> None:
        """Write an event."""
        text = "" if detail is None else _json(detail)
        cut = len(text) > _DETAIL
        row = (time(), source, kind, level, message[:_MESSAGE], _start(text) if cut else text)
        self._events.add(self._kept_long(row) if len(row[-1]) > _MESSAGE else row)
        if cut:
            self._cut += 1
            if _doubled(self._cut):
                beyond = f"beyond {_DETAIL:,} characters, {self._cut:,} times so far"
                self.event("info", "lost", f"what was logged is cut {beyond}", source="recorder")

    def _kept_long(self, told: tuple[Any, ...]) -> list[Any]:
        """A row with a long detail; the oldest are cut where all are too long: most were fetched long ago."""
        row = list(told)
        self._long.append(row)
        self._kept += len(row[-1])
        while self._kept > _KEPT:
            old = self._long.popleft()
            self._kept -= len(old[-1])
            old[-1] = _start(old[-1])
        return row

    def failed(self, where: str, error: Exception) -> None:
        """Note a fault of ours: every one is counted, one is told of whenever their number has doubled."""
        count = self._failures[where] = self._failures.get(where, 0) + 1
        if _doubled(count):
            message = f"the recorder failed in {where}, {count} times so far: {type(error).__name__}: {error}"
            self.event("error", "lost", message, source="recorder")

    def logged(self, topic: str, message: Any, clients: Any) -> None:
        """Take what was logged on a topic, by Dask or by a user, who may choose any topic and message."""
        told = message if isinstance(message, dict) else {}
        if topic == "stealing" and _is_theft(message):
            self._steal(message)
        elif topic in _MEMBERS and _MEMBERS[topic] in told:
            self._of_all(topic, told)
        elif topic in _TROUBLE and _TROUBLE[topic] in told:
            self.event("error", "dask", str(told.get("action") or topic), _short(told))
        elif not self._of_one(topic, told, clients):
            self.event("info", "user", str(topic), message)

    def _of_all(self, topic: str, message: dict[str, Any]) -> None:
        """Dask tells of the scheduler or the cluster."""
        action = message.get("action")
        if action == "update-graph":
            self._tasks.graph.measured(message.get("metrics") or {})
        elif action == "worker-ttl-timed-out":
            for address in message.get("workers", ()):
                self.event("warning", "worker-closing", action, source=self._labels.last(address))
        elif action == "remove-worker" and message.keys() >= _GONE:
            self._lost(message)
        elif action not in (None, "add-worker"):
            self.event("info", str(action), str(action), _short(message))

    def _of_one(self, topic: str, message: dict[str, Any], clients: Any) -> bool:
        """Whether a topic is a worker's or a client's and Dask speaks there; news of workers are written."""
        action = message.get("action")
        if "://" in str(topic):
            source = self._labels.last(topic)
            if action == "worker-status-change" and message.keys() >= _CHANGED:
                text = f"{message['prev-status']} → {message['status']}"
                level = "warning" if message["status"] == "paused" else "info"
                self.event(level, "worker-status", text, source=source)
                return True
            if action == "closing-worker" and "reason" in message:
                self.event("info", "worker-closing", str(message["reason"]), source=source)
                return True
            return action in _OF_ONE
        return action in _OF_ONE and (topic in clients or message.get("client") == topic)

    def _steal(self, message: Any) -> None:
        if message[0] == "confirm":
            _, key, _, victim, thief, *_ = message
            self._tasks.stolen(key, thief)
            self.event("debug", "steal", f"{key} from {victim} to {thief}")

    def _lost(self, message: dict[str, Any]) -> None:
        """A worker leaves: say so here if something goes with it."""
        working = len(message["processing-tasks"])
        lost = len(message["lost-computed-tasks"]) + len(message["lost-scattered-tasks"])
        if working or lost:
            level = "info" if message["expected"] else "warning"
            text = f"a worker left while it worked on {working} tasks; it alone held {lost} results"
            detail = {"processing": working, "lost": lost, "expected": message["expected"]}
            self.event(level, "worker-lost", text, detail, source=self._labels.last(message["worker"]))


def _doubled(count: int) -> bool:
    return count & (count - 1) == 0


def _is_theft(message: Any) -> bool:
    """Whether Dask says so of stealing: lists that begin with a word."""
    if not isinstance(message, (list, tuple)) or not message or message[0] not in _STEALING:
        return False
    return message[0] != "confirm" or len(message) > 4


def _json(detail: Any) -> str:
    try:
        return json.dumps(detail, default=str, allow_nan=False)
    except (TypeError, ValueError):
        # Names that are no texts, as those of tasks may be; numbers that are none; or it holds itself.
        return json.dumps(str(detail))


def _start(detail: str) -> str:
    """The start of a detail that is too long, as JSON that says how many characters are cut."""
    return json.dumps({"cut": len(detail) - _START, "text": detail[:_START]})


def _short(message: Any) -> Any:
    """An event of Dask's with the lengths of what is long, and of bytes: those are pickled code."""
    if not isinstance(message, dict):
        return message
    return {
        name: len(value) if isinstance(value, (list, tuple, set, dict, bytes, bytearray)) else value
        for name, value in message.items()
    }
