"""Files that take the place of another."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from time import monotonic, sleep
from typing import BinaryIO

from .layout import MAGIC

#: Windows lets nobody take the place of a file that another program holds, such as a virus scanner.
_HELD = sys.platform == "win32"
#: Seconds for which that is tried, and between two tries at first and at most.
_PATIENCE = 2.0
_PAUSE, _LONGEST = 0.01, 0.25
#: Signs that the path of a file may have there, unless its owner allows more.
_LONGEST_PATH = 259
#: What a file system says to what it does not know; to fsync Windows says the last for all that goes wrong.
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


def current_folder() -> Path:
    """The folder in which this process works; an empty path if that has been removed."""
    try:
        return Path.cwd()
    except OSError:
        return Path()


def must_have_folder(place: Path) -> None:
    """Raise `FileNotFoundError`, in words that name the cure, where the folder of a file is not."""
    if not place.parent.is_dir():
        told = "there is no such folder: make it first"
        raise FileNotFoundError(errno.ENOENT, told, str(place.parent))


def holds_recording(path: str | os.PathLike[str]) -> bool:
    """Whether a file that can be read is a recording."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


@contextmanager
def replacing(
    path: str | os.PathLike[str], moment: Callable[[Path], AbstractContextManager[object]] = nullcontext
) -> Iterator[BinaryIO]:
    """A file to write within, which takes the place of another, and its permissions, when it is whole.

    Nobody else writes to it, in no process or thread, and nothing of it is left where that fails: unless it
    is whole, and the other is lost.

    Parameters
    ----------
    path
        Where the other is.
    moment
        What is to hold while its place is taken; gets that.

    Raises
    ------
    OSError
        If a device, a pipe or a folder is there, its folder is not, or it cannot be written.
    """
    target = place_of(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "a folder: name a file in it", str(target))
    must_have_folder(target)
    partial = beside(target, "part")
    kept = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    # Until it has those of the other, nobody else is to look into it.
    first = 0o666 if kept is None else 0o600
    begun, whole = _begun(partial, target, first), False
    try:
        with begun as file:
            # In Windows they only say that a file must not be written.
            if kept is not None and not _HELD:
                with _if_able(target, errno.EPERM, errno.EACCES):
                    partial.chmod(kept)
            yield file
            file.flush()
            # Network drives tell only now that theirs is full; and a machine that fails before the disk
            # keeps it might have neither this file nor the one whose place it takes.
            with _if_able(target):
                os.fsync(file.fileno())
        whole = True
        with moment(target):
            _take(partial, target, new=kept is None)
    finally:
        if not whole or kept is None or target.exists():
            partial.unlink(missing_ok=True)


def _take(partial: Path, target: Path, new: bool) -> None:
    """Take a place; once more where the attempt has lost what was there, as kernels do on network drives."""
    try:
        take_place(partial, target)
    except OSError as error:
        if new or target.exists() or not partial.exists():
            raise
        try:
            take_place(partial, target)
        except OSError:
            told = f"{error.strerror}, though it is whole in {partial.name}"
            raise OSError(error.errno, told, str(target)) from None


def _begun(partial: Path, target: Path, mode: int) -> BinaryIO:
    """What is written in place of a file, by whose name errors go: nobody knows the other."""
    try:
        return open(partial, "xb", opener=lambda name, flags: os.open(name, flags, mode))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None


@contextmanager
def _if_able(target: Path, *unable: int) -> Iterator[None]:
    """Do within what not every file system lets be done with what is written in place of `target`."""
    try:
        yield
    except OSError as error:
        if error.errno not in (*_UNABLE, *unable):
            raise OSError(error.errno, error.strerror, str(target)) from None


def beside(place: Path, end: str) -> Path:
    """A name in the same folder that nothing has, and that is not too long where the other is not."""
    unique = os.urandom(4).hex()
    found = place.with_name(f".{place.name[:_SIGNS]}.{unique}.{end}")
    if _HELD and len(str(found)) > _LONGEST_PATH:
        return place.with_name(unique[: len(place.name)])
    return found


def take_place(written: Path, place: Path) -> None:
    """Rename a file or folder to another's name, in whose place it is then.

    Where another program may hold one of them for a moment, it is tried again for a short time.

    Raises
    ------
    OSError
        If that cannot be done; `place` is as it was, but for network drives that lose it.
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
