"""Text of a recording in a drawing: how wide it is, how it is cut, and what it must not hold."""

from __future__ import annotations

import unicodedata

from ..words import SPACE

_ELLIPSIS = "…"
#: Advances of printable ASCII in DejaVu Sans, the widest of the usual fonts, in hundredths of its size.
_ASCII = (
    32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79,
    60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63,
    63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
)  # fmt: skip
#: What is wide in every font; everything else counts as a letter.
_WIDE, _LETTER = 1.25, 0.64


def clean(text: str) -> str:
    """Without signs that do not print, which XML refuses, too."""
    return "".join(sign if sign.isprintable() or sign == SPACE else "\ufffd" for sign in text)


def width(text: str, size: float) -> float:
    """About how wide a text is, in pixels; rather too wide than too narrow."""
    return size * sum(map(_advance, text))


def fitted(text: str, room: float, size: float) -> str:
    """The text with its middle left out where it is too wide; '' if nothing telling would be left."""
    if width(text, size) <= room:
        return text
    advances = [size * _advance(sign) for sign in text]
    left = room - size * _advance(_ELLIPSIS)
    head, tail = 0, len(text)
    while head < tail:
        # The head keeps as much as the tail, or a sign more.
        take_head = head <= len(text) - tail
        cost = advances[head] if take_head else advances[tail - 1]
        if cost > left:
            break
        left -= cost
        head, tail = (head + 1, tail) if take_head else (head, tail - 1)
    kept = head + len(text) - tail
    return f"{text[:head]}{_ELLIPSIS}{text[tail:]}" if kept >= 3 else ""


def cut(text: str, room: float, size: float) -> str:
    """The text, cut at its end where it is wider than the room; '' if fewer than four signs would be left."""
    if width(text, size) <= room:
        return text
    left = room - size * _advance(_ELLIPSIS)
    kept = 0
    for sign in text:
        left -= size * _advance(sign)
        if left < 0:
            break
        kept += 1
    return text[:kept] + _ELLIPSIS if kept >= 4 else ""


def lines(text: str, room: float, size: float, most: int) -> list[str]:
    """A sentence in so many lines at most, parted between words; the last one is cut if it must be."""
    made: list[str] = []
    # No sign is narrower than a pixel: what is beyond would be cut anyway.
    for word in text[: most * (int(room) + 2)].split(" "):
        longer = f"{made[-1]} {word}" if made else word
        if made and (width(longer, size) <= room or len(made) == most):
            made[-1] = longer
        else:
            made.append(word)
    return [cut(line, room, size) for line in made]


def _advance(sign: str) -> float:
    place = ord(sign) - 32
    if 0 <= place < len(_ASCII):
        return _ASCII[place] / 100
    if sign == SPACE:
        return 0.2
    return _WIDE if unicodedata.east_asian_width(sign) in "FW" else _LETTER
