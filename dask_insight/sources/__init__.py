"""Where recordings come from: one module or package for each origin."""

from __future__ import annotations

from typing import Protocol

from ..options import Emit

__all__ = ["Source"]


class Source(Protocol):
    """Something that can be recorded."""

    async def start(self, emit: Emit) -> None:
        """Begin to hand batches to `emit`."""

    async def stop(self) -> None:
        """Hand over what is left and end; bounded in time, and never raises for a source that has died."""
