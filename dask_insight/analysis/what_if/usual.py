"""What is asked of every recording, as far as it fits: other clusters, faster functions, no transfers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...timeline import is_local
from .answer import WhatIf
from .chunks import share_in_chains
from .question import Replay
from .simulation import TooLong

#: Tasks that all simulations of one recording may run together: about a second.
MOST = 240_000
#: Looks for tasks to steal that take as long as one task, about.
LOOKS = 32
#: Task names that are asked about for the time they take.
_DEAREST = 2
#: Share of the thread time from which something is worth a question.
_WORTH = 0.01
#: Share of the work in blockwise chains from which other chunks are asked about.
_CHAINED = 0.5


class Question(NamedTuple):
    """One change. Its kind is that of an argument of `Recording.what_if`."""

    kind: str
    #: How many, or how many times; NaN where the change has no amount.
    value: float = float("nan")
    #: The task name that it is about.
    name: str = ""

    def asked(self) -> dict[str, Any]:
        """The arguments of `Replay.ask`."""
        if self.kind == "faster":
            return {"faster": {self.name: self.value}}
        if self.kind in ("workers", "threads"):
            return {self.kind: int(self.value)}
        return {self.kind: self.value if self.kind == "chunks" else False}


class Usual(NamedTuple):
    """What came of it."""

    #: The simulation of the recorded setting itself.
    known: WhatIf
    #: The fastest first.
    answers: tuple[tuple[Question, WhatIf], ...]
    #: What holds for all answers.
    notes: tuple[str, ...]
    #: How many questions were not asked, since that would have taken long.
    left: int


def usual(replay: Replay, most: int = MOST) -> Usual:
    """Ask a recording, the weightiest questions first, as long as they cost no more than `most` tasks.

    Nor more looks for tasks to steal than `replay` may take.
    """
    asked = list(_questions(replay))
    # The simulation of the recorded setting has been made.
    room = max(0, most // replay.tasks - 1)
    answers = list(_answers(replay, asked[:room]))
    known = replay.ask()
    shared = set(known.notes).intersection(*(answer.notes for _, answer in answers))
    own = [
        (each, answer._replace(notes=tuple(note for note in answer.notes if note not in shared)))
        for each, answer in answers
    ]
    own.sort(key=lambda each: each[1].seconds)
    notes = tuple(note for note in known.notes if note in shared)
    return Usual(known, tuple(own), notes, len(asked) - len(answers))


def _answers(replay: Replay, asked: Sequence[Question]) -> Iterator[tuple[Question, WhatIf]]:
    for each in asked:
        try:
            yield each, replay.ask(**each.asked())
        except TooLong:
            return


def _questions(replay: Replay) -> Iterator[Question]:
    setting, model = replay.setting, replay.model
    workers = len(setting.threads)
    if all(map(is_local, replay.workers)) and workers == 1:
        kind, count = "threads", setting.threads[0]
    else:
        kind, count = "workers", workers
    yield Question(kind, 2 * count)
    work = np.bincount(model.prefix, model.hold, minlength=len(model.prefixes))
    dearest = [code for code in np.argsort(-work, kind="stable").tolist() if work[code] > 0][:_DEAREST]
    yield from (Question("faster", 2.0, model.prefixes[code]) for code in dearest[:1])
    if count > 1:
        yield Question(kind, count // 2)
    if replay.moved > 0:
        yield Question("transfers")
    yield from (Question("faster", 2.0, model.prefixes[code]) for code in dearest[1:])
    if float(model.disk.sum()) > _WORTH * float(work.sum()):
        yield Question("spilling")
    for factor in (2.0, 0.5):
        if share_in_chains(model, factor) >= _CHAINED:
            yield Question("chunks", factor)
