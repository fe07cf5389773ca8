"""Parts of fused tasks that another computation had computed before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import Lookup, is_any
from ...schema import NOTHING
from ...tables.stacks import below
from .facts import Facts
from .names import by_code


class Inside(NamedTuple):
    """What was computed again inside of fused tasks."""

    #: Seconds of each attempt that went into it.
    seconds: np.ndarray
    #: Functions that ran again, those that took longest first.
    functions: tuple[str, ...]


class _Function(NamedTuple):
    name: str
    file: str
    line: int


def computed_inside(facts: Facts) -> Inside:
    """What was computed again inside of fused tasks, as far as call stacks tell how long that took.

    Optimizing puts several tasks into one with the key of the last, so that two
    computations that read the same data share no key. Their parts have the keys
    that they had before.
    """
    known, samples = facts.attempts, facts.read("samples")
    seconds = np.zeros(len(known.run))
    spent: dict[str, float] = {}
    again = _again(facts)
    if not again or not len(samples["run"]):
        return Inside(seconds, ())
    graph = facts.read("graph")["group"]
    group = np.where(known.described >= 0, graph.codes[known.described].astype("i8"), -1)
    rows = Lookup(np.where(facts.good, known.run, NOTHING)).rows(samples["run"])
    stacks = Lookup(facts.read("stacks")["stack"]).rows(samples["stack"])
    sampled = by_code(group[rows], (rows >= 0) & (stacks >= 0))
    under = {function: _below(facts, function) for function in set().union(*again.values())}
    for code, functions in again.items():
        mine = sampled.get(code, np.zeros(0, "i8"))
        inside = np.zeros(len(mine), bool)
        for function in functions:
            here = under[function][stacks[mine]]
            spent[function.name] = spent.get(function.name, 0.0) + float(
                samples["duration"][mine[here]].sum()
            )
            inside |= here
        np.add.at(seconds, rows[mine[inside]], samples["duration"][mine[inside]])
    names = sorted((name for name in spent if spent[name] > 0), key=lambda name: -spent[name])
    return Inside(np.minimum(seconds, facts.inside), tuple(map(words.in_a_line, names)))


def _again(facts: Facts) -> dict[int, set[_Function]]:
    """By code of the group, the functions of its parts that an earlier submission had computed."""
    fused, graph, known = facts.read("fused"), facts.read("graph"), facts.attempts
    if not len(fused["line"]):
        return {}
    ran = facts.good & (known.described >= 0)
    rows = known.described[ran]
    order = np.lexsort((known.at("wanted", ran), graph["group"].codes[rows]))
    groups, first = np.unique(graph["group"].codes[rows][order], return_index=True)
    wanted = dict(zip(groups.tolist(), known.at("wanted", ran)[order][first].tolist(), strict=True))
    submission = dict(zip(groups.tolist(), graph["submission"][rows][order][first].tolist(), strict=True))
    code_of = {name: code for code, name in enumerate(graph["group"].names)}
    names = [fused[name].tolist() for name in ("group", "part", "function", "file")]
    holders: dict[str, dict[int, set[_Function]]] = {}
    for group, part, function, file, line in zip(*names, fused["line"].tolist(), strict=True):
        code = code_of.get(group, -1)
        if code in wanted and part != group:
            holders.setdefault(part, {}).setdefault(code, set()).add(_Function(function, file, line))
    found: dict[int, set[_Function]] = {}
    for part, held in holders.items():
        there = [code for code in {*held, code_of.get(part, -1)} if code in wanted]
        earliest = min(there, key=lambda code: wanted[code])
        for code, functions in held.items():
            if submission[code] != submission[earliest]:
                found.setdefault(code, set()).update(functions)
    return found


def _below(facts: Facts, function: _Function) -> np.ndarray:
    """Which stacks a function is in."""
    table = facts.read("stacks")
    mine = is_any(table["function"], (function.name,)) & is_any(table["file"], (function.file,))
    mine &= table["first_line"] == function.line
    return below(table, mine)
