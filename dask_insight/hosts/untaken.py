"""Names of files that nobody has."""

from __future__ import annotations

from itertools import count
from pathlib import Path


def untaken(stem: str, suffix: str) -> Path:
    """A new file, there from now on, so that nobody else takes it: ``run.html``, ``run-2.html`` …

    Raises
    ------
    OSError
        If it cannot be written; ``filename`` names it.
    """
    for number in count(1):
        path = Path(f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}")
        try:
            path.open("xb").close()
        except FileExistsError:
            continue
        return path
    raise AssertionError("unreachable")
