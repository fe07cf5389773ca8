"""Slices within slices: the outermost ones of a timeline, and what ran within them as call stacks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...schema import NOTHING
from .stacks import Frame, Stacks

#: Microseconds by which a slice may last longer than the one that it is within.
_SLACK = 1e-3


class Fold:
    """Slices of many lanes, folded.

    Parameters
    ----------
    lane
        The lane of each slice, as numbers.
    start, stop
        Microseconds; a stop that is NaN never came.
    names
        Name of each slice.

    Attributes
    ----------
    outer
        Slices that are within no other, in their order.
    within
        Of those in lanes that have slices within slices: stack, begin and end of what was innermost in them,
        one after another.
    stacks
        The stacks that `within` names.
    """

    def __init__(self, lane: np.ndarray, start: np.ndarray, stop: np.ndarray, names: Sequence[str]) -> None:
        self._start = start
        self._stop = np.where(np.isnan(stop), np.inf, stop)
        self._names = names
        self._frame_of: dict[str, int] = {}
        self.stacks = Stacks()
        is_outer = np.ones(len(lane), bool)
        order = np.lexsort((-self._stop, start, lane))
        lane = lane[order]
        overlaps = (lane[1:] == lane[:-1]) & (start[order][1:] < self._stop[order][:-1] - _SLACK)
        self.within: dict[int, list[tuple[int, float, float]]] = {}
        mixed = np.unique(lane[1:][overlaps])
        bounds = np.searchsorted(lane, mixed), np.searchsorted(lane, mixed, "right")
        for first, last in zip(*bounds, strict=True):
            self._sweep(order[first:last].tolist(), is_outer)
        self.outer = np.flatnonzero(is_outer)

    @property
    def frames(self) -> list[Frame]:
        """The frames of `stacks`."""
        return [Frame(name) for name in self._frame_of]

    def _sweep(self, rows: Sequence[int], is_outer: np.ndarray) -> None:
        """Go along a lane; time belongs to the innermost slice that is open."""
        last = max(
            (float(self._stop[row]) for row in rows if np.isfinite(self._stop[row])),
            default=float(self._start[rows[-1]]),
        )
        open_: list[tuple[int, float]] = []
        outer, at = -1, 0.0

        def until(moment: float) -> None:
            nonlocal at
            while open_:
                stack, stop = open_[-1]
                end = min(moment, stop, max(last, at))
                if end > at:
                    self.within.setdefault(outer, []).append((stack, at, end))
                    at = end
                if stop > moment:
                    return
                open_.pop()

        for row in rows:
            start, stop = float(self._start[row]), float(self._stop[row])
            until(start)
            inside = bool(open_) and stop <= open_[-1][1] + _SLACK
            if inside:
                is_outer[row] = False
            else:
                open_.clear()
                outer = row
            at = start
            name = self._frame_of.setdefault(self._names[row], len(self._frame_of))
            open_.append((self.stacks.above(open_[-1][0] if open_ else NOTHING, name), stop))
        until(np.inf)
