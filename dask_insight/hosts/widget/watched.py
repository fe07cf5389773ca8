"""The live sessions that widgets watch, each as long as somebody does."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from dask_insight.session.live import Live, hold_live, until_unloaded

#: Taken again where a widget is found to be garbage just then.
_lock = threading.RLock()
#: Of single clients, by the client's id; and how many watch each.
_sessions: dict[str, Live] = {}
_holders: defaultdict[str, int] = defaultdict(int)


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
        # First of all: from here on nobody else ends it.
        _holders[name] += 1
        try:
            if name not in _sessions:
                begun = Live(client=client)
                begun.start()
                _sessions[name] = begun
        except BaseException:
            _let_go(name)
            raise
        return _sessions[name], _Release(name)


def _let_go(name: str) -> Live | None:
    """One less watches; gives the session if nobody does any more."""
    _holders[name] -= 1
    if _holders[name]:
        return None
    del _holders[name]
    return _sessions.pop(name, None)


class _Release:
    """Gives a client's session back, once."""

    def __init__(self, name: str) -> None:
        self._name: str | None = name

    def __call__(self) -> None:
        with _lock:
            name, self._name = self._name, None
            session = None if name is None else _let_go(name)
        if session is not None:
            session.stop()
