"""The whole report in a file of its own, beside a notebook whose output cannot hold it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ... import words
from ..report import write_report
from ..untaken import untaken

if TYPE_CHECKING:
    from ...recording import Recording


def write_aside(recording: Recording, name: str) -> Path:
    """Write the report into the current folder, to a file that was not there; it is named after the run.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    path = untaken(_stem(recording, name), ".html")
    try:
        return write_report(recording, path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _stem(recording: Recording, name: str) -> str:
    parts = ["dprofile", re.sub(r"[^\w-]+", "-", name).strip("-").lower()[:60] or "report"]
    if began := words.dated(recording.started):
        parts.append(f"{began:%Y%m%d-%H%M%S}")
    return "-".join(parts)
