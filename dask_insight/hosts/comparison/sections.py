"""A comparison as small tables of words, which every form shows alike."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import words
from ...tables.facts import from_json
from ...words import short

if TYPE_CHECKING:
    from ...analysis.compare import Comparison

#: Most rows of each table.
_NAMES, _PARTS, _FINDINGS, _SETTINGS = 12, 8, 10, 20
#: A part of the time budget is shown from this share of the wall time of a side on.
_LEAST = 0.005
_SAME = "same"
#: What is said of a change that says nothing.
_NOISE = "noise"


class Section(NamedTuple):
    """One table: the first column is of names, the others are of figures unless `plain` says so."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    #: What stands below it; '' for nothing.
    note: str = ""
    #: Whether all columns are of text.
    plain: bool = False


def sections(comparison: Comparison) -> list[Section]:
    """The tables of a comparison, those without rows left out."""
    return [section for section in _all(comparison) if section.rows]


def _all(comparison: Comparison) -> Iterator[Section]:
    sides = [str(name) for name in comparison.sides["name"]]
    yield _sides(comparison)
    for side in range(1, len(sides)):
        against = f": {sides[side]} against {sides[0]}" if len(sides) > 2 else ""
        heads = short(sides[0], 30), short(sides[side], 30)
        yield _names(comparison, side, heads, against)
        yield _budget(comparison, side, heads, against)
        yield _findings(comparison, side, against)
    yield _settings(comparison, sides)


def _sides(comparison: Comparison) -> Section:
    rows = []
    for row in comparison.sides.to_dict("records"):
        change = "" if row["side"] == 0 else _verdict(row)
        busy = row["computing"] / row["thread_seconds"] if row["thread_seconds"] else float("nan")
        rows.append(
            (
                short(row["name"], 40),
                words.count(row["runs"]),
                words.duration(row["seconds"]),
                change,
                "" if row["side"] == 0 else f"±{words.SPACE}{words.duration(row['noise'])}",
                words.about(row["threads"], digits=3),
                f"{row['tasks']:,.0f}",
                words.share(busy),
                words.size(row["memory"]),
            )
        )
    head = ("", "runs", "wall time", "change", "noise", "threads", "tasks", "computing", "most memory")
    return Section("Runs", head, rows)


def _names(comparison: Comparison, side: int, heads: tuple[str, str], against: str) -> Section:
    table = comparison.names
    here = table[table["side"] == side].to_dict("records")
    base = table[table["side"] == 0].to_dict("records")
    pairs = [pair for pair in zip(here, base, strict=True) if pair[0]["verdict"] != "none"]
    rows = [_name(now, before) for now, before in pairs]
    first, second = heads
    head = (
        "Task name",
        f"count, {first}",
        second,
        f"each, {first}",
        second,
        "change",
        "on all threads",
    )
    changed = sum(now["verdict"] != _SAME for now, _ in pairs)
    left = len(rows) - _NAMES
    note = f"{words.count(changed, 'name')} of {len(rows):,} changed beyond the noise."
    note += f" {words.count(left, 'more name')} not shown." if left > 0 else ""
    return Section(f"Task names{against}", head, rows[:_NAMES], note)


def _name(now: dict[str, Any], before: dict[str, Any]) -> tuple[str, ...]:
    return (
        short(str(now["name"]), 50),
        f"{before['count']:,.0f}",
        f"{now['count']:,.0f}",
        words.duration(before["mean"]),
        words.duration(now["mean"]),
        _changed(now, before),
        words.signed(now["impact"]),
    )


def _changed(now: dict[str, Any], before: dict[str, Any]) -> str:
    """What changed about a task name, in words."""
    word = str(now["verdict"])
    if word in ("came", "went"):
        return word
    if word in ("more", "fewer"):
        return f"{words.about(now['count'] / before['count'], digits=3)} times as many"
    by = now["mean"] / before["mean"] - 1 if before["mean"] else 0.0
    told = words.signed(by, words.share)
    if word in ("costlier", "cheaper"):
        by = now["cpu"] / before["cpu"] - 1 if before["cpu"] else 0.0
        return f"{words.signed(by, words.share)} CPU time"
    return f"{told} ({_NOISE})" if word == _SAME else f"{told}, {word}"


def _budget(comparison: Comparison, side: int, heads: tuple[str, str], against: str) -> Section:
    table = comparison.budget
    here = table[table["side"] == side].to_dict("records")
    base = table[table["side"] == 0].to_dict("records")
    whole = max(sum(row["wall"] for row in here), sum(row["wall"] for row in base))
    rows = [
        (
            _sentence(words.PARTS.get(str(now["part"]), str(now["part"]))),
            *(f"{words.duration(each['wall'])} ({words.share(each['share'])})" for each in (before, now)),
            _verdict(now),
        )
        for now, before in zip(here, base, strict=True)
        if max(now["wall"], before["wall"]) >= _LEAST * whole
    ]
    note = "Of the wall time, as a share of all thread time."
    return Section(f"Where the time went{against}", ("", *heads, "change"), rows[:_PARTS], note)


def _findings(comparison: Comparison, side: int, against: str) -> Section:
    table = comparison.findings
    table = table[(table["side"] == side) & (table["state"] != "stayed")]
    rows = [
        (
            str(row["code"]),
            str(row["state"]),
            str(row["severity"]),
            short(str(row["title"]), 120),
            words.duration(row["cost_after" if row["state"] == "came" else "cost_before"] or math.nan),
        )
        for row in table.to_dict("records")
    ]
    head = ("Finding", "", "severity", "what", "costs")
    return Section(f"Findings that came and went{against}", head, rows[:_FINDINGS], plain=True)


def _settings(comparison: Comparison, sides: list[str]) -> Section:
    told: dict[tuple[str, str], list[str]] = {}
    for row in comparison.settings.to_dict("records"):
        told.setdefault((str(row["kind"]), str(row["name"])), []).append(short(row["value"], 60) or "–")
    rows = [(f"{name} ({kind})", *values) for (kind, name), values in told.items()]
    left = len(rows) - _SETTINGS
    note = f"{words.count(left, 'more difference')} not shown." if left > 0 else ""
    head = ("", *(short(side, 30) for side in sides))
    return Section("Versions and configuration that differ", head, rows[:_SETTINGS], note, plain=True)


def _verdict(row: dict[str, Any]) -> str:
    told = words.signed(row["change"])
    if row["verdict"] == "unknown":
        return "unknown"
    return f"{told} ({_NOISE})" if row["verdict"] == _SAME else f"{told}, {row['verdict']}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def as_object(comparison: Comparison) -> dict[str, Any]:
    """A comparison as plain values: the verdict, who is slower or broke, and the tables as lists of rows."""
    tables = {}
    for name in ("sides", "runs", "budget", "names", "findings", "settings"):
        table = comparison.recording.table(f"compared_{name}", timestamps=True)
        told = table.to_json(orient="records", double_precision=9, date_format="iso", date_unit="ms")
        tables[name] = json.loads(told or "[]")
    for row in (*tables["names"], *tables["findings"]):
        for column in ("names", "tasks"):
            if column in row:
                row[column] = _listed(row[column])
    return {
        "verdict": comparison.verdict(),
        "notes": comparison.notes(),
        "slower": comparison.slower(),
        "broken": comparison.broken(),
        **tables,
    }


def _listed(text: str | None) -> list[Any]:
    """A JSON list that stands in a file; empty if it is something else."""
    try:
        told = from_json(text or "[]")
    except ValueError:
        return []
    return told if isinstance(told, list) else []
