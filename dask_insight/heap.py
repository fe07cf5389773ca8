"""The memory that this process has freed and its allocator still holds."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any

#: Share of the time that handing back between steps may take: where much has been freed it takes long.
_SHARE = 0.1
#: When it may be handed back between steps again, by the monotonic clock.
_due = 0.0


def give_back() -> None:
    """Have the allocator hand it back to the system; nothing happens where there is no glibc."""
    global _due
    if (trim := _trim()) is not None:
        began = time.monotonic()
        trim(0)
        ended = time.monotonic()
        _due = ended + (ended - began) / _SHARE


def give_back_between() -> None:
    """The same between two steps of some work, unless it has just been done and took long."""
    if time.monotonic() >= _due:
        give_back()


@cache
def _trim() -> Callable[[int], Any] | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        trim: Callable[[int], Any] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None
    return trim
