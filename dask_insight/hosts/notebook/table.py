"""Where the time went, as a small table."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from ... import words
from ...analysis.overview import Overview, short

#: Most task names in it.
_NAMES = 5


class Row(NamedTuple):
    """One line of the table: a name, thread time in words, its share in words."""

    name: str
    time: str
    share: str


def rows(summary: Overview) -> list[Row]:
    """Task names with the most thread time, the other names, and the time in which no task computed."""
    offered = summary.offered or summary.computing
    parts = [(short(name or "(no name)", 40), seconds) for name, seconds in summary.names[:_NAMES]]
    rest = summary.names[_NAMES:]
    if rest:
        parts.append((words.count(len(rest), "other name"), sum(seconds for _, seconds in rest)))
    if (idle := summary.offered - summary.computing) > 0:
        parts.append(("Threads without a task", idle))
    if not offered:
        return []
    return [Row(name, words.duration(seconds), words.share(seconds / offered)) for name, seconds in parts]


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


def plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    kept = "".join(sign if sign.isprintable() or sign == words.SPACE else " " for sign in text)
    return "".join(f"&#{ord(sign)};" if sign in "\\`*_[]<>|&~$:@" else sign for sign in kept)
