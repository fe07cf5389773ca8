"""Colours of task names and of what Dask has colours for, as the page gives them: `src-ts/draw/palette.ts`.

A golden file holds both to each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from struct import iter_unpack

Rgb = tuple[int, int, int]

_HUES, _LIGHTNESSES = 12, 4
_SLOTS = _HUES * _LIGHTNESSES
_FIRST_HUE, _LAST_HUE = 85, 345
_MASK = 0xFFFF_FFFF

#: On colours up to this luminance white is read better than black, with 4.5 to 1 or more.
DARK = 0.179
#: What failed attempts are filled with, by status; the strongest first.
FAILED: dict[str, Rgb] = {"erred": (0, 0, 0), "killed": (90, 10, 10), "retried": (70, 70, 76)}


#: Colours for what happens around the computing, Dask's own where it has one, on a light and on a dark
#: background.
_RESERVED: dict[str, tuple[Rgb, Rgb]] = {
    "transfer": ((214, 39, 40), (242, 84, 76)),
    "disk": ((236, 126, 10), (255, 168, 64)),
    "deserialize": ((128, 128, 128), (158, 158, 158)),
    "compress": ((96, 96, 96), (190, 190, 190)),
    "overhead": ((150, 108, 80), (178, 138, 108)),
}


def colors_of(names: Iterable[str], *, dark: bool = False) -> dict[str, Rgb]:
    """A colour for each name; the same names in the same order get the same."""
    slots: dict[str, int] = {}
    used: list[int] = []
    for name in names:
        if name not in slots:
            slots[name] = _choose(hashed(name), used)
            used.append(slots[name])
    return {name: slot_color(slot, dark=dark) for name, slot in slots.items()}


def reserved(kind: str, *, dark: bool) -> Rgb:
    """Colour of transfer, disk, deserialize or compress, Dask's own, or of other overhead."""
    return _RESERVED[kind][dark]


def named(name: str, *, dark: bool) -> Rgb:
    """A colour for a name by itself, whatever others there are."""
    return slot_color(hashed(name) % _SLOTS, dark=dark)


def mixed(under: Rgb, over: Rgb, share: float) -> Rgb:
    """Two colours mixed in linear light; `share` 1 is all `over`."""
    red, green, blue = (
        math.floor(0.5 + 255 * _gamma((1 - share) * _light(a) + share * _light(b)))
        for a, b in zip(under, over, strict=True)
    )
    return red, green, blue


def veiled(under: Rgb, over: Rgb, share: float) -> Rgb:
    """Two colours as a screen lays one over the other; `share` 1 is all `over`."""
    red, green, blue = (round((1 - share) * a + share * b) for a, b in zip(under, over, strict=True))
    return red, green, blue


def luminance(color: Rgb) -> float:
    """Relative luminance as WCAG has it, 0 to 1."""
    red, green, blue = map(_light, color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def css(color: Rgb) -> str:
    """``#rrggbb``."""
    return "#{:02x}{:02x}{:02x}".format(*color)


def _choose(place: int, used: list[int]) -> int:
    first = place % _SLOTS
    for nearest in (3, 2, 1):
        for step in range(_SLOTS):
            slot = (first + step * 17) % _SLOTS
            if all(_distance(slot, other) >= nearest for other in used):
                return slot
    return first


def _distance(slot: int, other: int) -> int:
    return abs(slot % _HUES - other % _HUES) + (slot // _HUES != other // _HUES)


def hashed(text: str) -> int:
    """FNV-1a over UTF-16, then mixed so that similar names fall far apart."""
    value = 2166136261
    for (unit,) in iter_unpack("<H", text.encode("utf-16-le", "surrogatepass")):
        value = (value ^ unit) * 16777619 & _MASK
    value = (value ^ value >> 15) * 2246822507 & _MASK
    return value ^ value >> 13


def slot_color(slot: int, *, dark: bool) -> Rgb:
    """The colour of a place in the palette."""
    hue = _FIRST_HUE + slot % _HUES * (_LAST_HUE - _FIRST_HUE) / (_HUES - 1)
    step = slot // _HUES % _LIGHTNESSES
    low, high = (0.62, 0.84) if dark else (0.5, 0.74)
    lightness = low + (0.62, 0, 1, 0.3)[step] * (high - low)
    return oklch(lightness, 0.14 if step == 1 else 0.115, hue)


def oklch(lightness: float, chroma: float, hue: float) -> Rgb:
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


def _light(channel: int) -> float:
    value = channel / 255
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _gamma(value: float) -> float:
    return 12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055
