"""Facts about a recording as a whole, out of its table ``about``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

#: Facts of a recording that was cut out of a run: from when and to when, seconds since the epoch.
SINCE, UNTIL = "since", "until"
#: Where the years end that calendars know, seconds since the epoch.
_END = 253_402_300_800


def facts(about: Mapping[str, Any]) -> dict[str, Any]:
    """Each fact by its name, the last one told; what is no JSON stays text."""
    found: dict[str, Any] = {}
    for name, text in zip(about["name"].tolist(), about["value"].tolist(), strict=True):
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


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
    return moment(told.get("started"), -np.inf), last


def lacks(read: Callable[[str], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Tables of which another tool's file does not tell everything, and why."""
    told = facts(read("about")).get("lacks")
    return told if isinstance(told, dict) else {}


def moment(told: Any, otherwise: float) -> float:
    """A fact that is a moment; anything may stand in a file."""
    return float(told) if isinstance(told, int | float) and abs(told) < _END else otherwise
