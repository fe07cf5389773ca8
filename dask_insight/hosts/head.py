"""What stands above the panels of a report: heading, verdict, facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from dask_insight import words
from dask_insight.analysis.compare import Comparison
from dask_insight.analysis.overview import Overview
from dask_insight.words import short

if TYPE_CHECKING:
    from dask_insight.recording import Recording


class Head(NamedTuple):
    """The top of a page, in words."""

    title: str
    verdict: str
    #: Figures with their names; a moment has a time zone.
    facts: Sequence[tuple[str, str | datetime]]
    #: What was lost, or may mislead; a paragraph each.
    notices: Sequence[str]
    #: HTML that stands for the panels where no script runs; whoever makes it escapes what it shows.
    tables: str
    #: Number of tasks.
    tasks: int


def head_of(recording: Recording, title: str | None = None) -> Head:
    """The top of a recording's report."""
    summary = recording.summary()
    if "comparison" in summary.facts and not summary.tasks:
        from .comparison import facts, tables

        comparison = Comparison(recording)
        name = title or summary.name or "Comparison"
        notes = [note for note in recording.columns("compared_sides")["notes"].tolist() if note]
        return Head(name, comparison.verdict(), facts(comparison), notes, tables(comparison), 0)
    return Head(
        title or summary.name or "Dask computation",
        summary.verdict(),
        list(_facts(summary)),
        summary.lost(),
        _tables(summary),
        summary.tasks,
    )


def _facts(summary: Overview) -> Iterator[tuple[str, str | datetime]]:
    if began := words.dated(summary.started):
        yield "Started", began
    yield "Took", words.duration(summary.duration)
    yield "Tasks", words.count(summary.tasks) + (" done" if summary.erred else "")
    yield "Ran on", _place(summary)
    yield "Computing", f"{words.duration(summary.computing)} of thread time"
    if text := _versions(summary.facts):
        yield "With", text


def _place(summary: Overview) -> str:
    if summary.clusters > 1:
        return summary.place()
    scheduler = summary.facts.get("scheduler")
    address = scheduler.get("address") if isinstance(scheduler, dict) else scheduler
    told = f" ({short(address, 80)})" if isinstance(address, str) and address else ""
    return f"{summary.place()}{told}"


def _versions(facts: Mapping[str, Any]) -> str:
    """Of the scheduler where there was one, else of this process."""
    cluster = facts.get("versions")
    told = [facts.get("packages"), cluster.get("packages") if isinstance(cluster, dict) else None]
    packages = {name: version for each in told if isinstance(each, dict) for name, version in each.items()}
    python = packages.get("python", facts.get("python"))
    known = [
        ("Dask", packages.get("dask")),
        ("Python", python.split(".final")[0] if isinstance(python, str) else None),
    ]
    return ", ".join(f"{name} {short(version, 30)}" for name, version in known if isinstance(version, str))


def _tables(summary: Overview) -> str:
    rows = "".join(
        f'<tr><th scope="row" dir="auto">{escape(short(name, 120))}</th><td>{words.duration(seconds)}</td>'
        f"<td>{words.share(seconds / summary.computing)}</td></tr>"
        for name, seconds in summary.names[:50]
    )
    if not rows:
        return ""
    return (
        f"<table><thead><tr><th>Task name</th><th>Computing</th><th>Share</th></tr></thead>{rows}</table>\n"
    )
