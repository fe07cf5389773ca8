"""What parts that have been thinned still have to tell, for what is kept and what may come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import compress
from typing import Any

import numpy as np

from ..batch import BatchError, announced, decode
from ..lookup import is_any
from ..schema import NOTHING, REPLACED
from .part import Part

#: Columns by which a worker is there, the shortest tables first; what else names it came at the same times.
_NAMING = {
    "memory": ("worker",),
    "resources": ("process",),
    "running": ("worker",),
    "executions": ("worker",),
    "attempts": ("worker",),
    "transfers": ("worker", "peer"),
    "gauges": ("worker",),
}
#: Tables that point to lines of source code, and the columns in which their numbers stand.
_POINTING = {"functions": ("line",), "submissions": ("line",), "stacks": ("first_line", "line")}
#: Tables that tell of names of ``graph``, and the column that has these in both.
_NAMED = {"functions": "prefix", "fused": "group"}
#: Rows of each of these that are kept though no task has their name: it may come again, and is told of once.
_RETURNING = 2_000
_NONE = np.empty(0, "u4")


class Later:
    """What has come after the thinned parts, and is kept whole.

    Parameters
    ----------
    parts
        Parts, the oldest first.
    tail
        The batches after these, of which some may be unreadable.
    """

    def __init__(self, parts: Sequence[Part], tail: Sequence[bytes]) -> None:
        self._parts, self._tail = parts, tail

    def columns(self, table: str, *names: str) -> Iterator[dict[str, Any]]:
        """Some columns of a table, in several pieces."""
        yield from columns(self._parts, table, *names)
        for batch in self._tail:
            if announced(batch)[0] == table:
                try:
                    yield decode(batch, names).columns
                except BatchError:
                    continue


def columns(parts: Sequence[Part], table: str, *names: str) -> Iterator[dict[str, Any]]:
    """Some columns of a table, a piece for each part that has any."""
    return (part.chunks[table].columns(names) for part in parts if table in part.chunks)


def together(pieces: Iterable[dict[str, Any]], name: str) -> np.ndarray:
    """A column of ids; pieces may lack it."""
    return np.concatenate([_NONE, *(piece[name] for piece in pieces if name in piece)])


def without_replaced(thin: list[Part], later: Later) -> list[Part]:
    """Leave out rows that later ones of the same thing have replaced."""
    for table, about in REPLACED.items():
        if not any(table in part.chunks for part in thin):
            continue
        seen = {each for piece in later.columns(table, about) for each in piece[about].tolist()}
        newest = partial(_newest, seen=seen)
        thin = [part.where(table, about, newest) for part in reversed(thin)][::-1]
    return thin


def without_former(thin: list[Part]) -> list[Part]:
    """Of each number that a worker tells of itself leave the last: so it is until another one is told.

    Of workers that have left nothing is left.
    """
    gone = set(_left(thin))
    seen: set[Any] = set()

    def shortened(part: Part) -> Part:
        if "gauges" not in part.chunks:
            return part
        told = part.chunks["gauges"].columns(("worker", "name"))
        workers = told["worker"].tolist()
        mask = _last_of(list(zip(workers, told["name"].tolist(), strict=True)), seen)
        mask &= [worker not in gone for worker in workers]
        return part.where("gauges", "name", lambda _: mask)

    return [shortened(part) for part in reversed(thin)][::-1]


def without_left(thin: list[Part], old: int, later: Later) -> list[Part]:
    """Leave out workers that have left and that nothing names any more, in the first `old` parts.

    Those that left later may still be told of.
    """
    gone = set(_left(thin[:old]))
    for table, names in _NAMING.items():
        if not gone:
            return thin
        for piece in later.columns(table, *names):
            gone.difference_update(*map(_names, piece.values()))
    older = [part.where("workers", "worker", lambda each: ~is_any(each, gone)) for part in thin[:old]]
    return older + thin[old:]


def _left(thin: Sequence[Part]) -> Iterator[str]:
    """The workers of which it is told that they have left."""
    for piece in columns(thin, "workers", "worker", "left"):
        if "left" in piece:
            yield from compress(piece["worker"].tolist(), ~np.isnan(piece["left"]))


def _newest(column: Any, seen: set[Any]) -> np.ndarray:
    return _last_of(column.tolist(), seen)


def _last_of(values: list[Any], seen: set[Any]) -> np.ndarray:
    """Which values are neither `seen`, to which they are added, nor come again."""
    mask = np.zeros(len(values), bool)
    for row in range(len(values) - 1, -1, -1):
        mask[row] = values[row] not in seen
        seen.add(values[row])
    return mask


def without_names(thin: list[Part], excess: int, needed: np.ndarray, later: Later) -> list[Part]:
    """Leave out so many tasks that are not needed, those first that will least likely be.

    First come those that had ended before the recording began, then those of graphs of which nothing is
    needed, the oldest first, then those of the others, the last first.
    """
    names = ("task", "submission", "state")
    told = [_described(piece) for piece in columns(thin, "graph", *names)]
    come = [_described(piece) for piece in later.columns("graph", *names)]
    task, submission, ended = (np.concatenate(each) for each in zip(*told, strict=True))
    lasting = np.isin(task, needed)
    active = [submission[lasting], *(brought[np.isin(tasks, needed)] for tasks, brought, _ in come)]
    going = np.isin(submission, np.concatenate(active)) & (submission != NOTHING)
    place = np.arange(len(task))
    order = np.lexsort((np.where(going, -place, place), going, ~ended))
    gone = task[order[~lasting[order]][:excess]]
    return [part.without_tasks(gone) for part in thin] if len(gone) else thin


def _described(graph: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tasks, their submissions, and which had ended when the recording began."""
    rows = len(graph["task"])
    ended = ~is_any(graph["state"], ("",)) if "state" in graph else np.zeros(rows, bool)
    return graph["task"], graph.get("submission", np.full(rows, NOTHING, "u4")), ended


