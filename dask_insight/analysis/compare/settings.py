"""Versions, configuration and surroundings that differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .measure import Measured

_KINDS = ("version", "configuration", "cluster", "host")


def settings(measured: Sequence[Sequence[Measured]]) -> dict[str, Any]:
    """The columns of the table `compared_settings`: only what is not the same on all sides."""
    known = dict.fromkeys(fact for side in measured for run in side for fact in run.facts)
    columns: dict[str, list[Any]] = {"side": [], "kind": [], "name": [], "value": []}
    for kind, name in sorted(known, key=lambda fact: (_KINDS.index(fact[0]), fact[1])):
        told = [list(dict.fromkeys(run.facts.get((kind, name), "") for run in side)) for side in measured]
        # What a side does not tell may be the same; but a package that it does not tell is not there.
        known_by = told if kind == "version" else [values for values in told if any(values)]
        if all(values == known_by[0] for values in known_by):
            continue
        for side, values in enumerate(told):
            for column, value in zip(columns, (side, kind, name, " | ".join(values)), strict=True):
                columns[column].append(value)
    return columns
