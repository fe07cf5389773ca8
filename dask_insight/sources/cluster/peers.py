"""Which worker it was that a transfer names by its address."""

from __future__ import annotations

from array import array
from bisect import bisect
from collections.abc import Sequence
from math import isnan

import numpy as np
import numpy.typing as npt

from ...batch import Symbols
from .layouts import pick

#: Workers that are remembered of one address, the latest.
_MOST = 200


class Peers:
    """Addresses of workers as others name them, and who had them when.

    A worker calls itself what it was told to, which may be the name of its host; the scheduler knows it by
    number. Behind firewalls, a new worker often has the address of one that died.
    """

    def __init__(self) -> None:
        self._addresses: dict[str, str] = {}
        #: Who had an address after its first worker, one after the other, and each from when on.
        self._later: dict[str, tuple[list[str], array[float]]] = {}

    def joined(self, label: str, since: float) -> None:
        """The scheduler tells of a worker, and since when it is there; NaN if not known."""
        address, _, later = label.partition("#")
        if not later or isnan(since):
            return
        labels, times = self._later.setdefault(address, ([], array("d")))
        if label not in labels:
            place = bisect(times, since)
            labels.insert(place, label)
            times.insert(place, since)
            del labels[:-_MOST], times[:-_MOST]

    def calls_itself(self, label: str, address: str) -> None:
        """A worker tells the address that it gives to others."""
        known, *_ = label.partition("#")
        if known != address:
            self._addresses[address] = known
        else:
            self._addresses.pop(address, None)

    def named(
        self, codes: npt.NDArray[np.uint32], peers: Sequence[str], when: npt.NDArray[np.float64]
    ) -> Symbols:
        """The column of the workers that had the addresses at these moments; what is none is named as it is.

        Parameters
        ----------
        codes, peers
            Row by row a place among the addresses.
        when
            Row by row a moment, seconds since the epoch; NaN if not known, as if it were before all.
        """
        names, found = [self._addresses.get(peer, peer) for peer in peers], codes.copy()
        for code, address in enumerate(names[:]):
            if address in self._later:
                labels, times = self._later[address]
                rows = np.flatnonzero(codes == code)
                place = np.searchsorted(times, np.nan_to_num(when[rows], nan=-np.inf), "right")
                found[rows] = np.where(place > 0, len(names) + place - 1, code)
                names += labels
        return pick(found, names)
