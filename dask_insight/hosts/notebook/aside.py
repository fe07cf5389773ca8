"""The whole report in a file of its own, beside a notebook whose output cannot hold it."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
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
        Its name alone where it is known to stand beside the notebook; else the whole path.

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
    return Path(path.name) if _is_beside_notebook(path) else path.absolute()


def _is_beside_notebook(path: Path) -> bool:
    """Whether that is known: VS Code and Jupyter's server tell where a notebook is."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    told = getattr(shell, "user_ns", {}).get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", "")
    with suppress(OSError, TypeError):
        return os.path.isabs(told) and os.path.samefile(os.path.dirname(told), path.parent)
    return False


def _stem(recording: Recording, name: str) -> str:
    parts = ["dprofile", re.sub(r"[^\w-]+", "-", name).strip("-").lower()[:60] or "report"]
    if began := words.dated(recording.started):
        parts.append(f"{began:%Y%m%d-%H%M%S}")
    return "-".join(parts)
