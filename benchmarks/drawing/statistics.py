"""Middles of measurements that were taken in rounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median


def quantile(values: Sequence[float], share: float) -> float:
    """The value that this share of them does not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def over_rounds(rounds: Iterable[Sequence[float]], share: float = 0.5) -> float:
    """The median over rounds of a quantile in each."""
    return median(quantile(values, share) for values in rounds)
