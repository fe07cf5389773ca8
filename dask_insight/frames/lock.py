"""One process at a time records to a file."""

from __future__ import annotations

import errno
import os
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..descriptors import OwnFile
from .place import must_have_folder, place_of

try:
    import fcntl
except ImportError:
    # Windows.
    fcntl = None  # type: ignore[assignment]

#: Whether a single byte can be locked by whoever opened a file, and not by a process.
_OF_BYTES = sys.platform == "linux" and hasattr(fcntl, "F_OFD_SETLK")
#: The byte that is locked, which no file has: on network drives of Windows what is locked cannot be read.
_BYTE = 2**62


class _Claim:
    """A lock of this process on the file that is at a place."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._file: OwnFile | None = None

    def take(self, flags: int = 0) -> bool:
        """Lock it; False where there are no locks, or none beside which it can be read and written."""
        file = OwnFile(os.open(self.place, os.O_WRONLY | flags, 0o666), "w")
        try:
            locked = _lock(file, self.place)
        except OSError:
            file.close()
            raise
        if locked:
            self._file = file
        else:
            # Nobody takes the place of a file that is open in Windows.
            file.close()
        return locked

    def give_back(self) -> None:
        """Unlock it."""
        if self._file is not None:
            # Processes that others than Python forked off hold the same lock.
            with suppress(OSError):
                _set(self._file, lock=False)
            self.close()

    def close(self) -> None:
        """Close what is open of it."""
        file, self._file = self._file, None
        if file is not None:
            file.close()


#: Claims that nobody has ended.
_claims: set[_Claim] = set()


def claim(path: str | os.PathLike[str]) -> Callable[[], None]:
    """Keep other processes from recording to a file, which is there from now on; returns what ends that.

    Where the system, or the one that the file is on, has no locks that leave what is in the file alone,
    nobody is kept from it. Processes that are forked off have no part in it.

    Raises
    ------
    OSError
        If it cannot be written, or another process records to it.
    """
    claimed = _Claim(place_of(path))
    must_have_folder(claimed.place)
    if claimed.take(os.O_CREAT):
        _claims.add(claimed)

    def release() -> None:
        _claims.discard(claimed)
        claimed.give_back()

    return release


def must_be_free(place: Path) -> None:
    """Raise `OSError` where another process records to a file."""
    if any(each.place == place for each in list(_claims)):
        return
    claimed = _Claim(place)
    try:
        claimed.take()
    except OSError as error:
        # What is not there, or must not be written, can be replaced nevertheless.
        if error.errno == errno.EBUSY:
            raise
    claimed.give_back()


@contextmanager
def unclaimed(place: Path) -> Iterator[None]:
    """Within, a file that is claimed is not open for that; what is at its place then is claimed again.

    Some network drives lose a file that is open when another takes its place.
    """
    mine = [each for each in list(_claims) if each.place == place]
    for each in mine:
        each.give_back()
    try:
        yield
    finally:
        for each in mine:
            # Another thread may have taken it as it replaced the same file.
            each.give_back()
            # It may have gone, or be another's by now.
            with suppress(OSError):
                each.take()
            if each not in _claims:
                # Its end has come meanwhile, in another thread.
                each.give_back()


def _lock(file: OwnFile, place: Path) -> bool:
    if fcntl is None:
        return False
    try:
        _set(file, lock=True)
    except (BlockingIOError, PermissionError):
        told = "another process records to it; name another file"
        raise OSError(errno.EBUSY, told, str(place)) from None
    except OSError:
        return False
    return _OF_BYTES or _can_be_read(place)


def _set(file: OwnFile, *, lock: bool) -> None:
    number = file.fileno()
    if _OF_BYTES:
        # Type, whence, start, length, process.
        told = (fcntl.F_WRLCK if lock else fcntl.F_UNLCK, os.SEEK_SET, _BYTE, 1, 0)
        fcntl.fcntl(number, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", *told))
    else:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB if lock else fcntl.LOCK_UN)


def _can_be_read(place: Path) -> bool:
    try:
        with place.open("rb") as file:
            file.read(1)
    except OSError:
        return False
    return True


def _let_go() -> None:
    """In a process that was forked off: it may live longer than the one that records."""
    while _claims:
        _claims.pop().close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
