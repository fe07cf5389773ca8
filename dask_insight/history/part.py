"""Batches of some time, merged by table and compressed."""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..batch import Batch, BatchError, Symbols, Values, announced, decode, encode
from ..columns import merge, take
from ..schema import NOTHING, TABLES
from .spill import Spill, Spilled

_LEVEL = 1


class Chunk(NamedTuple):
    """Rows of one table that came in several batches, as one compressed batch."""

    rows: int
    kept: bytes | Spilled
    #: Position of each batch, and the rows that were there when it had come; empty where that is forgotten.
    positions: array[int]
    ends: array[int]

    @classmethod
    def of(cls, table: str, columns: dict[str, Values], positions: array[int], ends: array[int]) -> Chunk:
        """Compress the columns of a table."""
        batch = encode(table, columns)
        return cls(announced(batch)[1], zlib.compress(batch, _LEVEL), positions, ends)

    @property
    def packed(self) -> bytes:
        """The rows as a compressed batch."""
        return self.kept.read() if isinstance(self.kept, Spilled) else self.kept

    @property
    def size(self) -> int:
        """Bytes of memory that the rows take."""
        return 0 if isinstance(self.kept, Spilled) else len(self.kept)

    def spilled(self, spill: Spill) -> Chunk:
        """The same, kept by the disk; see `Spill.add`."""
        return self._replace(kept=spill.add(self.packed))

    @property
    def batch(self) -> bytes:
        """The rows as a batch."""
        return zlib.decompress(self.packed)

    def columns(self, only: Collection[str] | None = None) -> dict[str, Any]:
        """The rows as columns, those that the batches had, or `only` some; see `decode`."""
        return decode(self.batch, only).columns

    def since(self, table: str, at: int) -> bytes:
        """The rows of the batches from a position on, as a batch; b'' if there are none."""
        before = bisect_left(self.positions, at)
        first = self.ends[before - 1] if before else 0
        if first == 0:
            return self.batch
        if first == self.rows:
            return b""
        return encode(
            table, {name: take(values, slice(first, None)) for name, values in self.columns().items()}
        )


class Unread(NamedTuple):
    """A batch that cannot be read."""

    table: str
    position: int
    rows: int
    #: Bytes of it.
    size: int
    why: str


