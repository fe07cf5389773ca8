"""Where an axis is marked: round steps, and one unit for all marks."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..words import SPACE

#: Round steps of time in seconds, beyond which whole days follow.
_TIME = (10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)
_SMALL = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


class Tick(NamedTuple):
    """A mark and what stands at it."""

    value: float
    label: str


def time_ticks(low: float, high: float, most: int) -> list[Tick]:
    """Marks for moments, seconds."""
    rough = (high - low) / max(1, most)
    if rough > 5:
        step = next((float(each) for each in _TIME if each >= rough), math.ceil(rough / 86400) * 86400.0)
    else:
        step = _round(rough)
    if step >= 60:
        return [Tick(value, _minutes(value, step)) for value in _multiples(low, high, step)]
    size, unit = next(((size, unit) for size, unit in _SMALL if abs(high) >= size), _SMALL[-1])
    digits = max(0, math.ceil(-math.log10(step / size) - 1e-9))
    if high >= 120:
        return [Tick(value, _moment(value, digits)) for value in _multiples(low, high, step)]
    labels = [(value, f"{value / size:.{digits}f}") for value in _multiples(low, high, step)]
    return [Tick(value, f"{'0' if float(text) == 0 else text}{SPACE}{unit}") for value, text in labels]


def amount_ticks(low: float, high: float, most: int, unit: str) -> list[Tick]:
    """Marks for amounts in s, bytes, bytes/s, %, count or a unit of one's own."""
    rough = (high - low) / max(1, most)
    largest = max(abs(low), abs(high))
    size, name = 1.0, "" if unit in ("", "count") else unit
    if unit in ("bytes", "bytes/s"):
        power = 0
        while largest >= 999.5 * 1024**power and power < len(_BYTES) - 1:
            power += 1
        size, name = 1024.0**power, _BYTES[power] + unit.removeprefix("bytes")
    elif unit == "s":
        size, name = next((each for each in _SMALL if largest >= each[0]), _SMALL[0])
    step = _round(rough / size) * size
    if unit == "count":
        step = max(1.0, step)
    end = f"{SPACE}{name}" if name else ""
    return [Tick(value, f"{_plain(value / size)}{end}") for value in _multiples(low, high, step)]


def upright_ticks(low: float, high: float, height: float, unit: str) -> list[Tick]:
    """Marks of an axis of amounts that stands upright: one above zero, and no more than there is room."""
    few = max(2, int(height / 40)) + (low < 0)
    ticks: list[Tick] = []
    for most in range(few, few + 3):
        ticks = amount_ticks(low, high, most, unit)
        if any(tick.value > 0 for tick in ticks):
            break
    return ticks


def _round(rough: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    if not rough > 0:
        return 1.0
    power: float = 10.0 ** math.floor(math.log10(rough))
    lead = rough / power
    return next(each for each in (1, 2, 5, 10) if lead <= each + 1e-9) * power


def _multiples(low: float, high: float, step: float) -> list[float]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, min(last, first + 1000) + 1)]


def _minutes(value: float, step: float) -> str:
    whole = round(value)
    if step >= 86400:
        return f"{round(whole / 86400)}{SPACE}d"
    if whole >= 3600:
        return f"{whole // 3600}{SPACE}h {whole % 3600 // 60:02d}{SPACE}min"
    return f"{whole // 60}{SPACE}min" if whole else f"0{SPACE}s"


def _moment(seconds: float, digits: int) -> str:
    """A moment to so many digits, minutes apart where there are some: ``53 min 15.5 s``."""
    minutes, rest = divmod(round(seconds, digits), 60)
    padded = f"{rest:0{digits + 3 if digits else 2}.{digits}f}{SPACE}s"
    if minutes >= 60:
        return f"{minutes // 60:.0f}{SPACE}h {minutes % 60:02.0f}{SPACE}min {padded}"
    if minutes > 0:
        return f"{minutes:.0f}{SPACE}min {padded}"
    return f"{rest:.{digits if rest else 0}f}{SPACE}s"


def _plain(value: float) -> str:
    text = f"{value:,.3g}" if abs(value) < 999.5 else f"{value:,.0f}"
    return text.replace("-", "\N{MINUS SIGN}")
