"""Reading and writing files so that nobody loses one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import CommandError, ExitCode
from ...frames import MAGIC

if TYPE_CHECKING:
    from ...recording import Recording

SUFFIX = ".dinsight"
#: One of these stands near the beginning of every report, and of what is written for pull requests.
_MARKS = (b'content="dask_insight"', b"<!-- dask-insight")
_HEAD = 64 * 1024


def new_path(stem: str) -> Path:
    """A name for a recording, not yet taken: run.dinsight, run-2.dinsight …"""
    for number in count(1):
        path = Path(f"{stem}{SUFFIX}" if number == 1 else f"{stem}-{number}{SUFFIX}")
        if not path.exists():
            return path
    raise AssertionError("unreachable")


def writable(path: str | os.PathLike[str], force: bool = False) -> Path:
    """A path that may be written: free, or taken by a recording or a report.

    Raises
    ------
    CommandError
        If another kind of file would be lost, or the folder is not there.
    """
    target = Path(path)
    if target.is_dir():
        raise CommandError(f"{target} is a folder: name a file in it", ExitCode.UNWRITABLE)
    folder = target.absolute().parent
    if not folder.is_dir():
        raise CommandError(
            f"there is no folder {folder}: make it with `mkdir -p {folder}`", ExitCode.UNWRITABLE
        )
    if not os.access(target if target.exists() else folder, os.W_OK):
        raise CommandError(f"{target} cannot be written: choose another place with -o", ExitCode.UNWRITABLE)
    if target.exists() and not force and not _is_ours(target):
        raise CommandError(
            f"{target} is there and dask-insight did not make it: choose another name, or use --force",
            ExitCode.UNWRITABLE,
        )
    return target


def _is_ours(path: Path) -> bool:
    if not path.is_file():
        return True
    with path.open("rb") as file:
        head = file.read(_HEAD)
    return not head or head.startswith(MAGIC) or any(mark in head for mark in _MARKS)


def open_file(path: str) -> Recording:
    """Open a recording for a command.

    Raises
    ------
    CommandError
        If it is not there or cannot be read.
    """
    from ...recording import open_recording

    with reading():
        return open_recording(path)


@contextmanager
def reading() -> Iterator[None]:
    """Where recordings are opened, what hinders that is said in one line.

    Raises
    ------
    CommandError
        If one is not there or cannot be read.
    """
    from ...recording import RecordingError

    try:
        yield
    except FileNotFoundError as error:
        raise CommandError(f"there is no file {error.filename}", ExitCode.UNREADABLE) from None
    except IsADirectoryError as error:
        told = f"{error.filename} is a folder: name a recording in it"
        raise CommandError(told, ExitCode.UNREADABLE) from None
    except (RecordingError, OSError) as error:
        raise CommandError(str(error), ExitCode.UNREADABLE) from None


def write_report(recording: Recording, path: Path) -> Path:
    """Write the HTML report of a recording for a command.

    Raises
    ------
    CommandError
        If it cannot be written.
    """
    try:
        recording.report(path)
    except (OSError, RuntimeError) as error:
        raise CommandError(f"the report could not be written: {error}", ExitCode.UNWRITABLE) from error
    return path


def size_of(path: Path) -> str:
    """Size of a file in words."""
    from ...words import size

    return size(path.stat().st_size)
