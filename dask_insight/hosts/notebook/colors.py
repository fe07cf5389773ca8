"""The colours of task names, as the page gives them: `src-ts/draw/palette.ts`; a test compares both."""

from __future__ import annotations

import math
from collections.abc import Iterable
from struct import iter_unpack

Rgb = tuple[int, int, int]

_HUES, _LIGHTNESSES = 12, 4
_SLOTS = _HUES * _LIGHTNESSES
_FIRST_HUE, _LAST_HUE = 85, 345
_MASK = 0xFFFF_FFFF

#: What failed attempts are filled with, by status; the strongest first.
FAILED: dict[str, Rgb] = {"erred": (0, 0, 0), "killed": (90, 10, 10), "retried": (70, 70, 76)}


def colors_of(names: Iterable[str]) -> dict[str, Rgb]:
    """A colour for each name on a light background; the same names in the same order get the same."""
    slots: dict[str, int] = {}
    used: list[int] = []
    for name in names:
        if name not in slots:
            slots[name] = _choose(_hash(name), used)
            used.append(slots[name])
    return {name: _slot_color(slot) for name, slot in slots.items()}


def _choose(hashed: int, used: list[int]) -> int:
    first = hashed % _SLOTS
    for nearest in (3, 2, 1):
        for step in range(_SLOTS):
            slot = (first + step * 17) % _SLOTS
            if all(_distance(slot, other) >= nearest for other in used):
                return slot
    return first


def _distance(slot: int, other: int) -> int:
    return abs(slot % _HUES - other % _HUES) + (slot // _HUES != other // _HUES)


def _hash(text: str) -> int:
    """FNV-1a over UTF-16, then mixed so that similar names fall far apart."""
    value = 2166136261
    for (unit,) in iter_unpack("<H", text.encode("utf-16-le", "surrogatepass")):
        value = (value ^ unit) * 16777619 & _MASK
    value = (value ^ value >> 15) * 2246822507 & _MASK
    return value ^ value >> 13


def _slot_color(slot: int) -> Rgb:
    hue = _FIRST_HUE + slot % _HUES * (_LAST_HUE - _FIRST_HUE) / (_HUES - 1)
    step = slot // _HUES % _LIGHTNESSES
    lightness = 0.5 + (0.62, 0, 1, 0.3)[step] * (0.74 - 0.5)
    return _oklch(lightness, 0.14 if step == 1 else 0.115, hue)


def _oklch(lightness: float, chroma: float, hue: float) -> Rgb:
    """OKLCH to sRGB; chroma is lowered until the colour exists."""
    while chroma > 0.005:
        linear = _linear(lightness, chroma, hue)
        if all(-0.002 < value < 1.002 for value in linear):
            return _encoded(linear)
        chroma *= 0.93
    return _encoded(_linear(lightness, 0, hue))


def _linear(lightness: float, chroma: float, hue: float) -> tuple[float, float, float]:
    a, b = chroma * math.cos(hue * math.pi / 180), chroma * math.sin(hue * math.pi / 180)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
    )


def _encoded(linear: tuple[float, float, float]) -> Rgb:
    red, green, blue = (math.floor(0.5 + 255 * _gamma(min(1.0, max(0.0, each)))) for each in linear)
    return red, green, blue


def _gamma(value: float) -> float:
    return 12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055
