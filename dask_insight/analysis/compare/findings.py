"""Findings that came and went."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .measure import Measured
from .names import shape_of

_STATES = {(True, True): "stayed", (False, True): "came", (True, False): "went"}

#: What makes a finding of one run that of another: its code, and its task names but for their tokens.
_Key = tuple[str, tuple[str, ...]]


class _Found(NamedTuple):
    """A finding in the runs of a side."""

    #: As it stands where it costs most.
    finding: Any
    #: Wall time it costs, seconds, mean over the runs that have it.
    cost: float
    runs: int


def findings(measured: Sequence[Sequence[Measured]]) -> dict[str, Any]:
    """The columns of the table `compared_findings`."""
    found = [_of_side(side) for side in measured]
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for side in range(1, len(found)):
        rows = [(key, found[0].get(key), found[side].get(key)) for key in {**found[0], **found[side]}]
        rows.sort(key=lambda row: -max(_cost(row[1]), _cost(row[2])))
        for _, before, after in rows:
            for name, value in zip(_COLUMNS, _row(side, before, after), strict=True):
                columns[name].append(value)
    return columns


_COLUMNS = (
    "side",
    "state",
    "code",
    "severity",
    "title",
    "tasks",
    "cost_before",
    "cost_after",
    "runs_before",
    "runs_after",
)


def _row(side: int, before: _Found | None, after: _Found | None) -> tuple[Any, ...]:
    told = (after or before).finding  # type: ignore[union-attr]
    return (
        side,
        _STATES[before is not None, after is not None],
        told.code,
        told.severity,
        told.title,
        json.dumps(list(told.tasks), ensure_ascii=False),
        before.cost if before else np.nan,
        after.cost if after else np.nan,
        before.runs if before else 0,
        after.runs if after else 0,
    )


def _of_side(side: Sequence[Measured]) -> dict[_Key, _Found]:
    told: dict[_Key, list[Any]] = {}
    for run in side:
        seen: set[_Key] = set()
        for each in run.findings:
            key = (str(each.code), tuple(sorted({shape_of(str(name)) for name in each.tasks})))
            # Of several alike in one run, the costliest stands first and for all.
            if key not in seen:
                told.setdefault(key, []).append(each)
                seen.add(key)
    return {
        key: _Found(
            max(each, key=lambda finding: _known(finding.cost_seconds)),
            float(np.mean([_known(finding.cost_seconds) for finding in each])),
            len(each),
        )
        for key, each in told.items()
    }


def _known(cost: float) -> float:
    return float(cost) if np.isfinite(cost) else 0.0


def _cost(found: _Found | None) -> float:
    return found.cost if found else 0.0
