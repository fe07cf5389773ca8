"""Which worker it was that a transfer names by its address."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...batch import Symbols
from .layouts import pick


class Peers:
    """Addresses of workers as others name them, and who had them when.

    A worker calls itself what it was told to, which may be the name of its host; the scheduler knows it by
    number. Behind firewalls, a new worker often has the address of one that died.
    """

    def __init__(self) -> None:
        self._addresses: dict[str, str] = {}
        #: From when on each worker had an address, by the address.
        self._workers: dict[str, dict[str, float]] = {}

    def joined(self, label: str, since: float) -> None:
        """The scheduler tells of a worker, and since when it is there; NaN if not known."""
        address, *_ = label.partition("#")
        self._workers.setdefault(address, {}).setdefault(label, since)

    def calls_itself(self, label: str, address: str) -> None:
        """A worker tells the address that it gives to others."""
        self._addresses[address], *_ = label.partition("#")

    def named(
        self, codes: npt.NDArray[np.uint32], peers: Sequence[str], when: npt.NDArray[np.float64]
    ) -> Symbols:
        """The column of the workers that had the addresses at these moments; what is none is named as it is.

        Parameters
        ----------
        codes, peers
            Row by row a place among the addresses.
        when
            Row by row a moment, seconds since the epoch.
        """
        names, found = [self._addresses.get(peer, peer) for peer in peers], codes.copy()
        for code, address in enumerate(names[:]):
            for label, since in self._workers.get(address, {}).items():
                if label != address:
                    names.append(label)
                    found[(codes == code) & (when >= since)] = len(names) - 1
        return pick(found, names)
