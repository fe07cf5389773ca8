"""Time for which tasks slept: their innermost line calls a sleep, which has no frame of its own."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from ...lookup import Lookup
from .facts import Facts

_SLEEPS = re.compile(r"\bsleep\(")


class Asleep(NamedTuple):
    """What is known of tasks that slept."""

    #: Share of the samples' time of each task name, by code.
    share: np.ndarray
    #: By code of the task name, the line in which it slept longest: its file, number and text.
    line: dict[int, tuple[str, int, str]]


def asleep(facts: Facts) -> Asleep:
    """Who slept, as far as call stacks and the source code of their lines tell."""
    found = Asleep(np.zeros(len(facts.names)), {})
    lines, samples = facts.read("lines"), facts.read("samples")
    told = zip(lines["file"].tolist(), lines["line"].tolist(), lines["text"].tolist(), strict=True)
    sleeps = [each for each in told if _SLEEPS.search(each[2].partition("#")[0])]
    if not sleeps or not len(samples["run"]):
        return found
    stacks = facts.read("stacks")
    place_of = {(file, line): place for place, (file, line, _) in enumerate(sleeps)}
    places = zip(stacks["file"].tolist(), stacks["line"].tolist(), strict=True)
    of_stack = np.array([*(place_of.get(each, -1) for each in places), -1])
    rows = Lookup(facts.attempts.run).rows(samples["run"])
    known = rows >= 0
    code, seconds = facts.prefix.codes[rows[known]], samples["duration"][known].astype("f8")
    place = of_stack[Lookup(stacks["stack"]).rows(samples["stack"][known])]
    slept = place >= 0
    whole = np.bincount(code, seconds, len(facts.names))
    # Seconds of each name in each line.
    table = np.zeros((len(facts.names), len(sleeps)))
    np.add.at(table, (code[slept], place[slept]), seconds[slept])
    np.divide(table.sum(axis=1), whole, out=found.share, where=whole > 0)
    for name in np.flatnonzero(found.share).tolist():
        found.line[name] = sleeps[int(table[name].argmax())]
    return found
