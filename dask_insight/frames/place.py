"""Files that take the place of another."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import BinaryIO

from .layout import MAGIC

#: Windows lets nobody take the place of a file that another program holds, such as a virus scanner.
_HELD = sys.platform == "win32"
#: Seconds for which that is tried, and between two tries at first and at most.
_PATIENCE = 2.0
_PAUSE, _LONGEST = 0.01, 0.25
#: What fsync says where a file system does not know it; Windows says the last for all that goes wrong.
_UNABLE = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF)
#: Signs of a name by which people know what belongs to it.
_SIGNS = 40


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


def holds_recording(path: str | os.PathLike[str]) -> bool:
    """Whether a file that can be read is a recording."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write within, which takes the place of another, and its permissions, when it is whole.

    Nobody else writes to it, in no process or thread, and nothing of it is left where that fails.

    Raises
    ------
    OSError
        If a device, a pipe or a folder is there, its folder is not, or it cannot be written.
    """
    target = place_of(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "a folder: name a file in it", str(target))
    if not target.parent.is_dir():
        told = "there is no such folder: make it first"
        raise FileNotFoundError(errno.ENOENT, told, str(target.parent))
    partial = beside(target, "part")
    kept = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    # Until it has those of the other, nobody else is to look into it.
    first = 0o666 if kept is None else 0o600
    try:
        with _begun(partial, target, first) as file:
            # In Windows they only say that a file must not be written.
            if kept is not None and not _HELD:
                # Not every file system lets them be changed.
                with suppress(PermissionError):
                    partial.chmod(kept)
            yield file
            file.flush()
            _sync(file)
        take_place(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def _begun(partial: Path, target: Path, mode: int) -> BinaryIO:
    """What is written in place of a file, by whose name errors go: nobody knows the other."""
    try:
        return open(partial, "xb", opener=lambda name, flags: os.open(name, flags, mode))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None


def _sync(file: BinaryIO) -> None:
    """Have the disk keep what was written; network drives tell only now that theirs is full.

    Else a machine that fails soon after may have neither this file nor the one whose place it takes.
    """
    try:
        os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in _UNABLE:
            raise


def beside(place: Path, end: str) -> Path:
    """A name in the same folder that nothing has, and that is not too long where the other is not."""
    return place.with_name(f".{place.name[:_SIGNS]}.{os.urandom(4).hex()}.{end}")


def take_place(written: Path, place: Path) -> None:
    """Rename a file or folder to another's name, in whose place it is then.

    Where another program may hold one of them for a moment, it is tried again for a short time.

    Raises
    ------
    OSError
        If that cannot be done; `place` is as it was.
    """
    deadline, pause = monotonic() + _PATIENCE, _PAUSE
    while True:
        try:
            os.replace(written, place)
            return
        except PermissionError:
            if not _HELD or monotonic() >= deadline:
                raise
        sleep(pause)
        pause = min(2 * pause, _LONGEST)
