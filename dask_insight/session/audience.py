"""Who looks at a recording while it grows."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Audience:
    """Those who look on at the moment, as hosts know that show a recording.

    Parameters
    ----------
    came
        Called, from any thread, when somebody looks on and may not have before.
    """

    def __init__(self, came: Callable[[], None] = lambda: None) -> None:
        self._came = came
        self._lock = threading.RLock()
        self._hosts: dict[object, Callable[[], bool]] = {}

    def add(self, looked_at: Callable[[], bool]) -> Callable[[], None]:
        """Ask `looked_at` too, from any thread, until the result is called."""
        key = object()
        with self._lock:
            self._hosts[key] = looked_at

        def stop() -> None:
            with self._lock:
                self._hosts.pop(key, None)

        return stop

    def came(self) -> None:
        """Somebody looks on from now; from any thread."""
        self._came()

    @property
    def there(self) -> bool:
        """Whether somebody looks on."""
        with self._lock:
            hosts = list(self._hosts.values())
        return any(looked_at() for looked_at in hosts)
