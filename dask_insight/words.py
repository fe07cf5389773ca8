"""Amounts as people read them: three significant figures, a unit, a narrow space between.

And what threads do, in words. Standard library only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from html import escape

from .legible import printed

#: Stands between a number and its unit and does not break a line, and before a number below zero; where they
#: could not be printed, what comes nearest.
SPACE, MINUS = printed("\N{NARROW NO-BREAK SPACE}"), printed("\N{MINUS SIGN}")
#: Other signs that not all code pages of Windows have, in the same way.
MICRO, DASH, DOT, TIMES, PLUS_MINUS = map(printed, "µ–·×±")
#: Seconds since the epoch that are a date: files without one count from 0, or from a machine's start.
_DATED = (1e8, 3e10)
#: What threads did in and around task functions, and while they were idle, by part of the time budget.
COMPUTING = {
    "cpu": "computing on a CPU",
    "compute": "computing",
    "off-cpu": "computing off the CPU",
    "failed": "computing, no result",
}
AROUND = {
    "deserialize": "deserializing",
    "serialize": "serializing",
    "disk": "reading from disk and writing to it",
    "overhead": "starting and ending tasks",
}
IDLE = {
    "inputs": "waiting for inputs",
    "data": "waiting for data from other workers",
    "processes": "starting processes and moving data between them",
    "placement": "idle beside busy workers",
    "scheduler": "waiting for the scheduler",
    "paused": "paused for lack of memory",
    "resources": "waiting for resources of workers",
    "client": "without tasks",
    "joining": "on workers that had just joined",
    "leaving": "on workers that were leaving or died",
}
#: The part of the wall time in which there was no worker, of which no thread tells; and all parts.
ABSENT = "no worker"
PARTS = {**COMPUTING, **AROUND, **IDLE, ABSENT: "without a worker"}


def duration(seconds: float) -> str:
    """Seconds as ``850 µs``, ``3.42 s``, ``2 min 05 s`` or ``5 d 23 h``; a dash where unknown."""
    if not math.isfinite(seconds):
        return DASH
    size = abs(seconds)
    if size >= 48 * 3600 - 30:
        hours = round(size / 3600)
        return _sign(seconds) + f"{hours // 24}{SPACE}d {hours % 24:02d}{SPACE}h"
    if size >= 3600 - 0.5:
        minutes = round(size / 60)
        return _sign(seconds) + f"{minutes // 60}{SPACE}h {minutes % 60:02d}{SPACE}min"
    if size >= 99.95:
        whole = round(size)
        return _sign(seconds) + f"{whole // 60}{SPACE}min {whole % 60:02d}{SPACE}s"
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, f"{MICRO}s")):
        if size >= 0.9995 * scale:
            return _three(seconds / scale) + SPACE + unit
    return "0" + SPACE + "s" if size < 0.5e-9 else _three(seconds / 1e-6) + f"{SPACE}{MICRO}s"


def signed(value: float, say: Callable[[float], str] = duration) -> str:
    """How much more, after a ``+``, or less something is."""
    return ("+" if value > 0 else _sign(value)) + say(abs(value))


def size(amount: float) -> str:
    """Bytes in binary units: ``1.21 GiB``; a dash where unknown."""
    if not math.isfinite(amount):
        return DASH
    units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    power = 0
    while abs(amount) >= 999.5 and power < len(units) - 1:
        amount /= 1024
        power += 1
    return (f"{amount:.0f}" if power == 0 else _three(amount)) + SPACE + units[power]


def dated(moment: float) -> datetime | None:
    """A moment, seconds since the epoch, as a date here; None where it is none."""
    return datetime.fromtimestamp(moment).astimezone() if _DATED[0] < moment < _DATED[1] else None


def share(part: float) -> str:
    """A share of 1 in per cent, whole above one per cent."""
    if not math.isfinite(part):
        return DASH
    percent = 100 * part
    if percent == 0 or abs(percent) >= 0.95:
        return f"{percent:.0f}{SPACE}%"
    return ("<" + SPACE + "0.1" if abs(percent) < 0.1 else f"{percent:.1f}") + SPACE + "%"


def count(number: int, one: str = "", many: str = "") -> str:
    """A whole number with thousands told apart, and what is counted: ``1,024 tasks``."""
    noun = one if number == 1 else many or f"{one}s"
    return f"{number:,} {noun}" if one else f"{number:,}"


def about(number: float, one: str = "", *, digits: int = 2) -> str:
    """A number to so many figures, and what is counted by it: ``490 cores``, ``1 core``, ``2.5 cores``."""
    rounded = float(f"{number:.{digits}g}")
    text = f"{rounded:,.15g}"
    return f"{text} {one if rounded == 1 else f'{one}s'}" if one else text


def round_up(number: float) -> float:
    """The next round number: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(number))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= 0.999 * number)


def listing(items: Iterable[str]) -> str:
    """``a, b and c``."""
    *most, last = list(items) or [""]
    return f"{', '.join(most)} and {last}" if most else last


def short(name: str, most: int = 60) -> str:
    """A name with its middle left out where it is longer than `most` characters."""
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[:half]}…{name[-half:]}"


def marked(text: str) -> str:
    """Text as HTML, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r'<code dir="auto">\1</code>', escape(text))


def of_cluster(name: str) -> str:
    """What a sentence about one of several clusters begins with; '' where there is but one."""
    return f"{name}: " if name else ""


def _sign(value: float) -> str:
    return MINUS if value < 0 else ""


def _three(value: float) -> str:
    size = abs(value)
    digits = 0 if size >= 99.95 else 1 if size >= 9.995 else 2
    text = f"{size:.{digits}f}"
    return _sign(value) + (text.rstrip("0").rstrip(".") if "." in text else text)


def in_a_line(text: str) -> str:
    """Text from elsewhere that ends neither its line nor its paragraph."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else " " for sign in text)


def place(file: str, line: int) -> str:
    """Name of a file, without its folders, and the line; '' if there is none."""
    return f"{in_a_line(file.replace(chr(92), '/').rpartition('/')[2])}:{line}" if file else ""
