"""What `Client.dump_cluster_state` writes: the state of a cluster at one moment, and its last transitions.

Files are msgpack in gzip, or YAML: ``scheduler``, ``workers`` by address, ``versions``. A dump tells every
task that the scheduler had just then, with its state and dependencies. What ran before is told by logs of
bounded length: the scheduler's transitions (when a task was wanted, sent to a worker, done), each worker's
story (when it was given a thread there, and when it ended) and, for results that workers still hold, when the
function was called and returned. Attempts are put together from these.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...frames import Gap, RecordingError
from ...recording import Recording
from .dumped import Dump
from .opened import Told, part, silent, whole
from .stories import story, transition
from .trees import ANY, Torn, Wanted, from_msgpack, from_yaml

#: Most bytes of a dump, unpacked.
_MOST = 2**31


def matches(head: bytes) -> bool:
    """Whether a file that begins so, unpacked, is a dump."""
    packed = head[:1] and 0x81 <= head[0] <= 0x8F and b"\xa9scheduler" in head[:32]
    return bool(packed) or re.match(rb"(---\s+)?scheduler:[ \t\r]*\n\s+\w+:", head) is not None


def read(paths: Sequence[Path], told: Told = silent) -> Recording:
    """Dumps, of one cluster at several moments, as one recording.

    Raises
    ------
    RecordingError
        If a file is no dump; the message says where it ceases to be one.
    """
    dump = Dump()
    gaps: list[Gap] = []
    for place, path in enumerate(paths):
        data, torn = whole(path, part(told, place, len(paths), 0.5), most=_MOST)
        tree = from_msgpack if data[:1] and data[0] >= 0x80 else from_yaml
        state, end = tree(data, _WANTED)
        if torn and end is None:
            end = Torn(len(data), torn)
        if not (isinstance(state, dict) and isinstance(state.get("scheduler"), dict) and state["scheduler"]):
            why = f" at byte {end.offset:,}: {torn or end.reason}" if end else ""
            raise RecordingError(f"{path} is no cluster dump{why}: it tells of no scheduler")
        if end:
            gaps.append(Gap(end.offset, len(data) - end.offset, torn or end.reason))
        dump.take(state)
        told((place + 1) / len(paths))
    return dump.recording(paths[0].name.split(".")[0], gaps)


def _same(value: Any) -> Any:
    return value


_OF_WORKER = ("name", "host", "pid", "nthreads", "memory_limit", "status", "time_delay", "last_seen")
_LOG_OF_TRANSFERS: Wanted = [_same]
_WANTED: Wanted = {
    "scheduler": {
        "id": _same,
        "address": _same,
        "started": _same,
        "transition_log": [transition],
        "tasks": {
            ANY: dict.fromkeys(
                (
                    "key",
                    "state",
                    "nbytes",
                    "type",
                    "group_key",
                    "dependencies",
                    "processing_on",
                    "who_has",
                    "erred_on",
                    "exception_text",
                    "traceback_text",
                ),
                _same,
            )
        },
        "workers": {
            ANY: dict.fromkeys(_OF_WORKER, _same)
            | {
                "memory": _same,
                "metrics": dict.fromkeys(
                    ("cpu", "memory", "time", "num_fds", "host_net_io", "host_disk_io"), _same
                )
                | {"task_counts": _same},
            }
        },
    },
    "workers": {
        ANY: {
            "name": _same,
            "nthreads": _same,
            "memory_limit": _same,
            "logs": [_same],
            "log": [story],
            "transfer_incoming_log": _LOG_OF_TRANSFERS,
            "transfer_outgoing_log": _LOG_OF_TRANSFERS,
            "tasks": {ANY: dict.fromkeys(("key", "state", "startstops"), _same)},
        }
    },
    "versions": _same,
}
