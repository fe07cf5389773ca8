"""What a notebook keeps of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...words import short
from ..notebook.frame import frame
from ..notebook.terminal import only_text
from ..report import MissingFrontEnd
from .forms import folded, html

if TYPE_CHECKING:
    from ...analysis.compare import Comparison


def bundle(comparison: Comparison) -> dict[str, str]:
    """The MIME bundle of a comparison: the panel in a sandboxed frame, and tables that sanitisers leave."""
    if only_text():
        return {"text/plain": str(comparison)}
    name = short(str(comparison.recording.about.get("name") or "Comparison"), 120)
    try:
        report = frame(comparison.recording, name, "")
    except MissingFrontEnd:
        return {"text/html": html(comparison), "text/plain": str(comparison)}
    return {"text/html": folded(comparison) + report, "text/plain": str(comparison)}
