"""What is kept of a recording that does not end."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..batch import BatchError, announced, decode
from .part import Chunk, Part

#: Batches and bytes after which they are merged and compressed.
_BATCHES = 256
_BYTES = 2**20
#: The newest batches are left as they are, for most readers stand there.
_LEFT = 32
#: Compressed bytes of history for each attempt that may be kept: the bound where little but samples comes.
_BYTES_OF_ATTEMPT = 150
#: Tables without which later rows could not be understood; kept as long as they are needed.
_LASTING = (
    *("about", "graph", "edges", "stacks", "workers", "spans", "submissions", "cells"),
    *("functions", "fused", "lines"),
)
#: Tasks that are known by name, for each attempt that may be kept.
_NAMES = 5
#: Turnover after which it is looked through for names that nothing needs any more.
_SWEEP = 0.5
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
        Attempts that are kept.
    stacks_since
        Gives the first id of the stacks that may still be used by what comes; see `identity.Stacks`.

    Attributes
    ----------
    dropped
        Rows dropped so far, by table.
    turnover
        How many times over what it keeps has been dropped.
    """

    def __init__(self, limit: int, stacks_since: Callable[[], int] = lambda: 0) -> None:
        self.limit = limit
        self._stacks_since = stacks_since
        self.dropped: Counter[str] = Counter()
        self.turnover = 0.0
        self._lock = threading.RLock()
        self._tidying = threading.Lock()
        #: Older parts, then `_tail`, without a gap.
        self._parts: list[Part] = []
        self._tail: list[bytes] = []
        self._tail_start = 0
        self._tail_bytes = 0
        self._attempts = 0
        #: Tasks whose attempts have been dropped since the last sweep.
        self._gone: list[np.ndarray] = []
        self._swept = 0.0

    @property
    def end(self) -> int:
        """The position of the next batch."""
        return self._tail_start + len(self._tail)

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
        return len(self._tail) >= _BATCHES + _LEFT or self._tail_bytes >= _BYTES

    def add(self, table: str, batch: bytes) -> None:
        """Add a batch; from any thread."""
        with self._lock:
            self._tail.append(batch)
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
            parts, tail = list(self._parts), list(self._tail)
        chunks = [part.chunks[table] for part in parts if table in part.chunks]
        return Rows(chunks, [batch for batch in tail if announced(batch)[0] == table])

    def tidy(self) -> None:
        """Merge and compress what is old enough, and drop what is too much; by any thread."""
        with self._tidying:
            if self.due:
                self._seal()
            while self._too_much():
                self._drop()
            if self.turnover - self._swept >= _SWEEP:
                self._sweep()

    def _seal(self) -> None:
        with self._lock:
            count = max(1, len(self._tail) - _LEFT)
            old = self._tail[:count]
        part, unread = Part.sealed(self._tail_start, old)
        with self._lock:
            self._parts.append(part)
            del self._tail[:count]
            self._tail_start += count
            self._tail_bytes -= sum(map(len, old))
            self.dropped.update(unread)

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
        if "attempts" in part.chunks:
            self._gone.append(np.asarray(part.chunks["attempts"].columns()["task"]))
        thin = part.thinned(_LASTING)
        with self._lock:
            self._parts[place] = thin
            self._attempts -= part.rows("attempts")
            self.turnover += part.size / kept
            for table, chunk in part.chunks.items():
                if table not in thin.chunks:
                    self.dropped[table] += chunk.rows

    def _sweep(self) -> None:
        """Forget names of tasks without an attempt and stacks without a sample, and join thinned parts."""
        self._swept = self.turnover
        needed = [np.asarray(part.chunks["attempts"].columns()["task"]) for part in self._whole("attempts")]
        gone: Any = np.unique(np.concatenate([*self._gone, np.empty(0, "u4")]))
        gone = np.setdiff1d(gone, np.concatenate([*needed, np.empty(0, "u4")]), assume_unique=False)
        self._gone = []
        thin: list[Part] = []
        old = [part for part in self._parts if not part.whole]
        for part in old:
            part = part.without_tasks(gone)
            if thin and thin[-1].size + part.size <= _JOINED:
                thin[-1] = thin[-1].joined(part)
            else:
                thin.append(part)
        self._forget_names(thin)
        self._forget_stacks(thin)
        with self._lock:
            for table in _LASTING:
                before, now = (sum(part.rows(table) for part in parts) for parts in (old, thin))
                self.dropped[table] += before - now
            self._parts[: len(old)] = thin

    def _forget_stacks(self, thin: list[Part]) -> None:
        """Drop stacks that no sample has, of those that will not come again."""
        since = self._stacks_since()
        if not since or not any("stacks" in part.chunks for part in thin):
            return
        with self._lock:
            parts, tail = [*thin, *(part for part in self._parts if part.whole)], list(self._tail)
        samples = [_stacks_of(part.chunks["samples"].batch) for part in self._whole("samples")]
        samples += [_stacks_of(batch) for batch in tail if announced(batch)[0] == "samples"]
        stacks = [part.chunks["stacks"].columns() for part in parts if "stacks" in part.chunks]
        stack, parent = (np.concatenate([each[name] for each in stacks]) for name in ("stack", "parent"))
        needed = np.unique(np.concatenate([np.empty(0, "u4"), *samples, parent[stack >= since]]))
        more = needed
        while len(more):
            more = np.setdiff1d(parent[np.isin(stack, more)], needed)
            needed = np.union1d(needed, more)
        for place, part in enumerate(thin):
            thin[place] = part.without_stacks(since, needed)

    def _whole(self, table: str) -> list[Part]:
        return [part for part in self._parts if part.whole and table in part.chunks]

    def _forget_names(self, thin: list[Part]) -> None:
        """Drop the oldest names, of tasks that have not run, where there are too many."""
        known = sum(part.rows("graph") for part in thin)
        for place, part in enumerate(thin):
            if known <= self.limit * _NAMES:
                return
            known -= part.rows("graph")
            thin[place] = part.thinned([table for table in _LASTING if table not in ("graph", "edges")])


def _stacks_of(samples: bytes) -> np.ndarray:
    """The stacks of a batch of samples; none if it cannot be read."""
    try:
        return np.asarray(decode(samples).columns.get("stack", np.empty(0, "u4")))
    except BatchError:
        return np.empty(0, "u4")