def without_submissions(thin: list[Part], old: int, later: Later) -> list[Part]:
    """Leave out submissions that brought no task that is left, in the first `old` parts.

    Tasks of those that are newer may still come.
    """
    if not any("submissions" in part.chunks for part in thin[:old]):
        return thin
    tasks = [*columns(thin, "graph", "submission"), *later.columns("graph", "submission")]
    kept = np.unique(together(tasks, "submission"))
    older = [part.where("submissions", "submission", lambda each: np.isin(each, kept)) for part in thin[:old]]
    return older + thin[old:]


def without_functions(thin: list[Part], old: int, later: Later) -> list[Part]:
    """Leave out what names of tasks stand for that none has any more, but for the newest; of the first `old`
    parts."""
    for table, name in _NAMED.items():
        if sum(part.rows(table) for part in thin[:old]) <= _RETURNING:
            continue
        pieces = (*columns(thin, "graph", name), *later.columns("graph", name))
        used = {each for piece in pieces if name in piece for each in _names(piece[name])}
        newest = _NewestWithout(used)
        thin = [part.where(table, name, newest) for part in reversed(thin[:old])][::-1] + thin[old:]
    return thin


class _NewestWithout:
    """Tells which rows to keep, asked part by part from the newest on: those used, and the newest others."""

    def __init__(self, used: set[str]) -> None:
        self._used = used
        self._room = _RETURNING

    def __call__(self, names: Any) -> np.ndarray:
        kept = is_any(names, self._used)
        others = np.flatnonzero(~kept)
        newest = others[max(len(others) - self._room, 0) :]
        self._room -= len(newest)
        kept[newest] = True
        return kept


def without_spans(thin: list[Part], old: int, later: Later) -> list[Part]:
    """Leave out spans that nothing is in any more, and nothing inside of them; of the first `old` parts."""
    if not any("spans" in part.chunks for part in thin[:old]):
        return thin
    told = [*columns(thin, "spans", "span", "parent"), *later.columns("spans", "span", "parent")]
    parents = {
        span: parent
        for piece in told
        for span, parent in zip(piece["span"].tolist(), piece["parent"].tolist(), strict=True)
    }
    used = [
        *columns(thin, "graph", "span"),
        *later.columns("graph", "span"),
        *later.columns("metrics", "span"),
    ]
    kept: set[str] = set()
    for span in {name for piece in used if "span" in piece for name in _names(piece["span"])}:
        while span in parents and span not in kept:
            kept.add(span)
            span = parents[span]

    older = [part.where("spans", "span", lambda each: is_any(each, kept)) for part in thin[:old]]
    return older + thin[old:]


def _names(symbols: Any) -> list[str]:
    """The different texts of a column."""
    return [symbols.names[code] for code in np.unique(symbols.codes).tolist()]


def without_stacks(thin: list[Part], since: int, later: Later) -> list[Part]:
    """Leave out stacks that no sample has, of those before `since`, which will not come again."""
    if not any("stacks" in part.chunks for part in thin):
        return thin
    told = [*columns(thin, "stacks", "stack", "parent"), *later.columns("stacks", "stack", "parent")]
    stack, parent = together(told, "stack"), together(told, "parent")
    sampled = together(later.columns("samples", "stack"), "stack")
    kept = more = np.union1d(sampled, parent[stack >= since])
    while len(more):
        more = np.setdiff1d(parent[np.isin(stack, more)], kept)
        kept = np.union1d(kept, more)
    return [
        part.where("stacks", "stack", lambda each: (each >= since) | np.isin(each, kept)) for part in thin
    ]


def without_lines(thin: list[Part], later: Later) -> list[Part]:
    """Leave out lines of source code that nothing points to any more."""
    if not any("lines" in part.chunks for part in thin):
        return thin
    places = {
        place
        for table, numbers in _POINTING.items()
        for piece in (*columns(thin, table, "file", *numbers), *later.columns(table, "file", *numbers))
        for number in numbers
        for place in _places(piece, number)
    }

    def shortened(part: Part) -> Part:
        if "lines" not in part.chunks:
            return part
        told = part.chunks["lines"].columns({"file", "line"})
        mask = np.array([place in places for place in _places(told, "line")])
        return part.where("lines", "line", lambda _: mask)

    return [shortened(part) for part in thin]


def _places(piece: dict[str, Any], number: str) -> Iterator[tuple[str, int]]:
    """Files and lines in them; none where a piece lacks either."""
    if "file" in piece and number in piece:
        yield from zip(piece["file"].tolist(), piece[number].tolist(), strict=True)
