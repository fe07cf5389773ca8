"""What happens on a scheduler besides tasks, as rows of `events`, and how workers are called there."""

from __future__ import annotations

import json
from typing import Any

from distributed.metrics import time

from .rows import Items
from .tasks import Tasks

_DETAIL = 4000
#: Topics on which Dask itself tells of trouble.
_TROUBLE = (
    "transitions",
    "invalid-worker-transition",
    "invalid-worker-task-state",
    "transition-counter-max-exceeded",
    "worker-fail-hard",
    "worker-restart-memory",
    "p2p",
)
_QUIET = ("scheduler", "worker-get-client", "worker-client")

#: What Dask tells, on topics of their own, of clients and workers that are not known yet or no more.
_CHANGES = ("add-client", "remove-client", "add-worker", "remove-worker")


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

    def known(self, address: str) -> bool:
        """Whether there was a worker at this address."""
        return address in self._servers


class Journal:
    """Writes events, from Dask's own and from what the probe sees."""

    def __init__(self, events: Items, tasks: Tasks, labels: Labels) -> None:
        self._events = events
        self._tasks = tasks
        self._labels = labels
        self._failures: dict[str, int] = {}

    def event(
        self, level: str, kind: str, message: str, detail: Any = None, source: str = "scheduler"
    ) -> None:
        """Write an event."""
        text = "" if detail is None else _json(detail)[:_DETAIL]
        self._events.add((time(), source, kind, level, message[:_DETAIL], text))

    def failed(self, where: str, error: Exception) -> None:
        """Note a fault of ours: every one is counted, one is told of whenever their number has doubled."""
        count = self._failures[where] = self._failures.get(where, 0) + 1
        if count & (count - 1) == 0:
            message = f"the recorder failed in {where}, {count} times so far: {type(error).__name__}: {error}"
            self.event("error", "lost", message, source="recorder")

    def logged(self, topic: str, message: Any, clients: Any) -> None:
        """Take what was logged on a topic of the scheduler's."""
        action = message.get("action") if isinstance(message, dict) else None
        if topic == "scheduler" and action == "update-graph":
            self._tasks.graph.measured(message.get("metrics") or {})
        elif topic == "stealing":
            self._steal(message)
        elif topic == "all" and action == "remove-worker":
            self._lost(message)
        elif topic == "scheduler" and action == "worker-ttl-timed-out":
            for address in message["workers"]:
                self.event("warning", "worker-closing", action, source=self._labels.last(address))
        elif topic == "all":
            if action != "add-worker":
                self.event("info", str(action or "cluster"), str(action), _short(message))
        elif action == "worker-status-change":
            text = f"{message['prev-status']} → {message['status']}"
            level = "warning" if message["status"] == "paused" else "info"
            self.event(level, "worker-status", text, source=self._labels.last(topic))
        elif action == "closing-worker":
            reason = str(message.get("reason"))
            self.event("info", "worker-closing", reason, source=self._labels.last(topic))
        elif topic in _TROUBLE:
            self.event("error", "dask", str(action or topic), _short(message))
        elif action in _CHANGES:
            pass  # Told on the topic "all" as well.
        elif topic not in _QUIET and topic not in clients and not self._labels.known(topic):
            self.event("info", "user", topic, message)

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


def _json(detail: Any) -> str:
    try:
        return json.dumps(detail, default=str)
    except (TypeError, ValueError):
        # Names that are no texts, as those of tasks may be; or it holds itself.
        return str(detail)


def _short(message: Any) -> Any:
    """An event of Dask's with the lengths of what is long, and of bytes: those are pickled code."""
    if not isinstance(message, dict):
        return message
    return {
        name: len(value) if isinstance(value, (list, tuple, set, dict, bytes, bytearray)) else value
        for name, value in message.items()
    }
