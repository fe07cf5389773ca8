"""The comm between a widget and its pages."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from comm.base_comm import BaseComm

if TYPE_CHECKING:
    from ipykernel.kernelbase import Kernel


class WidgetComm(BaseComm):
    """Like ipykernel's own, but it can be used by any thread while a cell is running.

    ipykernel's gives each message the header of the cell that happens to run,
    as if the message were its output; and since 7.4 it has what pages answer
    wait until that cell ends. This one stands for itself: only an answer to a
    page's message has a parent, namely that message.
    """

    _answered: ContextVar[dict[str, Any] | None] = ContextVar("answered", default=None)

    def publish_msg(
        self,
        msg_type: str,
        data: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        buffers: Any = None,
        **keys: Any,
    ) -> None:
        """Send a message to all pages."""
        kernel = running_kernel()
        if kernel is None or kernel.session is None:
            return
        kernel.session.send(
            kernel.iopub_socket,
            msg_type,
            {"data": data or {}, "comm_id": self.comm_id, **keys},
            metadata=metadata or {},
            parent=self._answered.get() or {},
            ident=self.topic,
            buffers=buffers,
        )

    def handle_msg(self, msg: dict[str, Any]) -> None:
        """Take a page's message; only a change of a trait counts as running code of the person's."""
        before = self._answered.set(msg)
        try:
            if msg["content"]["data"].get("method") == "update":
                super().handle_msg(msg)
            elif self._msg_callback is not None:
                self._msg_callback(msg)
        finally:
            self._answered.reset(before)


def open_comm(data: dict[str, Any], version: str) -> Any:
    """Open the comm of a widget, of whichever kind suits the place in which Python runs."""
    made: dict[str, Any] = {
        "target_name": "jupyter.widget",
        "data": data,
        "metadata": {"version": version},
    }
    if running_kernel() is not None:
        return WidgetComm(**made)
    from comm import create_comm

    return create_comm(**made)


def running_kernel() -> Kernel | None:
    """The kernel that this process is, if it is ipykernel's own; Colab, marimo and Pyodide have theirs."""
    application = getattr(sys.modules.get("ipykernel.kernelapp"), "IPKernelApp", None)
    if application is None or not application.initialized():
        return None
    from ipykernel.ipkernel import IPythonKernel

    kernel = application.instance().kernel
    return kernel if type(kernel) is IPythonKernel else None
