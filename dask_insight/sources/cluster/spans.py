"""The spans that have something in the recording; a scheduler remembers all that it ever had."""

from __future__ import annotations

from collections.abc import Iterable

from ...batch import encode
from ...options import Emit

#: Id, name from the outermost part on, id of the parent.
Span = tuple[str, tuple[str, ...], str]


class Spans:
    """Emits spans, and those around them, once they are known and something is in them."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._known: dict[str, Span] = {}
        self._used: set[str] = set()
        self._told: set[str] = set()

    def known(self, spans: Iterable[Span]) -> None:
        """The scheduler has told of spans."""
        self._known.update((span[0], span) for span in spans)
        self._tell(self._used - self._told)

    def used(self, spans: Iterable[str]) -> None:
        """Something of these spans is in the recording; '' is none."""
        new = set(spans) - self._used - {""}
        self._used |= new
        self._tell(new)

    def _tell(self, wanted: Iterable[str]) -> None:
        found: list[Span] = []
        for one in wanted:
            while one in self._known and one not in self._told:
                self._told.add(one)
                found.append(self._known[one])
                one = self._known[one][2]
        if found:
            columns = {
                "span": [span for span, _, _ in found],
                "name": [name[-1] for _, name, _ in found],
                "parent": [parent for _, _, parent in found],
                "path": [" / ".join(name) for _, name, _ in found],
            }
            self._emit(encode("spans", columns))
