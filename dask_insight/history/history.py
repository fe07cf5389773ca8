"""What is kept of a recording that does not end."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterator
from itertools import accumulate, chain, islice
from typing import NamedTuple

import numpy as np

from ..batch import announced
from ..lookup import is_any
from . import needed
from .part import Chunk, Part, Unread
from .spill import Spill

#: Batches and bytes after which they are merged and compressed.
_BATCHES = 256
_BYTES = 2**20
#: The newest batches are left as they are, for most readers stand there.
_LEFT = 32
#: Bytes of batches that are merged at a time.
_PIECE = 4 * 2**20
#: Compressed bytes of history for each attempt that may be kept: the bound where little but samples comes.
_BYTES_OF_ATTEMPT = 150
#: Tables without which later rows could not be understood; kept as long as they are needed.
_LASTING = (
    *("about", "graph", "edges", "stacks", "workers", "spans", "submissions", "cells"),
    *("functions", "fused", "lines", "gauges"),
)
#: How attempts end whose task is not to run again, as far as that is known.
_ENDED = ("ok", "erred", "cancelled")
#: Tasks that are known by name, for each attempt that may be kept.
_NAMES = 5
#: Turnover after which it is looked through for names that nothing needs any more.
_SWEEP = 0.5
#: Compressed bytes of a history without a limit that memory keeps; the disk keeps what is older.
_IN_MEMORY = 128 * 2**20
#: Compressed bytes up to which thinned parts are joined.
_JOINED = 2**18


class Rows(NamedTuple):
    """The rows of one table at some moment."""

    chunks: list[Chunk]
    #: The batches after these, as they came: nobody has looked whether they can be read.
    tail: list[bytes]


class History:
    """Batches in the order in which they came, as far back as a bound allows.

    A position counts the batches before it. Positions stay what they are when
    batches are merged, compressed and dropped.

    Parameters
    ----------
    limit
        Attempts that are kept; infinite where all is.
    stacks_since
        Gives the first id of the stacks that may still be used by what comes; see `identity.Stacks`.
    fresh
        Bytes of the newest batches that are left as they came; without it few are.
    unread
        Called, by the thread that merges, with each batch that cannot be read: from then on it is gone.

    Attributes
    ----------
    dropped
        Rows dropped so far, by table.
    turnover
        How many times over what it keeps has been dropped.
    """

    def __init__(
        self,
        limit: float,
        stacks_since: Callable[[], int] = lambda: 0,
        fresh: int | None = None,
        unread: Callable[[Unread], None] = lambda _: None,
    ) -> None:
        self.limit = limit
        self._fresh = fresh
        self._stacks_since = stacks_since
        self._unread = unread
        self.dropped: Counter[str] = Counter()
        self.turnover = 0.0
        self._lock = threading.RLock()
        self._tidying = threading.Lock()
        #: Older parts, then `_tail`, without a gap.
        self._parts: list[Part] = []
        self._tail: list[bytes] = []
        #: Their tables.
        self._names: list[str] = []
        self._tail_start = 0
        self._tail_bytes = 0
        self._attempts = 0
        #: Tasks whose attempts have been dropped since the last sweep.
        self._gone: list[np.ndarray] = []
        self._swept = 0.0
        #: What keeps the newest of so many parts, the oldest.
        self._disk: Spill | None = None
        self._spilled = 0
        #: Parts that had been thinned at the last sweep.
        self._old = 0

    @property
    def end(self) -> int:
        """The position of the next batch."""
        return self._tail_start + len(self._tail)

    @property
    def merged(self) -> int:
        """The position of the first batch that is as it came."""
        return self._tail_start

    @property
    def attempts(self) -> int:
        """Attempts that are kept."""
        return self._attempts

    @property
    def size(self) -> int:
        """Bytes of memory that the batches take."""
        with self._lock:
            return self._tail_bytes + sum(part.size for part in self._parts)

    @property
    def due(self) -> bool:
        """True if it is time to call `tidy`."""
        if self._fresh is not None:
            return self._tail_bytes >= self._fresh + _PIECE
        return len(self._tail) >= _BATCHES + _LEFT or self._tail_bytes >= _BYTES

    def add(self, table: str, batch: bytes) -> None:
        """Add a batch; from any thread."""
        with self._lock:
            self._tail.append(batch)
            self._names.append(table)
            self._tail_bytes += len(batch)
            if table == "attempts":
                self._attempts += announced(batch)[1]

    def since(
        self, at: int, size: int, packed: bool = False
    ) -> tuple[int, int, list[bytes], list[bytes]] | None:
        """Batches from a position on: where they start and stop, and about `size` bytes of them.

        They start at 0 where what is asked for can only be had from the beginning.
        Of the two lists the second comes first: with `packed` the batches that
        are compressed, as they are; without it there are none.
        """
        with self._lock:
            if at >= self.end:
                return None
            parts: list[Part] = []
            if at < self._tail_start:
                place = bisect_right(self._parts, at, key=lambda part: part.start) - 1
                if at > self._parts[place].start and not self._parts[place].whole:
                    at = place = 0
                parts = self._parts[place:]
        start = at
        plain: list[bytes] = []
        compressed: list[bytes] = []
        for part in parts:
            found = part.packed_since(at) if packed else [part.since(at)]
            length = sum(map(len, found))
            if (plain or compressed) and size < length:
                return start, at, plain, compressed
            (compressed if packed else plain).extend(found)
            size -= length
            at = part.stop
        with self._lock:
            # What has been sealed meanwhile is for the next call.
            if at < self._tail_start:
                if at > start:
                    return start, at, plain, compressed
                return self.since(at, size, packed)
            for batch in islice(self._tail, at - self._tail_start, None):
                if (plain or compressed) and size < len(batch):
                    break
                plain.append(batch)
                size -= len(batch)
                at += 1
        return start, at, plain, compressed

    def batches(self) -> Iterator[bytes]:
        """All batches that are kept, as few as there are now."""
        with self._lock:
            parts, tail = list(self._parts), list(self._tail)
        for part in parts:
            for chunk in part.chunks.values():
                yield chunk.batch
        yield from tail

    def rows(self, table: str) -> Rows:
        """The rows of a table that are kept now."""
        with self._lock:
            parts, tail = list(self._parts), self._of(table, self._tail_start)
        return Rows([part.chunks[table] for part in parts if table in part.chunks], tail)

    def since_of(self, table: str, at: int) -> tuple[int, int, Iterator[bytes]]:
        """The batches of a table from a position on, read as they are taken; before them the position after
        them, and how many rows they have at most."""
        with self._lock:
            parts = [part for part in self._parts if part.stop > at and table in part.chunks]
            end, tail = self.end, self._of(table, max(at, self._tail_start))
        rows = sum(part.rows(table) for part in parts) + sum(announced(batch)[1] for batch in tail)
        merged = (part.chunks[table].since(table, at) for part in parts)
        return end, rows, chain(filter(None, merged), tail)

    def beside(self, tables: Container[str]) -> list[bytes]:
        """The batches of other tables than these among those that are as they came."""
        with self._lock:
            return [batch for name, batch in zip(self._names, self._tail, strict=True) if name not in tables]

    def _of(self, table: str, at: int) -> list[bytes]:
        """The batches of a table among those that are as they came, from a position on; the lock is held."""
        first = at - self._tail_start
        names, tail = islice(self._names, first, None), islice(self._tail, first, None)
        return [batch for name, batch in zip(names, tail, strict=True) if name == table]

    def tidy(self) -> None:
        """Merge and compress what is old enough, and drop what is too much; by any thread."""
        with self._tidying:
            if self.due:
                self._seal(_LEFT)
            while self._fresh is not None and self.due:
                self._seal(_LEFT)
            while self._too_much():
                self._drop()
            if self.turnover - self._swept >= _SWEEP:
                self._sweep()

    def seal(self) -> None:
        """Merge and compress all that has come, also the newest; by any thread."""
        with self._tidying:
            while self._tail:
                self._seal(left=0)

    def spill(self, folder: str | None = None) -> None:
        """Have the disk keep what is too much for memory; of a history without a limit, by any thread.

        Parameters
        ----------
        folder
            Where from now on; see `Spill`.

        Raises
        ------
        OSError
            If it takes no more: memory keeps the rest.
        """
        with self._tidying:
            excess = sum(part.size for part in self._parts[self._spilled :]) - _IN_MEMORY
            while excess > 0:
                if self._disk is None or self._disk.folder != folder:
                    self._disk = Spill(folder)
                part = self._parts[self._spilled]
                excess -= part.size
                spilled = part.spilled(self._disk)
                with self._lock:
                    self._parts[self._spilled] = spilled
                self._spilled += 1

    def _seal(self, left: int) -> None:
        with self._lock:
            piece = bisect_right(list(accumulate(map(len, self._tail))), _PIECE)
            count = max(1, min(piece, len(self._tail) - left))
            old = self._tail[:count]
        part, unread = Part.sealed(self._tail_start, old)
        with self._lock:
            self._parts.append(part)
            del self._tail[:count], self._names[:count]
            self._tail_start += count
            self._tail_bytes -= sum(map(len, old))
            for each in unread:
                self.dropped[each.table] += each.rows
        for each in unread:
            self._unread(each)

    def _too_much(self) -> bool:
        whole = [part for part in self._parts if part.whole]
        if len(whole) < 2:
            return False
        enough = self._attempts - whole[0].rows("attempts") >= self.limit
        return enough or sum(part.size for part in whole) > self.limit * _BYTES_OF_ATTEMPT

    def _drop(self) -> None:
        """Thin the oldest part that is whole."""
        place = next(place for place, part in enumerate(self._parts) if part.whole)
        part = self._parts[place]
        kept = sum(each.size for each in self._parts[place:]) or 1
        thin = [*self._parts[:place], part.thinned(_LASTING)]
        if "attempts" in part.chunks:
            attempts = part.chunks["attempts"].columns({"task", "status"})
            self._gone.append(np.asarray(attempts["task"]))
            # Nothing else would tell until the next sweep that they do not wait.
            ended = attempts["task"][is_any(attempts["status"], _ENDED)]
            thin = [each.without_order(ended) for each in thin]
        with self._lock:
            self._parts[: place + 1] = thin
            self._attempts -= part.rows("attempts")
            self.turnover += part.size / kept
            for table, chunk in part.chunks.items():
                if table not in _LASTING:
                    self.dropped[table] += chunk.rows

    def _sweep(self) -> None:
        """Forget what nothing that is kept needs any more, and join thinned parts."""
        self._swept = self.turnover
        # Asked first: what comes meanwhile is newer.
        stacks_since = self._stacks_since()
        with self._lock:
            old = [part for part in self._parts if not part.whole]
            later = needed.Later([part for part in self._parts if part.whole], list(self._tail))
        tasks = [*later.columns("attempts", "task"), *later.columns("running", "task")]
        kept = np.unique(needed.together(tasks, "task"))
        gone = np.setdiff1d(np.concatenate([np.empty(0, "u4"), *self._gone]), kept)
        self._gone = []
        thin = needed.without_former(needed.without_replaced(old, later))
        before = {table: sum(part.rows(table) for part in thin) for table in _LASTING}
        thin = [part.without_tasks(gone) for part in thin]
        known = sum(part.rows("graph") for part in thin)
        if known > self.limit * _NAMES:
            thin = needed.without_names(thin, int(known - self.limit * _NAMES), kept, later)
        thin = needed.without_submissions(thin, self._old, later)
        thin = needed.without_functions(thin, self._old, later)
        thin = needed.without_spans(thin, self._old, later)
        thin = needed.without_left(thin, self._old, later)
        if stacks_since:
            thin = needed.without_stacks(thin, stacks_since, later)
        thin = needed.without_lines(thin, later)
        thin = _joined(thin)
        with self._lock:
            for table, rows in before.items():
                self.dropped[table] += rows - sum(part.rows(table) for part in thin)
            self._parts[: len(old)] = thin
            self._old = len(thin)


def _joined(parts: list[Part]) -> list[Part]:
    """Parts, small ones that follow on each other joined."""
    joined: list[Part] = []
    for part in parts:
        if joined and joined[-1].size + part.size <= _JOINED:
            joined[-1] = joined[-1].joined(part)
        else:
            joined.append(part)
    return joined
