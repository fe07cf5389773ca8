"""One process at a time records to a file."""

from __future__ import annotations

import errno
import os
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .place import place_of

try:
    import fcntl
except ImportError:
    # Windows.
    fcntl = None  # type: ignore[assignment]

#: Whether a single byte can be locked by whoever opened a file, and not by a process.
_OF_BYTES = sys.platform == "linux" and hasattr(fcntl, "F_OFD_SETLK")
#: The byte that is locked, which no file has: on network drives of Windows what is locked cannot be read.
_BYTE = 2**62
#: Descriptors of the files that are locked.
_locked: set[int] = set()


def claim(path: str | os.PathLike[str]) -> Callable[[], None]:
    """Keep other processes from recording to a file, which is there from now on; returns what ends that.

    Where the system, or the one that the file is on, has no locks that leave what is in the file alone,
    nobody is kept from it. Processes that are forked off have no part in it.

    Raises
    ------
    OSError
        If it cannot be written, or another process records to it.
    """
    place = place_of(path)
    number = os.open(place, os.O_WRONLY | os.O_CREAT, 0o666)
    try:
        locked = _lock(number, place)
    except (BlockingIOError, PermissionError):
        os.close(number)
        told = "another process records to it; name another file"
        raise OSError(errno.EBUSY, told, str(place)) from None
    if not locked:
        # Nobody takes the place of a file that is open in Windows.
        os.close(number)
        return lambda: None
    _locked.add(number)

    def release() -> None:
        if number in _locked:
            _locked.remove(number)
            # Processes that others than Python forked off hold the same lock.
            with suppress(OSError):
                _set(number, lock=False)
            with suppress(OSError):
                # A program that closes all descriptors has closed it.
                os.close(number)

    return release


def _lock(number: int, place: Path) -> bool:
    """Lock a file; False where there are no locks, or none beside which it can be read and written."""
    if fcntl is None:
        return False
    try:
        _set(number, lock=True)
    except (BlockingIOError, PermissionError):
        raise
    except OSError:
        return False
    return _OF_BYTES or _can_be_read(place)


def _set(number: int, *, lock: bool) -> None:
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
    while _locked:
        with suppress(OSError):
            os.close(_locked.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
