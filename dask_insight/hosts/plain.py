"""Text from elsewhere in Markdown."""

from __future__ import annotations

from dask_insight import words


def plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    kept = "".join(sign if sign.isprintable() or sign == words.SPACE else " " for sign in text)
    return "".join(f"&#{ord(sign)};" if sign in "\\`*_[]<>|&~$:@" else sign for sign in kept)
