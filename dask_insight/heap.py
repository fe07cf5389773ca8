"""The memory that this process has freed and its allocator still holds."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any


def give_back() -> None:
    """Have the allocator hand it back to the system; nothing happens where there is no glibc."""
    if (trim := _trim()) is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], Any] | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        trim: Callable[[int], Any] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None
    return trim
