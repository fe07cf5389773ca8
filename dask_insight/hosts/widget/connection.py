"""A widget's feed, for as long as a page shows it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from dask_insight.recording import Recording
from dask_insight.session.cells import telling_shell
from dask_insight.session.driver import DRIVER
from dask_insight.session.explainer import explainer_of
from dask_insight.session.feed import Feed, Send
from dask_insight.session.page import LEASE

#: Seconds of silence after which a page is forgotten where nothing tells whether a cell runs, for whose end
#: it may wait: longer than most run. A page that was closed is sent one message in `TRICKLE` seconds at most.
PATIENT_LEASE = 86_400.0


class Connection:
    """Feeds the pages that say hello, until the last of them says that it goes.

    Parameters
    ----------
    recording
        What they follow.
    send
        Sends a message with its buffers to all pages, from any thread.
    state
        What they are told besides the batches.
    """

    def __init__(self, recording: Recording, send: Send, state: Callable[[], Mapping[str, Any]]) -> None:
        self._recording = recording
        self._send = send
        self._state = state
        self._lock = threading.RLock()
        self._feed: Feed | None = None
        self._undrive: Callable[[], None] = lambda: None

    def receive(self, message: Any) -> None:
        """Take a page's message, on whichever thread it came in."""
        if not isinstance(message, Mapping):
            return
        end: Callable[[], None] | None = None
        with self._lock:
            if self._feed is None and message.get("type") == "hello":
                self._feed = Feed(
                    self._recording,
                    self._send,
                    wake=DRIVER.wake,
                    state=self._state,
                    explainer=explainer_of(self._recording),
                    lease=PATIENT_LEASE if telling_shell() is None else LEASE,
                )
                self._undrive = DRIVER.drive(self._feed)
            if self._feed is not None:
                self._feed.handle(message)
                if message.get("type") == "bye" and self._feed.pages == 0:
                    end = self._taken()
        if end is not None:
            end()

    def touched(self) -> None:
        """Somebody is at a page; from any thread."""
        if (feed := self._feed) is not None:
            feed.stir()

    def stop(self) -> None:
        """Feed nobody; pages are told."""
        with self._lock:
            end = self._taken()
        end()

    def _taken(self) -> Callable[[], None]:
        """Take the feed away; what ends it waits for a message on its way, so not under the lock."""
        feed, self._feed = self._feed, None
        undrive, self._undrive = self._undrive, lambda: None

        def end() -> None:
            undrive()
            if feed is not None:
                feed.close()

        return end
