"""Databases of events in DASF's file format."""

from __future__ import annotations

import atexit
import errno
import os
import threading
import uuid
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self
from weakref import WeakSet

import msgpack

from ...frames import Gap
from ...sources.files import dasf
from .events import CompleteEvent, DurationBeginEvent, DurationEndEvent, Event, InstantEvent, event_of

#: How many times the threshold of commits wait where a disk is full.
_MOST = 20


class EventDatabase(ABC):
    """Where events are kept; extend it for a place of your own."""

    @abstractmethod
    def record(self, event: Event) -> None:
        """Add an event."""

    @abstractmethod
    def commit(self) -> None:
        """Write what was added."""

    @abstractmethod
    def get_traces(self) -> Iterable[Event]:
        """All events, in the order in which they were written."""

    def open(self) -> Self:
        """Itself."""
        return self

    def close(self) -> None:  # noqa: B027
        """Nothing, unless a database has something to close."""

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *error: Any) -> None:
        self.close()


class FileDatabase(EventDatabase):
    """Events in a file that DASF reads too.

    Parameters
    ----------
    database_file
        The file; events are appended.
    commit_threshold
        Events after which they are written.
    remove_old_output_file
        Begin with an empty file.
    commit_on_close
        Write what is left when it is closed, and when the program ends.
    lock_timeout, default_byte_size, flush
        As DASF has them. Each commit is one append, which needs no lock; on Windows and on network drives
        others come between, there each process needs a file of its own. Lengths take 8 bytes; `flush` waits
        for nothing: a disk that stalls must not stall Dask.

    Attributes
    ----------
    gaps
        Parts of the file that the last `get_traces` could not read.
    dropped
        Events that are lost, the oldest first: where the file takes no more, 20 times
        `commit_threshold` wait at most.
    """

    def __init__(
        self,
        database_file: str = "traces.msgpack",
        commit_threshold: int = 5000,
        remove_old_output_file: bool = False,
        commit_on_close: bool = True,
        lock_timeout: int = 30,
        default_byte_size: int = 8,
        flush: bool = True,
    ) -> None:
        if default_byte_size != 8:
            raise ValueError("DASF's files have lengths of 8 bytes")
        self.database_file = Path(database_file)
        self.commit_threshold = max(1, commit_threshold)
        self.commit_on_close = commit_on_close
        self.gaps: list[Gap] = []
        self.dropped = 0
        self._lock = threading.Lock()
        self._waiting: list[Event] = []
        if remove_old_output_file:
            self.database_file.unlink(missing_ok=True)
        _DATABASES.add(self)

    def _begin_empty(self) -> None:
        """In a process that was forked off: what waits is the other's to write."""
        self._lock, self._waiting = threading.Lock(), []

    def record(self, event: Event) -> None:
        """Add an event."""
        with self._lock:
            self._wait([event])
            # Where the disk is full they go on waiting: not each that comes is to try anew.
            full = len(self._waiting) % self.commit_threshold == 0
        if full:
            self.commit()

    def commit(self) -> None:
        """Write what was added.

        Raises
        ------
        OSError
            If it cannot be written; the next commit tries again.
        """
        with self._lock:
            events, self._waiting = self._waiting, []
            _UNWRITTEN.discard(self)
        try:
            told = [(event, data) for event in events if (data := self._packed(event))]
            events = [event for event, _ in told]
            self._append(b"".join(data for _, data in told))
        except (OSError, KeyboardInterrupt, SystemExit):
            self._put_back(events)
            raise

    def _packed(self, event: Event) -> bytes:
        """An event as the file has it; b"" if what it carries cannot be written, which is no other's harm."""
        try:
            return packed([asdict(event)])
        except Exception as error:
            self._lose(1, f"an event cannot be written: {type(error).__name__}: {error}")
            return b""

    def _lose(self, events: int, why: str) -> None:
        first, self.dropped = not self.dropped, self.dropped + events
        if first:
            message = f"{self.database_file}: {why}; `dropped` counts what is lost"
            warnings.warn(message, RuntimeWarning, stacklevel=5)

    def _wait(self, events: list[Event]) -> None:
        """Have events written with the next commit; the lock is held."""
        self._waiting += events
        if self.commit_on_close:
            _UNWRITTEN.add(self)

    def _put_back(self, events: list[Event]) -> None:
        """Have events wait that could not be written, before those that came meanwhile."""
        with self._lock:
            later, self._waiting = self._waiting, []
            self._wait(events + later)
            more = max(0, len(self._waiting) - _MOST * self.commit_threshold)
            del self._waiting[:more]
        if more:
            self._lose(more, "it takes no more, its oldest events are dropped")

    def _append(self, data: bytes) -> None:
        """Write it all, or nothing: nobody finds what comes after half an event."""
        if not data:
            return
        rest = memoryview(data)
        # A buffer would keep what a full disk does not take, and write it later.
        with self.database_file.open("ab", buffering=0) as file:
            begin = file.tell()
            try:
                while rest:
                    rest = rest[file.write(rest) :]
            except BaseException as error:
                end, written = file.tell(), len(data) - len(rest)
                if not isinstance(error, OSError):
                    # An interrupt comes when a write has ended and is not counted.
                    written = end - begin
                # Another may have appended meanwhile.
                if written and file.seek(0, os.SEEK_END) == end:
                    file.truncate(end - written)
                raise

    def get_traces(self) -> Iterator[Event]:
        """All events in the file; what cannot be read is left out and stands in `gaps`."""
        self.gaps = []
        if not self.database_file.exists():
            return
        for told in dasf.events(self.database_file.read_bytes(), self.gaps):
            try:
                event = event_of(told)
            except TypeError as error:
                self.gaps.append(Gap(-1, 0, f"an event that is none: {error}"))
            else:
                yield event

    def close(self) -> None:
        """Write what is left."""
        if self.commit_on_close:
            self.commit()

    def __repr__(self) -> str:
        return f"FileDatabase at {self.database_file}"


