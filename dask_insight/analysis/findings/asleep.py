"""Time for which tasks slept: their innermost line or their function is a sleep, which has no frame."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import Lookup
from ...tables.stacks import innermost_own
from .facts import Facts

_SLEEPS = re.compile(r"\bsleep\(")
#: Modules of functions that do nothing else, all called `sleep`.
_MODULES = ("time", "asyncio.tasks")


class Asleep(NamedTuple):
    """What is known of tasks that slept."""

    #: Share of the time of each task name, by code, as far as samples or its function tell.
    share: np.ndarray
    #: By code of the task name, in words, where it slept longest.
    where: dict[int, str]


def asleep(facts: Facts) -> Asleep:
    """Who slept, as far as the functions of tasks, call stacks and the source code of their lines tell."""
    found = _in_lines(facts)
    functions = facts.read("functions")
    told = zip(*(functions[name].tolist() for name in ("prefix", "function", "module")), strict=True)
    of_name: dict[str, set[tuple[str, str]]] = {}
    for prefix, function, module in told:
        of_name.setdefault(prefix, set()).add((function, module))
    sleep = {
        code: min(module for _, module in known).partition(".")[0]
        for code, name in enumerate(facts.names)
        if (known := of_name.get(name))
        and all(function == "sleep" and module in _MODULES for function, module in known)
    }
    # Of the tasks of a group the function of one is known: others may share its name alone.
    others = _in_own_code(facts) if sleep else np.zeros(0, bool)
    for code, module in sleep.items():
        if not others[code]:
            found.share[code] = 1.0
            found.where[code] = f"as their function is `{module}.sleep`"
    return found


def _in_own_code(facts: Facts) -> np.ndarray:
    """Which task names, by code, were sampled in somebody's own code."""
    stacks, samples = facts.read("stacks"), facts.read("samples")
    own = np.append(innermost_own(stacks)[0] >= 0, False)
    rows = Lookup(facts.attempts.run).rows(samples["run"])
    seen = (rows >= 0) & own[Lookup(stacks["stack"]).rows(samples["stack"])]
    mask = np.zeros(len(facts.names), bool)
    mask[facts.prefix.codes[rows[seen]]] = True
    return mask


def _in_lines(facts: Facts) -> Asleep:
    """Who slept in lines that call a sleep."""
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
        file, line, text = sleeps[int(table[name].argmax())]
        found.where[name] = f"mostly at {words.place(file, line)}: `{words.in_a_line(text)}`"
    return found
