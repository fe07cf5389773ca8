"""The comm to the pages, and the ways by which their messages reach a busy kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from comm import get_comm_manager
from ipykernel.kernelbase import Kernel

from ...session.feed import PROTOCOL, own_version
from ..comm import FreeComm

#: Name of the comm target; pages know it.
TARGET = "dask_insight"

Receive = Callable[[Mapping[str, Any]], None]


class PageComm(FreeComm):
    """A comm that triggers no hook of IPython."""

    @property
    def kernel(self) -> Kernel | None:
        return Kernel.instance() if Kernel.initialized() else None

    def handle_msg(self, msg: Any) -> None:
        """A page's message; on whatever thread it came in."""
        if self._msg_callback:
            self._msg_callback(msg)


class Pages:
    """All pages that show this kernel.

    Parameters
    ----------
    hello
        What is sent when the comm opens.
    receive
        Called with each message of a page, on the thread on which it came in.
    """

    def __init__(self, hello: Mapping[str, Any], receive: Receive) -> None:
        self._receive = receive
        self._mark = {"dask_insight": {"protocol": PROTOCOL, "version": own_version()}}
        self._open = True
        self._unroute = _route()
        # Not opened by its constructor: a page answers within a millisecond, on another thread.
        self._comm = PageComm(target_name=TARGET, primary=False)
        self._comm.primary = True
        self._comm.on_msg(self._on_msg)
        self._comm.on_close(self._on_close)
        try:
            self._comm.open(data=dict(hello), metadata=self._mark)
        except BaseException:
            self.close()
            raise

    def send(self, message: dict[str, Any], buffers: list[bytes]) -> None:
        """Send to all pages; from any thread."""
        self._comm.send(message, metadata=self._mark, buffers=buffers)

    def close(self) -> None:
        """Leave the kernel as it was."""
        self._open = False
        self._unroute()
        self._comm.on_msg(None)
        self._comm.on_close(None)
        self._comm.close(metadata=self._mark)

    def _on_msg(self, msg: Any) -> None:
        data = msg["content"]["data"]
        if isinstance(data, Mapping):
            self._receive(data)

    def _on_close(self, _msg: Any) -> None:
        """A page that does not know us has refused the comm; it stays open for the others."""
        if self._open:
            self._comm._closed = False
            get_comm_manager().register_comm(self._comm)


def _route() -> Callable[[], None]:
    """Take comm messages on the control channel too, which is answered while a cell runs."""
    kernel: Any = Kernel.instance()
    handlers = kernel.control_handlers
    if "comm_msg" in handlers:
        return lambda: None
    handlers["comm_msg"] = kernel.shell_handlers["comm_msg"]
    return lambda: handlers.pop("comm_msg", None)
