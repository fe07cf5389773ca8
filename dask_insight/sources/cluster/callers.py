"""Where in the client's code a graph is submitted."""

from __future__ import annotations

import inspect
import linecache
import logging
import math
import re
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import dask

from ...probe.frames import policy
from ...probe.graph import sample
from ..cells import NO_CELL, Cell, running_cell, shown_file
from ..clients import cluster_of, watch_clients
from ..installed import is_installed

NEWER = "this release of Dask is newer than this dask_insight knows: upgrade dask_insight"
_log = logging.getLogger(__name__)
#: Keys of a submission by which it can be recognised.
_KEYS = 16
_CODE = 20_000
#: By what a client sends.
_SEND = "_send_to_scheduler"
#: Where a thread waits for what another thread does for it.
_WAITS = re.compile(r"[\\/]distributed[\\/]utils\.py:sync$|[\\/]joblib[\\/]parallel\.py:")
#: Our module that stands for somebody's code.
_DEMO = "dask_insight.hosts.demo.steps"
#: Lines shown of a module or script.
_AROUND = 60


class Caller(NamedTuple):
    """A line of somebody's code."""

    file: str
    line: int
    function: str
    code: str
    #: The notebook cell that ran.
    cell: Cell = NO_CELL
    #: Bytes of the graph as it was sent; NaN if unknown.
    nbytes: float = math.nan
    #: Whether it ran in a task, of a worker in this process.
    by_task: bool = False


Listener = Callable[[list[str], Caller], None]
_watches: WeakKeyDictionary[Any, _Watch] = WeakKeyDictionary()
#: Clients of one process live on several event loops.
_lock = threading.RLock()


def can_watch(client: Any) -> bool:
    """Whether Dask has the private name by which a client's messages are seen."""
    return hasattr(client, _SEND)


def watch(client: Any, listener: Listener) -> Callable[[], None]:
    """Call `listener` with keys and caller of each graph that `client` sends, until the result is called.

    It is never called for one that it cannot watch.
    """
    if not can_watch(client):
        return lambda: None
    with _lock:
        if client not in _watches:
            _watches[client] = _Watch(client)
        return _watches[client].add(listener)


def watch_all(client: Any, listener: Listener) -> Callable[[], None]:
    """Like `watch`, for every client of this process that has the same cluster, later ones too."""
    watched: dict[Any, Callable[[], None]] = {}
    ended = False

    def come(other: Any) -> None:
        with _lock:
            if not ended and other not in watched and cluster_of(other) == cluster_of(client):
                watched[other] = watch(other, listener)

    def go(other: Any) -> None:
        if (unwatch := watched.pop(other, None)) is not None:
            unwatch()

    come(client)
    stop = watch_clients(come, go)

    def end() -> None:
        nonlocal ended
        stop()
        with _lock:
            # One that was told of before may come yet.
            ended = True
        for each in list(watched):
            go(each)

    return end


class _Watch:
    """Looks at a client's messages to its scheduler as they are sent, in the thread that sends them."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._send = getattr(client, _SEND)
        self._listeners: list[Listener] = []

    def add(self, listener: Listener) -> Callable[[], None]:
        self._listeners.append(listener)
        setattr(self._client, _SEND, self._look)

        def remove() -> None:
            with _lock:
                self._listeners.remove(listener)
                if not self._listeners:
                    _watches.pop(self._client, None)
                    vars(self._client).pop(_SEND, None)

        return remove

    def _look(self, message: dict[str, Any], *args: Any, **options: Any) -> Any:
        try:
            if message.get("op") == "update-graph":
                keys = sample(message["keys"], _KEYS)
                by_task = message.get("submitting_task") is not None
                caller = calling(sys._getframe(1))
                if not caller.file and not by_task:
                    caller = calling(_waiting())
                caller = caller._replace(nbytes=_size(message), by_task=by_task)
                for listener in list(self._listeners):
                    listener(keys, caller)
        except Exception:
            _log.debug("a submission's place in the code was not found", exc_info=True)
        return self._send(message, *args, **options)


def _size(message: dict[str, Any]) -> float:
    """Bytes of the graph in a message, before 2025.4.0 in frames of its own; NaN if there is none."""
    frames = getattr(message.get("expr_ser"), "frames", None) or message.get("graph_frames")
    return float(sum(memoryview(frame).nbytes for frame in frames)) if frames else math.nan


def calling(frame: FrameType | None) -> Caller:
    """The innermost frame that is neither a library's nor Dask's."""
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not _library(frame.f_code.co_filename, str(name), _ignored()):
            break
        frame = frame.f_back
    if frame is None:
        return Caller("", 0, "", "", running_cell())
    code, file, line = frame.f_code, frame.f_code.co_filename, frame.f_lineno
    return Caller(shown_file(file), line, code.co_qualname, _source(code, file, line), running_cell())


def _waiting() -> FrameType | None:
    """The main thread's frame, if it waits for another: XGBoost, dask-ml and joblib submit on a loop's.

    Without it they have no line, for their event loop has none of its caller's frames.
    """
    take, _ = policy()
    main = threading.main_thread().ident
    if take is None or main is None or main == threading.get_ident():
        return None
    innermost = frame = take().get(main)
    while frame is not None and not _WAITS.search(f"{frame.f_code.co_filename}:{frame.f_code.co_name}"):
        frame = frame.f_back
    return None if frame is None else innermost


def _ignored() -> tuple[str, ...]:
    return tuple(dask.config.get("distributed.diagnostics.computations.ignore-modules", ()))


@lru_cache(4096)
def _library(file: str, module: str, ignored: tuple[str, ...]) -> bool:
    if module == _DEMO:
        return False
    if module.split(".")[0] in (
        "dask",
        "distributed",
        "tlz",
        "toolz",
        "threading",
        "contextlib",
        "dask_insight",
    ):
        return True
    if file.startswith("<frozen") or is_installed(file) or re.search(r"[\\/]concurrent[\\/]futures", file):
        return True
    return any(re.match(pattern, module) for pattern in ignored)


@lru_cache(1024)
def _source(code: CodeType, file: str, line: int) -> str:
    """The text of a function or cell, or what surrounds a line of a longer file; '' if it cannot be had.

    Of one line it is one object, however many submissions wait with it. The file is asked for as code of
    two files may be equal, as that of a cell before and after its later lines were edited.
    """
    lines = _lines(code, file)
    if code.co_name == "<module>" and len(lines) > _AROUND:
        return "".join(lines[max(0, line - _AROUND // 2) : line + _AROUND // 2])
    return "".join(lines)[:_CODE]


@lru_cache(1024)
def _lines(code: CodeType, file: str) -> list[str]:
    try:
        if code.co_name == "<module>":
            return linecache.getlines(file)
        return inspect.getsourcelines(code)[0]
    except Exception:
        return []
