"""What a notebook keeps of a comparison."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ...analysis.overview import short
from ..notebook.frame import frame
from ..report import MissingFrontEnd
from .forms import tables, text

if TYPE_CHECKING:
    from ...analysis.compare import Comparison


def bundle(comparison: Comparison) -> dict[str, str]:
    """The MIME bundle of a comparison: the panel in a sandboxed frame, and tables that sanitisers leave."""
    name = short(str(comparison.recording.about.get("name") or "Comparison"), 120)
    head = f'<p dir="auto"><b>{escape(name)}</b><br>{escape(comparison.verdict())}</p>'
    rows = tables(comparison)
    try:
        report = frame(comparison.recording, name, rows)
    except MissingFrontEnd:
        return {"text/html": comparison._repr_html_(), "text/plain": text(comparison)}
    listed = f"<details><summary>As tables</summary>{rows}</details>"
    return {"text/html": head + report + listed, "text/plain": text(comparison)}
