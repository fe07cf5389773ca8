"""Text from elsewhere in Markdown."""

from __future__ import annotations

import re

from dask_insight import words


def plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    kept = "".join(sign if sign.isprintable() or sign == words.SPACE else " " for sign in text)
    escaped = "".join(f"&#{ord(sign)};" if sign in "\\`*_[]<>|&~$:@" else sign for sign in kept)
    # GitHub makes links of such names.
    return escaped.replace("www.", "www&#46;")


def marked(text: str) -> str:
    """The same, with names that stand between backticks as code, where they hold nothing else."""
    parts = text.split("`")
    return "".join(
        f"`{part}`" if at % 2 and re.fullmatch(r"[\w.-]+", part) else plain(part)
        for at, part in enumerate(parts)
    )
