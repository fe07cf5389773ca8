"""Where the time went, as a small table."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from ... import words
from ...analysis.overview import Overview
from ...words import short
from ..plain import plain

#: Most task names in it.
_NAMES = 5
#: Most causes of time that was not spent computing.
_CAUSES = 4
#: Least share of the time that is told without a cause.
_LEAST = 0.005


class Row(NamedTuple):
    """One line of the table: a name, thread time in words, its share in words."""

    name: str
    time: str
    share: str


def rows(summary: Overview) -> list[Row]:
    """Task names with the most thread time, then what threads did instead of computing, most first."""
    offered = summary.offered or summary.computing
    if not offered:
        return []
    parts = [(short(name or "(no name)", 40), seconds) for name, seconds in summary.names[:_NAMES]]
    if others := summary.names[_NAMES:]:
        parts.append((words.count(len(others), "other name"), sum(seconds for _, seconds in others)))
    lost = [(_begun(text), seconds) for text, seconds in summary.lost_time() if seconds > 0]
    parts += [(short(text, 60), seconds) for text, seconds in lost[:_CAUSES]]
    rest = summary.offered - sum(seconds for _, seconds in parts)
    if rest > _LEAST * offered:
        parts.append(("Something else" if lost else "Threads without a task", rest))
    return [Row(name, words.duration(seconds), words.share(seconds / offered)) for name, seconds in parts]


def _begun(text: str) -> str:
    # Only its first letter: names keep their case.
    return text[0].upper() + text[1:].replace("`", "")


def as_html(table: Sequence[Row]) -> str:
    """A plain table, which sanitisers leave."""
    if not table:
        return ""
    left = 'style="text-align:left"'
    head = f"<tr><th {left}>Where the time went</th><th>thread time</th><th>share</th></tr>"
    body = "".join(
        f'<tr><td dir="auto" {left}>{escape(each.name)}</td><td>{each.time}</td><td>{each.share}</td></tr>'
        for each in table
    )
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def as_markdown(table: Sequence[Row]) -> str:
    """The same for viewers of notebooks that show no HTML."""
    lines = ["| Where the time went | thread time | share |", "|:---|---:|---:|"]
    lines += [f"| {plain(each.name)} | {each.time} | {each.share} |" for each in table]
    return "\n".join(lines)


def as_text(table: Sequence[Row]) -> str:
    """The same in columns."""
    width = max((len(each.name) for each in table), default=0)
    return "\n".join(f"{each.name:<{width}}  {each.time:>9}  {each.share:>6}" for each in table)
