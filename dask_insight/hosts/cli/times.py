"""Lengths of time as people type them."""

from __future__ import annotations

import argparse


def interval(text: str) -> str:
    """Check an interval such as ``200ms``; for `argparse`."""
    seconds(text)
    return text


def seconds(text: str) -> float:
    """Seconds of a length of time such as ``30s``, ``5 min`` or ``1h``; for `argparse`.

    Raises
    ------
    argparse.ArgumentTypeError
        If it is none, or is not above zero.
    """
    from dask.utils import parse_timedelta

    try:
        value = float(parse_timedelta(text, default="s"))
    except (KeyError, ValueError, TypeError):
        value = -1.0
    if value <= 0:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no length of time; write it like 200ms, 30s, 5min or 1h"
        )
    return value
