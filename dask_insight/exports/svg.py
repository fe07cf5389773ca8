"""A panel, or all of them, as SVG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .pictures import write_pictures
from .progress import Told, silent

if TYPE_CHECKING:
    from ..recording import Recording


def write(recording: Recording, path: Path, told: Told = silent, **asked: Any) -> None:
    """Write what is asked for; see `dask_insight.figures.svg`."""
    write_pictures(recording, path, told, ".svg", lambda picture: picture.svg().encode(), **asked)
