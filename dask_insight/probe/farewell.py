"""What happens between recorders and a scheduler that closes: they fetch what they do not have yet."""

from __future__ import annotations

import asyncio
import contextlib
from time import monotonic

#: Seconds that workers have for their last push, and a recorder until it asks for more; and in which it must
#: have asked for all.
PATIENCE, LONGEST = 3.0, 30.0


def topic(package: str, recorder: str) -> str:
    """The topic of Dask's events on which a recorder is told that its scheduler closes."""
    return f"{package}-farewell-{recorder}"


class Farewell:
    """Waits until every recorder has everything.

    Parameters
    ----------
    recorders
        Those that are waited for.
    """

    def __init__(self, recorders: set[str]) -> None:
        self._waiting = recorders
        self._over = asyncio.Event()
        self._asked = monotonic()
        self.without("")

    def asked(self) -> None:
        """A recorder has asked for more."""
        self._asked = monotonic()

    def without(self, recorder: str) -> None:
        """A recorder has everything, or has left."""
        self._waiting.discard(recorder)
        if not self._waiting:
            self._over.set()

    async def over(self) -> None:
        """Wait while recorders ask."""
        end = monotonic() + LONGEST
        while (left := min(self._asked + PATIENCE, end) - monotonic()) > 0 and not self._over.is_set():
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._over.wait(), left)
