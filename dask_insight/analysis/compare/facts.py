"""Versions, configuration and surroundings of a run, as flat facts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ... import words

#: Facts of `about` that say where a run was.
_HOST = ("host", "platform", "cores")


def facts_of(about: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Kind and name of each fact to its value in words."""
    told: dict[tuple[str, str], str] = {}
    for (kind, name), value in _all(about):
        if value is None and kind == "configuration":
            told[kind, name] = "None"
        elif value not in (None, ""):
            told[kind, name] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return told


def _all(about: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], Any]]:
    yield ("version", "python"), about.get("python")
    for packages in (about.get("packages"), _within(about.get("versions"), "packages")):
        for name, version in _flat(packages):
            yield ("version", name), _released(version) if name == "python" else version
    for name, value in _flat(about.get("settings")):
        yield ("configuration", name), value
    # What the scheduler was configured with is what held.
    for name, value in _flat(about.get("config")):
        yield ("configuration", name), value
    for name, value in _flat(about.get("options")):
        yield ("configuration", f"recording.{name}"), value
    for name in _HOST:
        yield ("host", name), about.get(name)
    for name, value in _flat(about.get("cluster")):
        sized = name == "memory_limit" and isinstance(value, int | float)
        yield ("cluster", name), words.size(value) if sized else value


def _within(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _flat(value: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Names, joined by dots, and values of nested dictionaries."""
    if not isinstance(value, dict):
        if above:
            yield above, value
        return
    for name, part in value.items():
        yield from _flat(part, f"{above}.{name}" if above else str(name))


def _released(version: Any) -> Any:
    """``3.12.1.final.0`` as ``3.12.1``."""
    return version.split(".final")[0] if isinstance(version, str) else version
