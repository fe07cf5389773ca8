"""What the texts of an exception and its traceback tell: its kind, and where it was raised."""

from __future__ import annotations

import re

from .stacks import STANDARD

#: As `repr` begins for most, and texts that stand for an exception; `Unseen` is none.
_TYPE = re.compile(r"(?!Unseen: )([^\W\d][\w.]*)(?:\(| \(its repr failed\)$|: )")
#: A line of a traceback after its last frame.
_LAST = re.compile(r"\n([^\W\d][\w.]*)(?:: |\n|$)")
_FRAME = re.compile(r'^  File "([^"\n]+)", line (\d+), in ([^\s`]+)', re.MULTILINE)
_INSTALLED = re.compile(rf"[\\/](?:site|dist)-packages[\\/]|[\\/]{STANDARD}|[\\/]Lib[\\/]|^<frozen ")


def kind_of(exception: str, traceback: str) -> str:
    """Name of an exception's type; '' if neither text tells it."""
    told = _TYPE.match(exception) or _LAST.search(traceback.rpartition('\n  File "')[2])
    return told[1].rpartition(".")[2] if told else ""


def raised_in(traceback: str) -> str:
    """The last frame outside of installed packages, else the last: "in `load`, etl.py:40"; '' if none."""
    frames: list[tuple[str, str, str]] = _FRAME.findall(traceback)
    own = [frame for frame in frames if not _INSTALLED.search(frame[0])]
    for file, line, function in (own or frames)[-1:]:
        name = re.split(r"[\\/]", file)[-1]
        return f"in `{function}`, {name}:{line}"
    return ""
