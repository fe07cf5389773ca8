"""Recording: sources, the recording they fill, and when both begin and end; how pages follow it."""

from .clusters import AsynchronousClient
from .driver import DRIVER, Driver
from .feed import Feed
from .session import Session, record
from .target import IncompleteFile

__all__ = ["DRIVER", "AsynchronousClient", "Driver", "Feed", "IncompleteFile", "Session", "record"]
