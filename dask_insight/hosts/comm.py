"""A comm that can be used by any thread while a cell runs."""

from __future__ import annotations

from typing import Any

from comm.base_comm import BaseComm


class FreeComm(BaseComm):
    """A comm whose messages belong to no cell.

    ipykernel's own gives each message the header of the cell that happens to run, so a page takes it for
    output of that cell; and since 7.4 it has what pages answer wait until that cell ends.
    """

    @property
    def kernel(self) -> Any:
        """The kernel that sends its messages, or None."""
        raise NotImplementedError

    @property
    def parent(self) -> dict[str, Any]:
        """The message that the next one answers; an empty one by default."""
        return {}

    def publish_msg(
        self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
    ) -> None:
        """Send to all pages; from any thread."""
        kernel = self.kernel
        if kernel is None or kernel.session is None:
            return
        kernel.session.send(
            kernel.iopub_socket,
            msg_type,
            {"data": data or {}, "comm_id": self.comm_id, **keys},
            metadata=metadata or {},
            parent=self.parent,
            ident=self.topic,
            buffers=buffers,
        )
