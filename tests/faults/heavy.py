"""A library that takes long to import, as those with models in them do."""

from __future__ import annotations

from .planting import compute

WEIGHTS = [compute(1.6)]


def predict(number: int) -> float:
    """What it is imported for."""
    return WEIGHTS[0] * number
