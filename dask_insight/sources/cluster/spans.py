"""The spans that have something in the recording; a scheduler remembers all that it ever had."""

from __future__ import annotations

from collections.abc import Iterable
from time import monotonic

from ...batch import encode
from ...options import Emit

#: Id, name from the outermost part on, id of the parent.
Span = tuple[str, tuple[str, ...], str]

#: Seconds without anything new in a span after which it is told again, for a recording may have forgotten it.
_QUIET = 2.0


class Spans:
    """Emits spans, and those around them, when they are known and something is in them, or is again."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._known: dict[str, Span] = {}
        #: When each was used last.
        self._used: dict[str, float] = {}
        self._told: set[str] = set()

    def known(self, spans: Iterable[Span]) -> None:
        """The scheduler has told of spans."""
        self._known.update((span[0], span) for span in spans)
        self._tell(self._used.keys() - self._told)

    def used(self, spans: Iterable[str]) -> None:
        """Something of these spans is in the recording; '' is none."""
        now, used = monotonic(), set(spans) - {""}
        for one in used:
            if now - self._used.get(one, now) > _QUIET:
                self._tell_again(one)
            self._used[one] = now
        self._tell(used)

    def _tell_again(self, one: str) -> None:
        while one in self._told:
            self._told.remove(one)
            one = self._known[one][2]

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
