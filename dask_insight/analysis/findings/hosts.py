"""How much memory hosts of workers had left, as these sampled it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ... import words
from ...tables.processes import of_processes
from ...timeline import LOCAL
from .samples import Samples

if TYPE_CHECKING:
    from .facts import Facts

_COLUMNS = ("process", "time", "memory", "host_free", "host_memory")


class Low(NamedTuple):
    """A host in the moment at which least of its memory was left."""

    name: str
    #: Those that were recorded there.
    workers: tuple[str, ...]
    #: How many of them were there then.
    at_once: int
    #: Seconds since the epoch.
    when: float
    #: Bytes that could still be had, of how many, and what the workers had then.
    free: float
    memory: float
    used: float

    @property
    def left(self) -> float:
        """Share of its memory that could still be had, 0 to 1."""
        return self.free / self.memory

    @property
    def title(self) -> str:
        """How much was left of how much."""
        which = f"Host {self.name}" if self.name else "The host"
        return f"{which} had {words.size(self.free)} of its {words.size(self.memory)} of memory left"


class Host(NamedTuple):
    """A host, by what its workers sampled, if they did."""

    name: str
    #: Columns of ``resources`` by worker.
    samples: dict[str, dict[str, np.ndarray]]
    #: Those in which the host's own memory may be told.
    looks: list[dict[str, np.ndarray]]

    def lowest(self, facts: Facts, since: float, until: float) -> Low | None:
        """When least of its memory was left between two moments; None if nobody sampled it then."""
        found = [each for mine in self.looks if (each := _lowest(mine, since, until))]
        if not found:
            return None
        free, when, memory = min(found)
        here: dict[str, float] = {}
        for name, mine in self.samples.items():
            before = mine["memory"][(mine["time"] <= when) & np.isfinite(mine["memory"])]
            if len(before) and not facts.left(name) < when:
                here[name] = float(before[-1])
        used = of_processes((facts.processes[name], amount) for name, amount in here.items())
        return Low(self.name, tuple(self.samples), len(here), when, free, memory, used)


def _lowest(mine: dict[str, np.ndarray], since: float, until: float) -> tuple[float, float, float] | None:
    """Bytes that were left, when, and of how many, where a worker sampled least."""
    told = np.isfinite(mine["host_free"]) & (mine["host_memory"] > 0)
    rows = np.flatnonzero(told & (mine["time"] > since) & (mine["time"] <= until))
    if not len(rows):
        return None
    row = rows[np.argmin(mine["host_free"][rows])]
    return float(mine["host_free"][row]), float(mine["time"][row]), float(mine["host_memory"][row])


def hosts(facts: Facts) -> list[Host]:
    """Hosts of workers."""
    table = facts.read("resources")
    samples = Samples({name: table[name] for name in _COLUMNS})
    home = samples.of(LOCAL)
    found: dict[str, Host] = {}
    for name, worker in facts.workers.items():
        host = found.setdefault(worker["host"], Host(worker["host"], {}, []))
        host.samples[name] = mine = samples.of(name)
        # Processes of a pool do not look at their host; the one that began them does.
        host.looks.extend([mine] if worker["cluster"] else [mine, home])
    return [*found.values()]
