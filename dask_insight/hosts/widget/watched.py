"""The live sessions that widgets watch, each as long as somebody does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from dask_insight.session.live import Live, hold_live, until_unloaded

#: Taken again where a widget is found to be garbage just then.
_lock = threading.RLock()
#: Of single clients, by the client's id; and how many watch each.
_sessions: dict[str, tuple[Live, int]] = {}


def hold(client: Any, ended: Callable[[], None]) -> tuple[Live, Callable[[], None]]:
    """A live session that has begun, and what gives it back; of all clients if there is no `client`.

    `ended` is called when it has to be given back, for the extension is unloaded.
    """
    session, release = _held(client)
    revoke = until_unloaded(ended)

    def give_back() -> None:
        revoke()
        release()

    return session, give_back


def _held(client: Any) -> tuple[Live, Callable[[], None]]:
    if client is None:
        return hold_live()
    name = str(client.id)
    with _lock:
        session, holders = _sessions.get(name, (None, 0))
        if session is None:
            session = Live(client=client)
            session.start()
        _sessions[name] = (session, holders + 1)
    return session, _Release(name)


class _Release:
    """Gives a client's session back, once."""

    def __init__(self, name: str) -> None:
        self._name: str | None = name

    def __call__(self) -> None:
        with _lock:
            name, self._name = self._name, None
            if name is None:
                return
            session, holders = _sessions.pop(name)
            if holders > 1:
                _sessions[name] = (session, holders - 1)
                return
        session.stop()
