"""Recording: sources, the recording they fill, and when both begin and end."""

from .session import Session, record

__all__ = ["Session", "record"]
