"""A recording that keeps only so much of what has come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..batch import Batch, Values, announced
from ..columns import merge, newest
from ..history import History
from ..recording import Recording
from ..store import Piece
from .audience import Audience


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
        self._untidy = untidy
        self._cache: dict[str, tuple[Any, dict[str, Values]]] = {}

    @property
    def turnover(self) -> float:
        """How many times over what it keeps has been dropped."""
        return self.history.turnover

    @property
    def end(self) -> int:
        """Number of batches that have come: the position of the next one."""
        return self.history.end

    def since(self, at: int, size: int, packed: bool = False) -> Piece | None:
        """The batches from a position on; from 0 where they can only be had from the beginning."""
        found = self.history.since(at, size, packed)
        if found is None:
            return None
        start, stop, plain, compressed = found
        return Piece(start, stop, b"".join(plain), tuple(compressed))

    def batches(self) -> list[bytes]:
        """All batches that are kept."""
        return list(self.history.batches())

    def columns(self, table: str) -> dict[str, Values]:
        """A table's columns over all that is kept, as NumPy arrays; see `schema`.

        Raises
        ------
        KeyError
            If there is no such table.
        """
        stamp = (self.history.end, self.history.turnover)
        if (cached := self._cache.get(table)) is not None and cached[0] == stamp:
            return cached[1]
        batches = list(self.history.batches(table))
        rows = sum(announced(batch)[1] for batch in batches)
        columns = newest(table, merge(table, self._decoded(Batch(table, 0, {}), batches), rows))
        self._cache = {name: kept for name, kept in self._cache.items() if kept[0] == stamp}
        self._cache[table] = (stamp, columns)
        return columns

    def forget(self) -> None:
        """Let go of columns that were put together for who read them last."""
        self._cache = {}

    def tidy(self) -> None:
        """Merge, compress and drop what is due."""
        self.history.tidy()

    def _keep(self, table: str, batch: bytes) -> None:
        self.history.add(table, batch)
        if self.history.due:
            self._untidy()
