"""Recording: sources, the recording they fill, and when both begin and end."""

from .clusters import AsynchronousClient
from .session import Session, record

__all__ = ["AsynchronousClient", "Session", "record"]
