"""Lengths of time as people type them."""

from __future__ import annotations

import argparse
from string import ascii_lowercase
from threading import TIMEOUT_MAX

#: Seconds of each unit: Dask's, which is not to be imported yet, and ``min``.
_UNITS = {
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), 1e-9),
    **dict.fromkeys(("us", "microsecond", "microseconds"), 1e-6),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("", "s", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86_400.0),
    **dict.fromkeys(("w", "week", "weeks"), 604_800.0),
}


def seconds(text: str) -> float:
    """Seconds of a length of time such as ``30s``, ``5 min`` or ``1h``; for `argparse`.

    Raises
    ------
    argparse.ArgumentTypeError
        If it is none, not above zero, or longer than a thread can wait.
    """
    try:
        given = text.lower().replace(" ", "")
        unit = given[len(given.rstrip(ascii_lowercase)) :]
        value = float(given.removesuffix(unit)) * _UNITS[unit]
    except (KeyError, ValueError):
        value = -1.0
    if not 0 < value <= TIMEOUT_MAX:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no length of time; write it like 200ms, 30s, 5min or 1h"
        )
    return value
