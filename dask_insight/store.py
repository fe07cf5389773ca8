"""Batches in the order in which they came, and their columns."""

from __future__ import annotations

import atexit
import errno
import json
import os
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from math import inf
from threading import RLock, Thread, Timer
from time import monotonic, time
from typing import Any, NamedTuple

import numpy as np

from .arguments import number
from .batch import Batch, BatchError, announced, decode, encode
from .columns import Columns, length, merge, newest
from .frames import Gap, Writer
from .heap import give_back
from .history import History, Unread
from .options import Emit
from .tables.facts import CUT
from .threads import begun

#: How many times smaller batches are when compressed, nearly; and the fewest bytes for which that is done.
_COMPRESSION = 4
_WORTHWHILE = 2**16
#: Bytes of batches that a recording in the making keeps as they came; older ones it merges and compresses.
_FRESH = 32 * 2**20
#: Seconds that a batch may wait for others before it is written to the file with them.
_FLUSH = 0.25
#: Seconds that the end of the process waits for merging that goes on.
_PATIENCE = 5.0
#: Seconds after which merging is tried again that has failed: it may fail each time.
_REST = 60.0
#: How much a note matters.
_LEVELS = ("debug", "info", "warning", "error")


class Piece(NamedTuple):
    """Batches of a store, one after another, from position `start` up to `stop`.

    A piece that starts before the position it was asked for stands for the
    whole beginning: whoever asked must forget what it has.
    """

    start: int
    stop: int
    data: bytes
    #: Batches before those in `data`, each of these compressed by zlib.
    packed: tuple[bytes, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of it all, as it is."""
        return len(self.data) + sum(map(len, self.packed))


class Store:
    """Keeps batches, tells followers of them, and writes them to a file.

    Any thread may add and read; what is read is what has come so far.

    Attributes
    ----------
    gaps
        Parts of its file that could not be read; also in ``events``, kind 'lost'.
    history
        The batches.
    size
        Bytes of all batches that have come.
    """

    def __init__(self) -> None:
        self.gaps: list[Gap] = []
        self.history = History(inf, fresh=_FRESH, unread=self._unread)
        self.size = 0
        self._lock = RLock()
        self._writer: Writer | None = None
        #: The process whose file that is.
        self._process = os.getpid()
        self._flushing: Timer | None = None
        self._refused: OSError | None = None
        #: Whether the file lacks what there was no memory to write.
        self._left_out = False
        self._merging: Thread | None = None
        #: When merging may be tried again that has failed, by the monotonic clock; 0 where none has.
        self._again = 0.0
        #: Where the disk may keep what is too much for memory, the best first; None before that has come.
        self._disks: list[str | None] | None = None
        self._merged: dict[str, tuple[int, Columns]] = {}
        self._followers: dict[object, Emit] = {}
        self._bring: Callable[[], None] | None = None
        #: Whether this process records it, or did: of another version's rows merging would lose some.
        self._is_ours = False

    def append(self, batch: bytes) -> None:
        """Add a batch; any thread may call this.

        A follower that fails is told nothing more, and a file that cannot be
        written any further is left as it is; both are noted in ``events``.
        """
        table, _ = announced(batch)
        with self._lock:
            self._keep(table, batch)
            self._write(batch)
            followers = list(self._followers.items())
        for key, follower in followers:
            try:
                follower(batch)
            except Exception as error:
                with self._lock:
                    self._followers.pop(key, None)
                self.tell(
                    "lost", f"a follower of the recording failed: {type(error).__name__}: {error}", time()
                )

    def _keep(self, table: str, batch: bytes) -> None:
        """Add a batch to those there are; the lock is held."""
        self.size += len(batch)
        self.history.add(table, batch)
        if self.history.due:
            self._untidy()

    def _untidy(self) -> None:
        """Have old batches merged, by a thread of its own, if this process records them; the lock is held."""
        if self._bring is not None:
            # If there can be no thread now the next batch tries again.
            self._merge_aside(self.history.tidy)

    def _merge_aside(self, merge: Callable[[], None]) -> None:
        """Have a thread of its own merge, if none does and there can be one; the lock is held."""
        if self._merging is None and monotonic() >= self._again:
            with suppress(RuntimeError):
                self._merging = begun(partial(self._merge, merge), "dask-insight-merge")
                atexit.register(self._see_merged)

    def _see_merged(self) -> None:
        """Wait for the thread that merges, which must not run as the interpreter ends."""
        if (merging := self._merging) is not None:
            merging.join(_PATIENCE)

    def _merge(self, merge: Callable[[], None]) -> None:
        failed: Exception | None = None
        try:
            merge()
            self._spill()
        except Exception as error:
            failed = error
        with self._lock:
            new = failed is not None and not self._again
            if failed is not None:
                # It may have been memory that others needed just then.
                self._again = monotonic() + _REST
            self._merging = None
            atexit.unregister(self._see_merged)
        if new:
            told = f"merging what is old failed, it stays as it came: {type(failed).__name__}: {failed}"
            self.tell("lost", told, time())

    def _spill(self) -> None:
        """Have a disk keep what is too much for memory, as long as one does."""
        if self._disks is None:
            self._disks = self.spare_folders()
        while self._disks:
            try:
                self.history.spill(self._disks[0])
                return
            except OSError as error:
                del self._disks[0]
                if not self._disks:
                    told = f"no temporary folder takes more, the recording goes on in memory: {error}"
                    self.tell("lost", told, time())

    def spare_folders(self) -> list[str | None]:
        """Folders that somebody chose, that of its file while there is one, and, as None, the system's: often
        memory, or small."""
        # Who has a recording need not have imported Dask.
        config: Any = sys.modules.get("dask.config")
        dasks = None if config is None else config.get("temporary-directory", None)
        # As `tempfile` has them; Windows sets the last two.
        variables = map(os.environ.get, ("TMPDIR", "TEMP", "TMP"))
        writer = self._own_writer()
        beside = None if writer is None else writer.folder
        # Each once: what is full is full for all.
        return [*dict.fromkeys(str(each) for each in (dasks, *variables, beside) if each), None]

    def _write(self, batch: bytes) -> None:
        """Hand a batch to the file; the lock is held."""
        if (writer := self._own_writer()) is None:
            return
        try:
            writer.write(batch)
        except OSError as error:
            self._refuse(error)
            return
        except MemoryError:
            self._leave_out(writer)
        if self._flushing is None and writer.waiting:
            self._flushing = Timer(_FLUSH, self._flush)
            self._flushing.daemon = True
            try:
                self._flushing.start()
            except RuntimeError:
                # The interpreter is ending, or has no threads.
                self._flush()

    def _flush(self) -> None:
        """Hand what waits to the operating system."""
        with self._lock:
            self._flushing = None
            if (writer := self._own_writer()) is not None:
                try:
                    writer.flush()
                except OSError as error:
                    self._refuse(error)
                except MemoryError:
                    self._leave_out(writer)

    def _leave_out(self, writer: Writer) -> None:
        """Go on without what there was no memory to write; the lock is held."""
        self._left_out = True
        told = "a part of the recording is not in its file: no memory to write it"
        with suppress(OSError, MemoryError):
            # The file alone: nothing is missing here, nor in one that is written anew from this.
            writer.write(_told("lost", told, time()))

    def _own_writer(self) -> Writer | None:
        """What writes the file; none in a process that was forked off: the file is the other's, and so are
        the batches that wait."""
        if os.getpid() != self._process:
            self._writer = None
        return self._writer

    def _refuse(self, error: OSError) -> None:
        """Go on without a file that takes no more; the lock is held."""
        writer, self._writer, self._refused = self._writer, None, error
        if writer is not None:
            with suppress(OSError, MemoryError):
                # There may be room for so little, and whoever opens it learns why it ends here.
                writer.write(encode("about", {"name": [CUT], "value": [json.dumps(str(error))]}))
            with suppress(OSError, MemoryError):
                writer.close()
        self.tell("lost", f"the file takes no more, the recording goes on in memory: {error}", time())

    def write_to(self, writer: Writer) -> None:
        """Write all batches, those there are and those to come, to a file until `close`."""
        with self._lock:
            for batch in self.batches():
                writer.write(batch)
            writer.flush()
            self._writer, self._process = writer, os.getpid()

    def checkpoint(self, path: str | os.PathLike[str]) -> bool:
        """Have all that has come in the file that it is recorded to; False if `path` is another file.

        Raises
        ------
        OSError
            If the file does not take it, or lacks what there was no memory to write.
        """
        with self._lock:
            writer = self._own_writer()
            if writer is None or not writer.is_at(path):
                return False
            self._flush()
            if self._refused is not None:
                raise self._refused
            if self._left_out:
                raise _no_memory()
            return True

    def batches(self) -> list[bytes]:
        """All batches so far; old ones may have been merged, those of one table stay in their order."""
        return list(self.history.batches())

    @property
    def turnover(self) -> float:
        """How many times over what it keeps has been dropped."""
        return self.history.turnover

    @property
    def end(self) -> int:
        """Number of batches that have come: the position of the next one."""
        return self.history.end

    def since(self, at: int, size: int, packed: bool = False) -> Piece | None:
        """The batches from a position on, one or more of them, about `size` bytes; None if there are none.

        With `packed` the piece may be compressed, and then holds more of them.
        """
        if packed and at >= self.history.merged:
            size *= _COMPRESSION
        found = self.history.since(at, size, packed)
        if found is None:
            return None
        start, stop, plain, compressed = found
        data = b"".join(plain)
        if packed and len(data) >= _WORTHWHILE:
            return Piece(start, stop, b"", (*compressed, zlib.compress(data, 1)))
        return Piece(start, stop, data, tuple(compressed))

    def on_append(self, follower: Emit) -> Callable[[], None]:
        """Have `follower` called with every batch to come; returns what ends that."""
        key = object()
        with self._lock:
            self._followers[key] = follower

        def stop() -> None:
            with self._lock:
                self._followers.pop(key, None)

        return stop

    def on_ask(self, bring: Callable[[], None]) -> Callable[[], None]:
        """Have `bring` called before a question, to add what is not here yet; returns what ends that."""
        self._bring = bring
        self._is_ours = True

        def stop() -> None:
            self._bring = None

        return stop

    def catch_up(self) -> None:
        """Have all come that has happened by now, if this process records it; takes bounded time."""
        if (bring := self._bring) is not None:
            bring()

    def columns(self, table: str) -> Columns:
        """A table's columns over all batches so far, as NumPy arrays; see `schema`.

        Raises
        ------
        KeyError
            If there is no such table.
        """
        done, columns = self._merged.get(table, (0, None))
        end, rows, batches = self.history.since_of(table, done)
        if columns is None or rows:
            before: Columns = {} if columns is None else columns
            count = length(before)
            parts = chain((Batch(table, count, dict(before)),), self._decoded(batches))
            columns = newest(table, merge(table, parts, count + rows))
        self._merged[table] = (end, columns)
        return columns

    def put_away(self) -> None:
        """Let go of what has been put together of a recording that has ended, and compress its batches.

        Of a recording that this process did not make nothing happens. Compressing is for a thread of its own;
        what somebody asks for afterwards is put together anew.
        """
        with self._lock:
            if not self._is_ours or self._bring is not None:
                return
            if self.history.merged < self.end:
                self._merge_aside(self._seal)
            else:
                self._let_go()

    def _seal(self) -> None:
        # First: what cannot be read is told once.
        self.history.seal()
        self._let_go()
        give_back()

    def _unread(self, batch: Unread) -> None:
        """A batch could not be merged: told, unless whoever read the table before has told it."""
        done, _ = self._merged.get(batch.table, (0, None))
        if batch.position >= done:
            self.lost(Gap(-1, batch.size, batch.why))

    def _let_go(self) -> None:
        """Let go of what has been put together."""
        self._merged = {}

    def picked(self, table: str, names: Collection[str]) -> Columns:
        """Some columns of a table over all batches so far, put together batch by batch and not kept here.

        Batches that cannot be read are passed over: `columns` tells of them. Not for tables that are worked
        out several times, of which it would give every edition.

        Raises
        ------
        KeyError
            If there is no such table.
        """
        _, rows, batches = self.history.since_of(table, 0)
        return merge(table, _readable(batches, names), rows, names)

    def _decoded(self, batches: Iterable[bytes]) -> Iterator[Batch]:
        for batch in batches:
            try:
                yield decode(batch)
            except BatchError as error:
                self.lost(Gap(-1, len(batch), str(error)))

    def lost(self, gap: Gap) -> None:
        """Note that a part of the recording could not be read."""
        self.gaps.append(gap)
        self.tell("lost", str(gap))

    def note(self, kind: str, message: str, when: float | None = None, *, level: str = "info") -> None:
        """Add a row of your own to ``events``, source 'program'.

        Parameters
        ----------
        kind
            What it is: ``"checkpoint"``.
        message
            In words.
        when
            Seconds since the epoch; now by default.
        level
            ``'debug'``, ``'info'``, ``'warning'`` or ``'error'``.

        Raises
        ------
        TypeError, ValueError
            If `when` is no number, or there is no such level.
        """
        if level not in _LEVELS:
            raise ValueError(f"level={level!r} is none of {', '.join(_LEVELS)}")
        moment = time() if when is None else number("when", when, "seconds since the epoch")
        self.append(_event("program", str(kind), level, str(message), moment))

    def tell(self, kind: str, message: str, when: float = np.nan) -> None:
        """Add an event that the recording itself tells of; `when` in seconds since the epoch."""
        batch = _told(kind, message, when)
        with self._lock:
            self._keep("events", batch)

    def close(self) -> None:
        """End writing to the file it was recorded to.

        Raises
        ------
        OSError
            If that did not take everything; ENOMEM if there was no memory to write it.
        """
        with self._lock:
            writer, self._writer = self._own_writer(), None
            refused, self._refused = self._refused, None
            left_out, self._left_out = self._left_out, False
            flushing, self._flushing = self._flushing, None
        if flushing is not None:
            flushing.cancel()
        if writer is not None:
            try:
                writer.close()
            except MemoryError:
                left_out = True
        if refused is not None:
            raise refused
        if left_out:
            raise _no_memory()


def _readable(batches: Iterable[bytes], names: Collection[str]) -> Iterator[Batch]:
    for batch in batches:
        with suppress(BatchError):
            yield decode(batch, names)


def _no_memory() -> OSError:
    return OSError(errno.ENOMEM, "there was too little memory to write it")


def _told(kind: str, message: str, when: float) -> bytes:
    """An event that a recording itself tells of."""
    return _event("recorder", kind, "warning", message, when)


def _event(source: str, kind: str, level: str, message: str, when: float) -> bytes:
    row = {"time": when, "source": source, "kind": kind, "level": level, "message": message}
    return encode("events", {name: [value] for name, value in row.items()})
