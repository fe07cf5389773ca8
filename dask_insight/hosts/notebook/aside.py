"""The whole report in a file of its own, beside a notebook whose output cannot hold it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ... import words
from ..report import write_report
from ..untaken import untaken

if TYPE_CHECKING:
    from ...recording import Recording


def write_aside(recording: Recording, name: str, folder: Path) -> Path:
    """Write the report into a folder, to a file that was not there; it is named after the run.

    Returns
    -------
    Path
        Its name alone where that is enough, as in the current folder; else the whole path.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    path = untaken(str(folder / _stem(recording, name)), ".html")
    try:
        write_report(recording, path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    is_here = os.path.exists(path.name) and os.path.samefile(path.name, path)
    return Path(path.name) if is_here else path


def _stem(recording: Recording, name: str) -> str:
    parts = ["dprofile", re.sub(r"[^\w-]+", "-", name).strip("-").lower()[:60] or "report"]
    if began := words.dated(recording.started):
        parts.append(f"{began:%Y%m%d-%H%M%S}")
    return "-".join(parts)
