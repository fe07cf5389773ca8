"""A comparison as text, Markdown, HTML and JSON."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

from ... import words
from ...words import short
from ..plain import marked, plain
from .sections import Section, as_object, sections

if TYPE_CHECKING:
    from ...analysis.compare import Comparison

_TITLE = "Comparison"


def text(comparison: Comparison) -> str:
    """As text in columns."""
    said = "\n".join(filter(None, (comparison.verdict(), comparison.notes())))
    return "\n\n".join([said, *map(_text, sections(comparison))])


def markdown(comparison: Comparison) -> str:
    """As Markdown, as GitHub and GitLab show it."""
    name = " and ".join(str(side) for side in comparison.sides["name"])
    parts = [
        "<!-- dask-insight compare -->",
        f"### {_TITLE}: {plain(name)}",
        marked(_said(comparison)),
    ]
    first, *others = sections(comparison)
    parts.append(_markdown(first))
    for section in others:
        parts += [f"#### {plain(section.title)}", _markdown(section)]
        parts += [plain(section.note)] if section.note else []
    return "\n\n".join(parts) + "\n"


def html(comparison: Comparison) -> str:
    """As plain tables, which sanitisers leave."""
    head = f"<p><b>{_TITLE}</b><br>{words.marked(_said(comparison))}</p>"
    return head + tables(comparison)


def folded(comparison: Comparison) -> str:
    """The words of `html`, and its tables for those who open them."""
    head = f"<p><b>{_TITLE}</b><br>{words.marked(_said(comparison))}</p>"
    return f"{head}<details><summary>As tables</summary>{tables(comparison)}</details>"


def tables(comparison: Comparison) -> str:
    """The tables of `html` alone."""
    return "".join(map(_html, sections(comparison)))


def facts(comparison: Comparison) -> list[tuple[str, str]]:
    """The figures that head a page: the wall time of each side."""
    told = comparison.sides
    return [
        (short(str(name), 60), f"{words.duration(seconds)}, {words.count(runs, 'run')}")
        for name, seconds, runs in zip(told["name"], told["seconds"], told["runs"], strict=True)
    ]


def to_json(comparison: Comparison) -> str:
    """As one JSON object."""
    return json.dumps(as_object(comparison), ensure_ascii=False, indent=2)


def _said(comparison: Comparison) -> str:
    return f"{comparison.verdict()} {comparison.notes()}".strip()


def _text(section: Section) -> str:
    rows = [section.head, *section.rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(section.head))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if column == 0 or section.plain else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join([section.title, *lines, *([section.note] if section.note else [])])


def _markdown(section: Section) -> str:
    figures = "|:---" if section.plain else "|---:"
    lines = [_row(section.head), "|:---" + figures * (len(section.head) - 1) + "|"]
    return "\n".join([*lines, *map(_row, section.rows)])


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(plain, cells))} |"


def _html(section: Section) -> str:
    left = ' style="text-align:left"'

    def cells(tag: str, row: tuple[str, ...]) -> str:
        return "".join(
            f'<{tag} dir="auto"{left if column == 0 or section.plain else ""}>{escape(cell)}</{tag}>'
            for column, cell in enumerate(row)
        )

    head = f"<thead><tr>{cells('th', section.head)}</tr></thead>"
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in section.rows)
    note = f"<p>{escape(section.note)}</p>" if section.note else ""
    caption = f'<p dir="auto"><b>{escape(section.title)}</b></p>'
    return f"{caption}<table>{head}<tbody>{body}</tbody></table>{note}"
