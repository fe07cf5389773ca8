"""Batches of a recording without an end: the old ones merged and compressed, the oldest dropped."""

from .history import History
from .part import Part

__all__ = ["History", "Part"]
