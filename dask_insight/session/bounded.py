"""A recording that keeps only so much of what has come."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import chain
from typing import Any

from ..batch import Batch, Values, announced, decode
from ..columns import Columns, Gathered, gather, merge, newest
from ..heap import give_back_between
from ..history import Chunk, History
from ..recording import Recording
from ..schema import TABLES
from ..store import Piece
from .audience import Audience


class _Columns(Gathered):
    """The columns of a table, of which most are put together when somebody looks at them.

    Texts take more than all else, as keys of tasks do, and few are looked at. Of the others, those are put
    together at once that somebody has looked at before; the first time all.

    Parameters
    ----------
    looked
        Names of columns by table, to which those are added that somebody looks at.
    """

    def __init__(
        self, table: str, chunks: list[Chunk], tail: list[bytes], looked: dict[str, set[str]]
    ) -> None:
        self._table, self._chunks, self._tail = table, chunks, tail
        self._columns = {column.name: column for column in TABLES[table].columns}
        numbers = {name for name, column in self._columns.items() if column.kind != "str"}
        self._at_once = frozenset(looked.get(table, numbers))
        self._looked = looked.setdefault(table, set())
        self._known: dict[str, Values] = {}

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(chunk.rows for chunk in self._chunks) + sum(announced(batch)[1] for batch in self._tail)

    def gather(self, names: Collection[str]) -> None:
        """Put some together at once."""
        # Another thread may have all be forgotten meanwhile.
        known = self._known
        if wanted := set(names) - set(known):
            known.update(self._merged(wanted))

    def forget(self, names: Collection[str] | None = None) -> None:
        """Let go of some, or of all."""
        gone = set(self._columns if names is None else names)
        self._known = {name: values for name, values in self._known.items() if name not in gone}
        self._at_once -= gone
        if names is None:
            give_back_between()

    def _merged(self, wanted: Collection[str]) -> dict[str, Values]:
        read = self._needed(wanted)
        older = (Batch(self._table, chunk.rows, chunk.columns(read)) for chunk in self._chunks)
        newer = (decode(batch, read) for batch in self._tail)
        return merge(self._table, chain(older, newer), self.rows, wanted)

    def __getitem__(self, name: str) -> Values:
        if self._columns[name].kind != "str":
            self._looked.add(name)
        known = self._known
        if name not in known:
            known.update(self._merged({name} if known else {name, *self._at_once}))
        return known[name]

    def text(self, name: str, row: int) -> str:
        """The text of one row; only what came with it is read."""
        if (known := self._known.get(name)) is not None:
            texts: Any = known
            return str(texts[row])
        for chunk in self._chunks:
            if row < chunk.rows:
                return self._text(chunk.batch, name, row)
            row -= chunk.rows
        for batch in self._tail:
            if row < (rows := announced(batch)[1]):
                return self._text(batch, name, row)
            row -= rows
        raise IndexError(row)

    def _text(self, batch: bytes, name: str, row: int) -> str:
        part = decode(batch, self._needed({name}))
        texts: Any = merge(self._table, [part], part.rows, {name})[name]
        return str(texts[row])

    def _needed(self, names: Collection[str]) -> set[str]:
        """These columns and those that they refer to."""
        found = set(names)
        while more := {self._columns[name].since for name in found} - {""} - found:
            found |= more
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __len__(self) -> int:
        return len(self._columns)


class BoundedRecording(Recording):
    """A recording of the last so many attempts, and of all else since the first of them.

    Its memory is bounded: old batches are merged and compressed, the oldest
    dropped. `tidy` does that; somebody has to call it.

    Parameters
    ----------
    limit
        Attempts that are kept.
    untidy
        Called, from any thread, when it is time for `tidy`.
    came
        Called, from any thread, when somebody begins to look on.

    Attributes
    ----------
    audience
        Those who show it tell it whether somebody looks on.
    """

    def __init__(
        self,
        limit: int,
        untidy: Callable[[], None] = lambda: None,
        came: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__()
        self.audience = Audience(came)
        self.history = History(limit, lambda: self.identity.stacks.since)
        self._tell_untidy = untidy
        self._cache: dict[str, tuple[Any, Columns]] = {}
        self._looked: dict[str, set[str]] = {}

    def since(self, at: int, size: int, packed: bool = False) -> Piece | None:
        """The batches from a position on; from 0 where they can only be had from the beginning."""
        found = self.history.since(at, size, packed)
        if found is None:
            return None
        start, stop, plain, compressed = found
        return Piece(start, stop, b"".join(plain), tuple(compressed))

    def columns(self, table: str) -> Columns:
        """A table's columns over all that is kept, as NumPy arrays; see `schema`.

        Texts are read when somebody looks at them.

        Raises
        ------
        KeyError
            If there is no such table.
        """
        stamp = (self.history.end, self.history.turnover)
        if (cached := self._cache.get(table)) is not None and cached[0] == stamp:
            return cached[1]
        rows = self.history.rows(table)
        tail = [batch for batch in rows.tail if any(self._decoded([batch]))]
        columns = newest(table, _Columns(table, rows.chunks, tail, self._looked))
        self._cache = {name: kept for name, kept in self._cache.items() if kept[0] == stamp}
        self._cache[table] = (stamp, columns)
        return columns

    def picked(self, table: str, names: Collection[str]) -> Columns:
        """Some columns of a table, out of those that are put together already where they are."""
        columns = self.columns(table)
        gather(columns, names)
        return {name: columns[name] for name in names}

    def forget(self) -> None:
        """Let go of columns that were put together, or worked out, for who read them last."""
        self._cache = {}
        self._answers.forget()

    def tidy(self) -> None:
        """Merge, compress and drop what is due."""
        self.history.tidy()

    def _untidy(self) -> None:
        self._tell_untidy()
