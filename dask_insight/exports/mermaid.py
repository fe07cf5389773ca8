"""The shape of a computation as a Mermaid flowchart: https://mermaid.js.org/syntax/flowchart.html."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .files import replaced
from .progress import Told, silent

if TYPE_CHECKING:
    from ..recording import Recording


def write(recording: Recording, path: Path, told: Told = silent) -> None:
    """Write the flowchart."""
    with replaced(path) as file:
        file.write(f"{recording.shape().mermaid()}\n".encode("utf-8", "replace"))
        told(1.0)
