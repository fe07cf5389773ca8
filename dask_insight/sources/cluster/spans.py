"""The spans that have something in the recording; a scheduler remembers all that it ever had."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from time import monotonic
from typing import Any

from ...batch import encode
from ...options import Emit

#: Id, name from the outermost part on, id of the parent.
Span = tuple[str, tuple[str, ...], str]

#: Seconds without anything new in a span after which it is told again, for a recording may have forgotten it.
_QUIET = 2.0
#: Spans that are remembered, those that came or were used last.
_KEPT = 10_000


class Spans:
    """Emits spans, and those around them, when they are known and something is in them, or is again.

    The scheduler tells of a span, and of those around it, with all that is in it, so those that were left
    alone for long may be forgotten.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._known: OrderedDict[str, Span] = OrderedDict()
        #: When each was used last.
        self._used: OrderedDict[str, float] = OrderedDict()
        self._told: set[str] = set()

    def known(self, spans: Iterable[Span]) -> None:
        """The scheduler has told of spans."""
        found = {span[0]: span for span in spans}
        for one, span in found.items():
            self._known[one] = span
            self._known.move_to_end(one)
        self._tell(one for one in found if one in self._used)
        self._forget(self._known)

    def used(self, spans: Iterable[str]) -> None:
        """Something of these spans is in the recording; '' is none."""
        now, used = monotonic(), set(spans) - {""}
        for one in used:
            if now - self._used.get(one, now) > _QUIET:
                self._tell_again(one)
            self._used[one] = now
            self._used.move_to_end(one)
        self._tell(used)
        self._forget(self._used)

    def _forget(self, kept: OrderedDict[str, Any]) -> None:
        while len(kept) > _KEPT:
            self._told.discard(kept.popitem(last=False)[0])

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
