"""What `%load_ext dask_insight` does in a kernel, and undoes."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import Any

from ...session import DRIVER, Feed
from ...session.cells import Cells
from ...session.explainer import explainer_of
from ...session.live import end_watching, hold_live

_lock = threading.Lock()
_loaded: Extension | None = None


def load(ip: Any) -> None:
    """Show pages what Dask does in this process; a second time does nothing."""
    global _loaded
    with _lock:
        if _loaded is None:
            _loaded = Extension(ip)


def unload(ip: Any) -> None:
    """Undo `load`, leaving nothing behind: widgets that watch keep what they show."""
    global _loaded
    with _lock:
        ending, _loaded = _loaded, None
    if ending is not None:
        with ExitStack() as rest:
            rest.callback(end_watching)
            ending.close()


class Extension:
    """The live session of a process, and in a kernel its pages."""

    def __init__(self, ip: Any) -> None:
        self._live, release = hold_live()
        self._undo = ExitStack()
        self._undo.callback(release)
        try:
            self._begin(ip)
        except BaseException:
            self.close()
            raise

    def _begin(self, ip: Any) -> None:
        if _has_pages(ip):
            status = self._serve(ip)
            cells = Cells(ip, status, status.began, status.ended)
            self._undo.callback(cells.close)

    def _serve(self, ip: Any) -> Any:
        from .comm import Pages
        from .status import Status
        from .wishes import Wishes

        status, wishes = Status(ip), Wishes()

        def receive(message: Any) -> None:
            status.disturbed()
            feed.handle(wishes.joined(message))

        feed = Feed(
            self._live.recording,
            lambda message, buffers: pages.send(message, buffers),
            wake=DRIVER.wake,
            state=self._live.state,
            settings=self._live.set,
            explainer=explainer_of(self._live.recording),
        )
        try:
            pages = Pages(feed.hello(), receive)
        except BaseException:
            feed.close()
            raise
        # The feed says good-bye through the pages.
        self._undo.callback(pages.close)
        self._undo.callback(feed.close)
        for driven in (feed, status):
            self._undo.callback(DRIVER.drive(driven))
        return status

    def close(self) -> None:
        """End it all."""
        self._undo.close()


def _has_pages(ip: Any) -> bool:
    """Whether the shell's kernel is one whose comms we know; not so in a terminal."""
    try:
        import comm  # noqa: F401
        from ipykernel.kernelbase import Kernel
    except ImportError:
        return False
    return isinstance(getattr(ip, "kernel", None), Kernel)
