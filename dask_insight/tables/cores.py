"""Which workers share CPU cores: those of a host, or of a container or batch job there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Place(NamedTuple):
    """What has the cores that workers share; see the columns of ``workers``."""

    host: str
    core_set: int
    cores: int


def places(workers: Mapping[str, Any]) -> dict[str, Place]:
    """Where each worker of the table ``workers`` has its cores, as far as that is known."""
    told = zip(*(workers[name].tolist() for name in ("worker", *Place._fields)), strict=True)
    found = {worker: Place(*place) for worker, *place in told}
    return {worker: place for worker, place in found.items() if place.host and place.cores > 0}
