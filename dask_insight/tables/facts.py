"""Facts about a recording as a whole, out of its table ``about``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

#: Facts that tell which part of a run a recording is cut out of, seconds since the epoch; see `Recording.slice`.
SINCE, UNTIL = "since", "until"


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
    """From when to when a recording was cut out of a run, seconds since the epoch; infinite where it was not."""
    told = facts(read("about"))
    since, until = (told.get(name) for name in (SINCE, UNTIL))
    begin = since if isinstance(since, float) and np.isfinite(since) else -np.inf
    end = until if isinstance(until, float) and np.isfinite(until) else np.inf
    return begin, max(begin, end)
