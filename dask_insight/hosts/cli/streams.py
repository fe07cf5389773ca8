"""Standard streams that whoever started the command has closed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def all_streams() -> Iterator[None]:
    """Within, a closed stream leads nowhere; a file would take its number, and what is written to it."""
    with ExitStack() as opened:
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
            if getattr(sys, name) is None:
                setattr(sys, name, opened.enter_context(open(os.devnull, mode, encoding="utf-8")))
                opened.callback(setattr, sys, name, None)
        yield
