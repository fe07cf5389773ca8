"""Facts about a recording as a whole, out of its table ``about``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..batch import Symbols

#: Facts of a recording that was cut out of a run: from when and to when, seconds since the epoch.
SINCE, UNTIL = "since", "until"
#: Fact of one that a person cut out: a recorder that joins a run has `SINCE`, too.
PART = "part"
#: Fact of one whose file took no more while it went on: the error.
CUT = "cut"
#: Fact of one that a process made: whether it looked for all clients of that process.
ALL_CLIENTS = "all_clients"
#: Facts of such a one, with a number each: ids of the clients of that process. What others submitted is not
#: its own.
CLIENT = "client "
#: Where the years end that calendars know, seconds since the epoch.
_END = 253_402_300_800
#: How deeply values may be nested that stand in a file, so that all can go through them.
_DEEPEST = 100


def facts(about: Mapping[str, Any]) -> dict[str, Any]:
    """Each fact by its name, the last one told; what is no JSON stays text."""
    names: Symbols = about["name"]
    last = np.full(len(names.names), -1)
    last[names.codes] = np.arange(len(names.codes))
    found: dict[str, Any] = {}
    for name, row in zip(names.names, last.tolist(), strict=True):
        if row < 0:
            continue
        text = about["value"][row]
        try:
            found[name] = from_json(text)
        except ValueError:
            found[name] = text
    return found


def from_json(text: str) -> Any:
    """What a text says that stands in a file, where anything may stand.

    Raises
    ------
    ValueError
        If it is no JSON, or nested too deeply.
    """
    told: Any = None
    try:
        told = json.loads(text)
        deep = text.count("[") + text.count("{") > _DEEPEST and _is_deep(told)
    except RecursionError:
        deep = True
    if deep:
        raise ValueError("values are nested too deeply")
    return told


def _is_deep(told: Any) -> bool:
    """Whether lists and objects are nested deeper than may be."""
    level = [told]
    for _ in range(_DEEPEST):
        within = [each.values() if isinstance(each, dict) else each for each in level]
        level = [each for parts in within for each in parts if isinstance(each, list | dict)]
        if not level:
            return False
    return True


def ended(about: Mapping[str, Any]) -> bool:
    """Whether no more comes: its run is over, it was cut out of one, or no process made it."""
    return "pid" not in about or any(fact in about for fact in ("stopped", UNTIL, PART))


def is_foreign(about: Mapping[str, Any]) -> bool:
    """Whether it was made out of another tool's file."""
    return "source" in facts(about)


def part_of_run(read: Callable[[str], Mapping[str, Any]]) -> tuple[float, float]:
    """From when to when a recording was cut out of a run, seconds since the epoch; infinite if it was not."""
    told = facts(read("about"))
    since, until = moment(told.get(SINCE), -np.inf), moment(told.get(UNTIL), np.inf)
    return since, max(since, until)


def recorded(read: Callable[[str], Mapping[str, Any]]) -> tuple[float, float]:
    """First and last moment of which a recording tells, since the epoch; -inf where nothing does."""
    told = facts(read("about"))
    last = moment(told.get("stopped"), -np.inf)
    for table, column in (("attempts", "done"), ("running", "start"), ("resources", "time")):
        last = max(last, float(np.nanmax(read(table)[column], initial=-np.inf)))
    return moment(told.get("started"), -np.inf), min(last, moment(told.get(UNTIL), np.inf))


def lacks(read: Callable[[str], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Tables of which another tool's file does not tell everything, and why."""
    told = facts(read("about")).get("lacks")
    return told if isinstance(told, dict) else {}


def moment(told: Any, otherwise: float) -> float:
    """A fact that is a moment; anything may stand in a file."""
    return float(told) if isinstance(told, int | float) and abs(told) < _END else otherwise
