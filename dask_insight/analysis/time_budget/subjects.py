"""What each piece of time was for: function, span, submission."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...batch import Symbols
from ...lookup import distinct, pick
from ...schema import NOTHING
from ...timeline import Read
from .parts import CODE, Pieces

#: Dask's name for the span of a computation that stands in none of the person's.
_DEFAULT = "default"


class Subjects(NamedTuple):
    """One row for each combination that there is; the first is that of nothing."""

    function: list[str]
    span: list[str]
    submission: np.ndarray
    #: Row of this table for each attempt, and for none; the other for time without tasks.
    task: np.ndarray
    nameless: np.ndarray

    def of(self, pieces: Pieces) -> np.ndarray:
        """Row of this table for each piece."""
        rows = self.nameless if pieces.part == CODE["client"] else self.task
        found: np.ndarray = rows[pieces.row]
        return found


def subjects(read: Read, described: np.ndarray, pieces: Sequence[Pieces]) -> Subjects:
    """Find what each piece of time was for, or waited for.

    Time without tasks has no function, but the span and the submission that ended it.

    Parameters
    ----------
    described
        Row in ``graph`` of each attempt; -1 if it has none.
    """
    graph: Mapping[str, Any] = read("graph")
    prefix, span = (_filled(pick(graph[name], described)) for name in ("prefix", "span"))
    # One more than the number; `NOTHING` is the largest, and so becomes 0.
    submission = pick(graph["submission"], described) + np.uint32(1)
    submission[described < 0] = 0
    widths = (len(prefix.names), len(span.names), int(submission.max(initial=0)) + 1)
    size = widths[0] * widths[1] * widths[2]
    code = prefix.codes.astype("i4" if size < 1 << 31 else "i8")
    for width, more in ((widths[1], span.codes), (widths[2], submission)):
        code *= width
        code += more
    nothing = np.array([(prefix.names.index("") * widths[1] + span.names.index("")) * widths[2]], code.dtype)
    nameless = code % (widths[1] * widths[2]) + prefix.names.index("") * widths[1] * widths[2]
    known, place = distinct(np.concatenate((code, nothing, nameless, nothing)), size)
    told = Subjects([], [], np.zeros(0, "u4"), *np.split(place.astype("i4", copy=False), 2))
    used = np.zeros(len(known), bool)
    for each in pieces:
        used[told.of(each)] = True
    known, place = known[used], (np.cumsum(used, dtype="i4") - 1)
    names, rest = np.divmod(known, widths[1] * widths[2])
    spans, numbers = np.divmod(rest, widths[2])
    return Subjects(
        [prefix.names[each] for each in names.tolist()],
        [span.names[each] for each in spans.tolist()],
        np.where(numbers == 0, np.uint32(NOTHING), numbers - 1).astype("u4"),
        place[told.task],
        place[told.nameless],
    )


def _filled(symbols: Symbols) -> Symbols:
    """With '' among its names."""
    return symbols if "" in symbols.names else Symbols(symbols.codes, [*symbols.names, ""])


def by_line(read: Read, about: Subjects) -> tuple[Subjects, np.ndarray, np.ndarray]:
    """Give each subject two others, of the first computation of its line: without its task name and with it.

    Returns
    -------
    Subjects, array, array
        All of them, the new ones after the others; and the rows of each given one's others.
    """
    first, alone = _lines(read)
    table = read("spans")
    own = {
        span
        for span, path in zip(table["span"].tolist(), table["path"].tolist(), strict=True)
        if path != _DEFAULT
    }
    rows: dict[tuple[str, str, int], int] = {}
    others = np.empty((2, len(about.function)), "i4")
    given = zip(about.function, about.span, about.submission.tolist(), strict=True)
    for row, (function, span, submission) in enumerate(given):
        told = (span if span in own or submission in alone else "", first.get(submission, submission))
        for kind, name in enumerate(("", function)):
            others[kind, row] = rows.setdefault((name, *told), len(about.function) + len(rows))
    known = about._replace(
        function=[*about.function, *(name for name, _, _ in rows)],
        span=[*about.span, *(span for _, span, _ in rows)],
        submission=np.append(about.submission, np.array([number for *_, number in rows], "u4")),
    )
    return known, others[0], others[1]


def _lines(read: Read) -> tuple[dict[int, int], set[int]]:
    """The first submission of the line and cell of each; those that are the only one of theirs."""
    table = read("submissions")
    places = zip(table["file"].tolist(), table["line"].tolist(), table["execution"].tolist(), strict=True)
    begun: dict[tuple[str, int, int], int] = {}
    first: dict[int, int] = {}
    for number, place in zip(table["submission"].tolist(), places, strict=True):
        first[number] = begun.setdefault(place, number)
    many = Counter(first.values())
    return first, {number for number, others in first.items() if many[others] == 1}
