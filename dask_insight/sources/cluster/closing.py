"""How long a client may take to close, as whoever closes it has said."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from dask.utils import parse_timedelta

_CLOSE = "close"


def when_closed_within(client: Any, hear: Callable[[float], None]) -> Callable[[], None]:
    """Call `hear` with the seconds that `client.close` may take, before it closes; the result ends that.

    Beyond them Dask gives the client up half closed. It is called in the thread that closes.
    """
    close = getattr(client, _CLOSE, None)
    if close is None:
        return lambda: None

    def closing(*args: Any, **options: Any) -> Any:
        timeout = args[0] if args else options.get("timeout")
        with suppress(Exception):
            if timeout:
                hear(float(parse_timedelta(timeout)))
        return close(*args, **options)

    def end() -> None:
        # Whoever came later has ours within.
        if vars(client).get(_CLOSE) is closing:
            del vars(client)[_CLOSE]

    vars(client)[_CLOSE] = closing
    return end
