"""Text as a terminal or another stream can take it.

Not every encoding has all its signs, as on Windows where output is redirected. And the names of tasks, which
may come from others, may hold what a terminal obeys.

Standard library only.
"""

from __future__ import annotations

import codecs
import io
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: Name by which the way to write what an encoding lacks is known to `codecs`.
_NEAREST = "dask_insight.nearest"
#: What comes nearest to the signs of our own words.
_INSTEAD = {
    "\N{NARROW NO-BREAK SPACE}": " ",
    "−": "-",
    "–": "-",
    "…": "...",
    "·": "-",
    "×": "x",
    "±": "+-",
    "²": "^2",
    "µ": "u",
    "≈": "~",
    "→": "->",
    **dict.fromkeys("█▉▊▋▌", "#"),
    **dict.fromkeys("▍▎▏", " "),
}


#: Commands to a terminal (colours, titles, places on it) but ends of lines and tabs; what turns text round.
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """Text in which what a terminal would obey stands as it is written in Python."""
    return _OBEYED.sub(lambda found: ascii(found[0])[1:-1], text)


def printed(text: str) -> str:
    """Text as the standard output can take it: as it is, wherever that has all its signs."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        return harmless(text).encode(encoding, _NEAREST).decode(encoding)
    except (LookupError, TypeError, ValueError):
        # A program has put something in its place whose encoding is none of Python's.
        return harmless(text).encode("ascii", _NEAREST).decode("ascii")


@contextmanager
def legible() -> Iterator[None]:
    """Within, the standard streams write what comes nearest to a sign that they do not have."""
    streams = [each for each in (sys.stdout, sys.stderr) if isinstance(each, io.TextIOWrapper)]
    before = [(each, each.errors) for each in streams if _writes(each)]
    for stream, _ in before:
        stream.reconfigure(errors=_NEAREST)
    try:
        yield
    finally:
        for stream, errors in before:
            if _writes(stream):
                stream.reconfigure(errors=errors)


def _writes(stream: io.TextIOWrapper) -> bool:
    """Whether a stream still leads anywhere: a program may have closed it, or taken what is below it."""
    try:
        return not stream.closed
    except ValueError:
        return False


def ascii_json(text: str) -> str:
    """The same JSON, in whichever encoding a program reads it."""
    return re.sub(r"[^\x00-\x7f]", lambda found: json.dumps(found[0])[1:-1], text)


def _nearest(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(_INSTEAD.get(sign) or ascii(sign)[1:-1] for sign in signs), error.end


codecs.register_error(_NEAREST, _nearest)