#: Databases of this process, and of these those that are to write something at its end.
_DATABASES: WeakSet[FileDatabase] = WeakSet()
_UNWRITTEN: set[FileDatabase] = set()


@atexit.register
def _close_all() -> None:
    with ExitStack() as rest:
        for database in list(_UNWRITTEN):
            rest.callback(database.close)


def _begin_empty() -> None:
    _UNWRITTEN.clear()
    for database in list(_DATABASES):
        database._begin_empty()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_empty)


def packed(events: Iterable[dict[str, Any]]) -> bytes:
    """Events as DASF's files hold them."""
    parts: list[bytes] = []
    for event in events:
        data = msgpack.packb(event, default=str, unicode_errors="backslashreplace")
        parts += (len(data).to_bytes(8, "big"), data)
    return b"".join(parts)


class EventProfiler:
    """Records events of one's own into a database.

    Parameters
    ----------
    database_file
        The file; by default a new one of a random name.
    database_creation_kwargs
        Given to `FileDatabase`.
    database
        A database to use instead.

    Raises
    ------
    ValueError
        If both a file and a database are given.
    """

    traces_file_prefix = "traces-"

    def __init__(
        self,
        database_file: str | None = None,
        database_creation_kwargs: dict[str, Any] | None = None,
        database: EventDatabase | None = None,
    ) -> None:
        if database is not None and database_file is not None:
            raise ValueError("give either database_file or database")
        self.output_file: str | None = None
        if database is None:
            self.output_file = database_file or f"{self.traces_file_prefix}{uuid.uuid4().hex[:8]}.msgpack"
            options = (
                {"commit_threshold": 1000} if database_creation_kwargs is None else database_creation_kwargs
            )
            database = FileDatabase(self.output_file, **options)
        self.database: EventDatabase = database

    def record_complete_event(self, name: str, timestamp: float, duration: float, **facts: Any) -> None:
        """Something that lasted; seconds."""
        self.database.record(CompleteEvent(name, timestamp, duration, **facts))

    def record_instant_event(self, name: str, timestamp: float, **facts: Any) -> None:
        """Something that happened."""
        self.database.record(InstantEvent(name, timestamp, **facts))

    def record_duration_begin_event(self, name: str, timestamp: float, **facts: Any) -> None:
        """Something begins."""
        self.database.record(DurationBeginEvent(name, timestamp, **facts))

    def record_duration_end_event(self, name: str, timestamp: float, **facts: Any) -> None:
        """It ends."""
        self.database.record(DurationEndEvent(name, timestamp, **facts))

    def get_traces(self) -> Iterable[Event]:
        """All events that were written."""
        return self.database.get_traces()

    def commit(self) -> None:
        """Write what was recorded."""
        self.database.commit()

    def __repr__(self) -> str:
        return f"EventProfiler(database={self.database})"


def _there(path: str | Path) -> FileDatabase:
    if not Path(path).exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    return FileDatabase(str(path), commit_on_close=False)


class MultiEventDatabase:
    """Several databases as one: iterate over it, take its `len`, make a list of it.

    Parameters
    ----------
    databases
        Databases, profilers, or paths of files; or the path of one.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    """

    def __init__(self, databases: str | Path | Sequence[Any]) -> None:
        given = [databases] if isinstance(databases, str | Path) else databases
        self._databases = [_there(each) if isinstance(each, str | Path) else each for each in given]

    def files(self) -> list[Path] | None:
        """The files, if all of it is in files."""
        inner = [getattr(each, "database", each) for each in self._databases]
        known = [each.database_file for each in inner if isinstance(each, FileDatabase)]
        return known if len(known) == len(inner) else None

    def __iter__(self) -> Iterator[Event]:
        for database in self._databases:
            yield from database.get_traces()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"MultiEventDatabase with {len(self._databases)} databases"
