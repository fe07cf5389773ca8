"""What was lost before it could be recorded, and what cannot be recorded, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_WORDS = {
    "lost": "attempts were dropped before they could be sent",
    "lost_transfers": "times transfers were dropped before they could be sent",
    "lost_messages": "messages were dropped because the scheduler did not take them",
    "lost_samples": "times the stacks could not be looked at, or there were more samples than can be kept",
    "lost_resources": "samples of resources failed or lack figures, or there were more than can be kept",
    "lost_logs": "warnings of the log were dropped, there were more than can be kept",
}


def lost_words(told: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each loss that a message counts."""
    for name, what in _WORDS.items():
        if told.get(name):
            yield f"{told[name]} {what}"


def gap_words(reasons: Iterable[str]) -> Iterator[str]:
    """A sentence for each thing that cannot be recorded in a process."""
    return (f"not recorded here: {reason}" for reason in reasons)
