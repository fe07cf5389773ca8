"""A panel, or all of them, as PNG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..figures.defaults import SCALE
from .pictures import write_pictures
from .progress import Told, silent

if TYPE_CHECKING:
    from ..recording import Recording


def write(
    recording: Recording, path: Path, told: Told = silent, *, scale: float = SCALE, **asked: Any
) -> None:
    """Write what is asked for; see `dask_insight.figures.png`."""
    write_pictures(recording, path, told, ".png", lambda picture: picture.png(scale), **asked)
