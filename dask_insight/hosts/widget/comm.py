"""The comm between a widget and its pages."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ..comm import FreeComm

if TYPE_CHECKING:
    from ipykernel.ipkernel import IPythonKernel


class WidgetComm(FreeComm):
    """Only an answer to a page's message has a parent, namely that message."""

    _answered: ContextVar[dict[str, Any] | None] = ContextVar("answered", default=None)

    @property
    def kernel(self) -> IPythonKernel | None:
        return running_kernel()

    @property
    def parent(self) -> dict[str, Any]:
        return self._answered.get() or {}

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


def running_kernel() -> IPythonKernel | None:
    """The kernel that this process is, if it is ipykernel's own; Colab, marimo and Pyodide have theirs."""
    application = getattr(sys.modules.get("ipykernel.kernelapp"), "IPKernelApp", None)
    if application is None or not application.initialized():
        return None
    from ipykernel.ipkernel import IPythonKernel

    kernel = application.instance().kernel
    return kernel if type(kernel) is IPythonKernel else None
