"""Text for a person: on a terminal its lines end between words, where the terminal would cut through them."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from textwrap import wrap

from ...legible import harmless

#: What stands before the first word of a line, so that its further lines stand under that: a label, a number.
_LEAD = re.compile(r"(?:[A-Za-z' /]+ {2,}|\d+\. | *)")
#: Code, links and rows of tables.
_KEPT = re.compile(r" {4}|\S+://|.*\S {2,}\S.*?(?<! ) {2,}\S")


def tell(text: object) -> None:
    """Print a text, no wider than the terminal if it goes to one."""
    told = harmless(str(text))
    print(wrapped(told, shutil.get_terminal_size().columns) if sys.stdout.isatty() else told)


def tell_path(path: Path) -> None:
    """Print a path: programs read it as it is, a terminal obeys nothing of it."""
    if sys.stdout.isatty():
        print(harmless(str(path)))
    elif os.name == "posix" and (written := getattr(sys.stdout, "buffer", None)) is not None:
        # The encoding of the stream may not have what the system's names are made of.
        sys.stdout.flush()
        written.write(os.fsencode(path) + b"\n")
        written.flush()
    else:
        print(path)


def wrapped(text: str, width: int) -> str:
    """A text whose sentences are no wider than so many columns."""
    return "\n".join(line for long in text.split("\n") for line in _lines(long, width))


def _lines(line: str, width: int) -> list[str]:
    lead = _LEAD.match(line)
    if len(line) <= width or lead is None or _KEPT.match(line):
        return [line]
    under = " " * min(lead.end(), width // 2)
    return wrap(line, width, subsequent_indent=under, break_long_words=False, break_on_hyphens=False)
