"""Which fonts of this machine have the signs of a text."""

from __future__ import annotations

from functools import cache

#: The font that matplotlib brings along.
_FIRST = "DejaVu Sans"
#: What goes with it best where it lacks a sign; any other font comes after these.
_RATHER = (
    *("Noto Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Hiragino Sans", "Yu Gothic", "Microsoft YaHei"),
    *("WenQuanYi Zen Hei", "Arial Unicode MS", "Segoe UI Symbol", "Noto Sans Symbols2", "Noto Emoji"),
)
#: Fonts of boxes for every sign there is, fonts of nothing, and coloured ones, which matplotlib leaves blank.
_NEVER = ("Last", "Resort", "Blank", "Color")


def families(text: str) -> tuple[list[str], set[str]]:
    """Font families that a text needs, in order, and the signs that none has."""
    found, lacking = [], {ord(sign) for sign in text if not sign.isspace()}
    for family, file in _files().items():
        if has := lacking & _signs(file):
            found.append(family)
            lacking -= has
        if not lacking:
            break
    return found or [_FIRST], set(map(chr, lacking))


@cache
def _files() -> dict[str, str]:
    """An upright file of each family, in the order in which they are asked."""
    from matplotlib.font_manager import fontManager

    known = {
        entry.name: entry.fname
        for entry in fontManager.ttflist
        if entry.style == "normal"
        and entry.weight in (400, "normal", "regular", "book")
        and not set(_NEVER) & set(entry.name.split())
    }
    order = (_FIRST, *_RATHER, *sorted(known))
    return {family: known[family] for family in order if family in known}


@cache
def _signs(file: str) -> frozenset[int]:
    """Code points that a font has."""
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(FT2Font(file).get_charmap())
    except (OSError, RuntimeError):
        # It was taken away since matplotlib looked, or is none.
        return frozenset()
