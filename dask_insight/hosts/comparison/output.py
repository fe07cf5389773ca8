"""What a notebook keeps of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...analysis.overview import short
from ..notebook.frame import frame
from ..report import MissingFrontEnd
from .forms import folded

if TYPE_CHECKING:
    from ...analysis.compare import Comparison


def bundle(comparison: Comparison) -> dict[str, str]:
    """The MIME bundle of a comparison: the panel in a sandboxed frame, and tables that sanitisers leave."""
    name = short(str(comparison.recording.about.get("name") or "Comparison"), 120)
    words = folded(comparison)
    try:
        report = frame(comparison.recording, name, words)
    except MissingFrontEnd:
        return {"text/html": comparison._repr_html_(), "text/plain": str(comparison)}
    return {"text/html": words + report, "text/plain": str(comparison)}
