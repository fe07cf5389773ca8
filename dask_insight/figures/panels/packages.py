"""Which body of code a file belongs to, as a person would name it, and its colour."""

from __future__ import annotations

import re
from functools import cache

from ..colors import Rgb, hashed, oklch

STANDARD_LIBRARY, OWN_CODE, NATIVE = "Python", "your code", "native"

_INSTALLED = re.compile(r"(?:site|dist)-packages[\\/]([^\\/]+)")
_STANDARD = re.compile(r"[\\/][Pp]ython\d+(?:\.\d+)?t?[\\/]|\\Lib\\|^<frozen |[\\/]lib[\\/]python")
_DASK = re.compile(r"[\\/](distributed|dask)[\\/][\w.]+\.py$")
#: Hues that are given to packages, away from each other; red and orange are kept free.
_HUES = (255, 150, 310, 200, 115, 340, 175, 280, 225)
_KNOWN = {"distributed": 255, "dask": 235, "numpy": 150, "pandas": 310}
_OWN_HUE = 88
#: Frames of one package differ a little, so that neighbours can be told apart.
_VARIANTS = 4


@cache
def package_of(file: str) -> str:
    """The package of a file."""
    if installed := _INSTALLED.search(file):
        return re.sub(r"\.cpython.*$", "", re.sub(r"\.(py|so|pyd)$", "", installed[1]))
    if _STANDARD.search(file):
        return STANDARD_LIBRARY
    if file in ("", "~"):
        return NATIVE
    found = _DASK.search(file)
    return found[1] if found else OWN_CODE


def package_color(package: str, function: str = "", *, dark: bool) -> Rgb:
    """The colour of a package, or of a function in it."""
    variant = hashed(function) % _VARIANTS if function else 0
    lightness = (0.42 if dark else 0.87) + (0.022 if dark else -0.022) * variant
    if package in (STANDARD_LIBRARY, NATIVE):
        return oklch(lightness, 0.006, 250)
    hue = _OWN_HUE if package == OWN_CODE else _KNOWN.get(package, _HUES[hashed(package) % len(_HUES)])
    return oklch(lightness, 0.11 if package == OWN_CODE else 0.065, hue)
