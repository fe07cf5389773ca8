"""Recording: sources, the recording they fill, and when both begin and end; how pages follow it."""

from .clusters import AsynchronousClient
from .driver import DRIVER, Driver
from .feed import Feed
from .session import Session, record

__all__ = ["DRIVER", "AsynchronousClient", "Driver", "Feed", "Session", "record"]
