"""Keeps the demo's own errors and warnings off the terminal; the recording has them."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator

_ABOVE_ALL = logging.CRITICAL + 1


def mute() -> dict[logging.Handler, int]:
    """Have distributed's loggers print nothing in this process; gives the levels there were."""
    handlers = [
        handler
        for handler in logging.getLogger("distributed").handlers
        if isinstance(handler, logging.StreamHandler)
    ]
    before: dict[logging.Handler, int] = {handler: handler.level for handler in handlers}
    for handler in handlers:
        handler.setLevel(_ABOVE_ALL)
    return before


def mute_worker() -> None:
    """The same for good, to run on a worker."""
    mute()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Within, neither logs nor warnings of Dask reach the terminal."""
    before = mute()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Dask annotations")
            yield
    finally:
        for handler, level in before.items():
            handler.setLevel(level)
