"""Batches of a recording without an end: the old ones merged and compressed, the oldest dropped."""

from .history import History
from .part import Chunk, Part, Unread

__all__ = ["Chunk", "History", "Part", "Unread"]
