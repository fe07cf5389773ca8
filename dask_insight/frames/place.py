"""Where a file is written that takes the place of another."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def place_of(path: str | os.PathLike[str]) -> Path:
    """The file that a path stands for, behind links; what is written beside it and renamed keeps those.

    Raises
    ------
    OSError
        If a device or a pipe is there, whose place no file must take.
    """
    given = Path(path)
    if given.exists() and not given.is_file() and not given.is_dir():
        raise OSError(
            errno.EINVAL, "a device or a pipe, whose place no file can take; name a file", str(given)
        )
    return Path(os.path.realpath(given))