class Part:
    """The batches from position `start` up to `stop`.

    Attributes
    ----------
    whole
        False where only what is needed to understand later parts is left.
    chunks
        By table, in the order of the schema.
    size
        Bytes of memory that it takes.
    waiting
        The first and the last task of a thinned part that may still wait; None if none does.
    """

    def __init__(
        self,
        start: int,
        stop: int,
        chunks: dict[str, Chunk],
        whole: bool = True,
        waiting: tuple[int, int] | None = None,
    ) -> None:
        self.start = start
        self.stop = stop
        self.chunks = chunks
        self.whole = whole
        self.waiting = waiting
        self.size = sum(chunk.size for chunk in chunks.values())

    @classmethod
    def sealed(cls, start: int, batches: Sequence[bytes]) -> tuple[Part, list[Unread]]:
        """Merge batches; also gives those that could not be read."""
        by_table: defaultdict[str, list[tuple[int, bytes]]] = defaultdict(list)
        for position, batch in enumerate(batches, start):
            by_table[announced(batch)[0]].append((position, batch))
        unread: list[Unread] = []
        chunks = {}
        for table in sorted(by_table, key=_place):
            chunk, lost = _merged(table, by_table[table])
            unread += lost
            if chunk is not None:
                chunks[table] = chunk
        return cls(start, start + len(batches), chunks), unread

    def since(self, at: int) -> bytes:
        """The batches from a position on, one after another."""
        if at <= self.start:
            return b"".join(chunk.batch for chunk in self.chunks.values())
        return b"".join(chunk.since(table, at) for table, chunk in self.chunks.items())

    def packed_since(self, at: int) -> list[bytes]:
        """The same, compressed, in one or more pieces."""
        if at <= self.start:
            return [chunk.packed for chunk in self.chunks.values()]
        rest = self.since(at)
        return [zlib.compress(rest, _LEVEL)] if rest else []

    def rows(self, table: str) -> int:
        """Rows of a table."""
        return self.chunks[table].rows if table in self.chunks else 0

    def thinned(self, kept: Iterable[str]) -> Part:
        """Only these tables."""
        chunks = {table: _plain(chunk) for table, chunk in self.chunks.items() if table in kept}
        waiting = None
        if "graph" in chunks:
            waiting = _waiting(chunks["graph"].columns({"task", "order"}))
        return Part(self.start, self.stop, chunks, whole=False, waiting=waiting)

    def spilled(self, spill: Spill) -> Part:
        """The same, kept by the disk; see `Spill.add`."""
        chunks = {table: chunk.spilled(spill) for table, chunk in self.chunks.items()}
        return Part(self.start, self.stop, chunks, self.whole, self.waiting)

    def where(self, table: str, column: str, wanted: Callable[[Any], np.ndarray]) -> Part:
        """Of a table only those rows of whose values in a column this tells that they are wanted."""
        values = self.chunks[table].columns({column}).get(column) if table in self.chunks else None
        if values is None or (mask := wanted(values)).all():
            return self
        chunks = dict(self.chunks)
        kept = {name: _taken(each, mask) for name, each in chunks.pop(table).columns().items()}
        if mask.any():
            chunks[table] = Chunk.of(table, kept, array("Q"), array("I"))
        chunks = {name: chunks[name] for name in self.chunks if name in chunks}
        return Part(self.start, self.stop, chunks, self.whole, self.waiting)

    def without_tasks(self, tasks: np.ndarray) -> Part:
        """Without the rows of `graph` and `edges` that these tasks have."""

        def others(task: Any) -> np.ndarray:
            return np.isin(task, tasks, invert=True)

        return self.where("graph", "task", others).where("edges", "task", others)

    def without_order(self, tasks: np.ndarray) -> Part:
        """Where `graph` tells of these tasks that they are not to run."""
        if "graph" not in self.chunks or self.waiting is None:
            return self
        first, last = self.waiting
        tasks = tasks[(tasks >= first) & (tasks <= last)]
        if not len(tasks):
            return self
        chunk = self.chunks["graph"]
        told = chunk.columns({"task", "order"})
        order = _order(told)
        ended = np.isin(told["task"], tasks) & (order != NOTHING)
        if not ended.any():
            return self
        columns = {**chunk.columns(), "order": np.where(ended, NOTHING, order)}
        graph = Chunk.of("graph", columns, array("Q"), array("I"))
        return Part(
            self.start, self.stop, {**self.chunks, "graph": graph}, self.whole, waiting=_waiting(columns)
        )

    def joined(self, other: Part) -> Part:
        """This part and the next one, where it is forgotten which batch brought what."""
        tables = sorted({*self.chunks, *other.chunks}, key=_place)
        chunks = {}
        for table in tables:
            both = [part.chunks[table] for part in (self, other) if table in part.chunks]
            if len(both) == 1:
                chunks[table] = both[0]
                continue
            rows = sum(chunk.rows for chunk in both)
            columns = merge(table, (Batch(table, chunk.rows, chunk.columns()) for chunk in both), rows)
            chunks[table] = Chunk.of(table, columns, array("Q"), array("I"))
        ends = [*(self.waiting or ()), *(other.waiting or ())]
        waiting = (min(ends), max(ends)) if ends else None
        return Part(self.start, other.stop, chunks, whole=False, waiting=waiting)


def _merged(table: str, batches: Sequence[tuple[int, bytes]]) -> tuple[Chunk | None, list[Unread]]:
    """One chunk of a table's batches, and those that cannot be read."""
    decoded, positions, ends = [], array("Q"), array("I")
    rows, lost = 0, list[Unread]()
    for position, batch in batches:
        try:
            read = decode(batch)
            if table not in TABLES:
                raise BatchError("unknown table")
        except BatchError as error:
            lost.append(Unread(table, position, announced(batch)[1], len(batch), str(error)))
            continue
        decoded.append(read)
        rows += read.rows
        positions.append(position)
        ends.append(rows)
    if not rows:
        return None, lost
    names = {name for batch in decoded for name in batch.columns}
    columns = {name: values for name, values in merge(table, _each(decoded), rows).items() if name in names}
    return Chunk.of(table, columns, positions, ends), lost


def _order(graph: dict[str, Any]) -> np.ndarray:
    """The column of ``graph``; batches may lack it."""
    return np.asarray(graph.get("order", np.zeros(len(graph["task"]), "u4")))


def _waiting(graph: dict[str, Any]) -> tuple[int, int] | None:
    """The first and the last task that ``graph`` tells is to run."""
    tasks = graph["task"][_order(graph) != NOTHING]
    return (int(tasks.min()), int(tasks.max())) if len(tasks) else None


def _taken(values: Values, mask: np.ndarray) -> Values:
    """The rows where a mask is true, without names that none of them has."""
    rows = take(values, mask)
    if not isinstance(rows, Symbols):
        return rows
    used, codes = np.unique(rows.codes, return_inverse=True)
    return Symbols(codes.astype("u4").reshape(-1), [rows.names[code] for code in used.tolist()])


def _each(decoded: list[Batch]) -> Iterator[Batch]:
    yield from decoded


def _plain(chunk: Chunk) -> Chunk:
    return chunk._replace(positions=array("Q"), ends=array("I"))


def _place(table: str) -> int:
    return _ORDER.get(table, len(_ORDER))


_ORDER = {table: place for place, table in enumerate(TABLES)}
