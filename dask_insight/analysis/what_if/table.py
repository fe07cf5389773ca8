"""How much faster the run could be, as rows of the table ``what_if``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import words
from ...batch import Texts, intern
from ...timeline import Read, by_cluster
from .question import Replay
from .simulation import TooLong
from .usual import LOOKS, MOST, usual

if TYPE_CHECKING:
    from ..bounds import Bounds

#: Names of a chain that are told with their seconds.
_NAMES = 3
_CHAINED = ", each needing the one before"
#: What a person asks with.
_ASK = "`run.what_if(…)`"


class Row(NamedTuple):
    """One row."""

    question: str
    text: str = ""
    value: float = math.nan
    tasks: Sequence[str] = ()
    seconds: float = math.nan
    low: float = math.nan
    high: float = math.nan
    error: float = math.nan
    notes: Sequence[str] = ()
    cluster: str = ""


def rows(read: Read, about: Mapping[str, Any], bounds: Callable[[str], Bounds]) -> dict[str, Any]:
    """The columns of the table, the scheduler with most work first; `bounds` gives those of one."""
    clusters = list(by_cluster(read))
    made = [
        row._replace(cluster=name)
        for name in clusters
        for row in (*_bounds(bounds(name)), *_simulated(read, about, name, MOST // len(clusters)))
    ]
    return _columns(made)


def _bounds(bounds: Bounds) -> Iterator[Row]:
    if not bounds.threads or bounds.least <= 0:
        return
    yield Row("recorded", bounds.verdict(), seconds=bounds.seconds)
    if bounds.is_chained:
        yield _longest(bounds)
    yield Row(
        "spread",
        f"{words.duration(bounds.work)} of tasks on {words.count(bounds.threads, 'thread')}",
        value=bounds.threads,
        seconds=bounds.spread,
    )
    if bounds.is_chained:
        yield Row("most", seconds=bounds.most)


def _longest(bounds: Bounds) -> Row:
    parts = sorted(bounds.chain, key=lambda part: -part[2])
    named = [f"`{name}` {words.duration(spent)}" for name, _, spent in parts[:_NAMES]]
    more = len(parts) - len(named)
    told = words.listing([*named, *([words.count(more, "other name")] if more else [])])
    return Row(
        "longest",
        f"{words.count(len(bounds.tasks), 'task')}{_CHAINED if len(bounds.tasks) > 1 else ''}: {told}",
        value=len(bounds.tasks),
        tasks=[name for name, _, _ in parts],
        seconds=bounds.longest,
    )


def _simulated(read: Read, about: Mapping[str, Any], cluster: str, most: int) -> Iterator[Row]:
    tasks = len(by_cluster(read)[cluster]("attempts")["run"])
    too_long = Row("gap", f"{words.count(tasks, 'task')} would take long to simulate: {_ASK} does it.")
    if tasks > most // 2:
        yield too_long
        return
    try:
        found = usual(Replay(read, about, cluster, LOOKS * most), most)
    except TooLong:
        yield too_long
        return
    except ValueError as error:
        yield Row("gap", _sentence(str(error)))
        return
    known = found.known
    yield Row("calibration", known.trust(), seconds=known.calibration, error=known.error)
    for question, answer in found.answers:
        yield Row(
            question.kind,
            answer.change,
            question.value,
            [question.name] if question.name else (),
            answer.seconds,
            answer.low,
            answer.high,
            answer.error,
            answer.notes,
        )
    yield from (Row("note", _sentence(text)) for text in found.notes)
    if found.left:
        more = words.count(found.left, "more question")
        yield Row("gap", f"{more} would take long with {words.count(tasks, 'task')}: {_ASK} answers any.")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _columns(made: Sequence[Row]) -> dict[str, Any]:
    numbers = ("value", "seconds", "low", "high", "error")
    return {
        "cluster": intern([row.cluster for row in made]),
        "question": intern([row.question for row in made]),
        "text": Texts.of([row.text for row in made]),
        "tasks": Texts.of([json.dumps(list(row.tasks), ensure_ascii=False) for row in made]),
        "notes": Texts.of(["\n".join(map(_sentence, row.notes)) for row in made]),
        **{name: np.array([getattr(row, name) for row in made], "f8") for name in numbers},
    }
