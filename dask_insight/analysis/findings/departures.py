"""What the scheduler said of workers that left with work or results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...lookup import is_any
from ...tables.facts import from_json

if TYPE_CHECKING:
    from .facts import Facts


class Departure(NamedTuple):
    """A worker that left with something."""

    worker: str
    #: Seconds since the epoch.
    when: float
    #: Tasks that it had been given, and results that only it had.
    processing: int
    results: int
    #: Whether it had been asked to leave.
    expected: bool


def departures(facts: Facts) -> Iterator[Departure]:
    """Every one that is told of, in the order of the events."""
    events = facts.read("events")
    sources = events["source"]
    for row in np.flatnonzero(is_any(events["kind"], ("worker-lost",))).tolist():
        try:
            detail = from_json(events["detail"][row])
            processing, results, expected = (detail[name] for name in ("processing", "lost", "expected"))
            told = int(processing), int(results), bool(expected)
        except (KeyError, TypeError, ValueError):
            continue
        yield Departure(sources.names[sources.codes[row]], float(events["time"][row]), *told)
