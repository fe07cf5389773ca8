"""How much memory the system allowed the workers, beside the limit that Dask knows of each, and others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...batch import Symbols
from ...timeline import LOCAL, is_local, is_pooled, most_at_once, schedulers_mixed
from .samples import Samples

if TYPE_CHECKING:
    from .facts import Facts

#: Seconds for which the last sample of a process that is gone holds.
_MOMENT = 1e-3


class Allowed(NamedTuple):
    """A limit that workers of one container or job share."""

    #: Those of them that were recorded, in the order in which they came.
    workers: tuple[str, ...]
    #: Bytes that the system allows them together.
    bytes: float
    #: Workers at once, at most, and bytes that Dask lets these use together; infinity if one has no limit.
    at_once: int
    dask: float
    #: Bytes that the processes of all used at once, at most, as far as sampled.
    used: float
    #: Processes that the system killed for memory meanwhile.
    kills: int


class Beside(NamedTuple):
    """What the system allows processes that are no workers of a cluster, and share no limit with these."""

    #: `scheduler`, `client`, or `local` for a local scheduler with the processes of its pools.
    process: str
    #: Bytes that the system allows, and that were used at once, at most, as far as sampled.
    bytes: float
    used: float
    #: When they used most, seconds since the epoch.
    when: float
    #: Processes that the system killed for memory meanwhile.
    kills: int


def allowed(facts: Facts) -> list[Allowed]:
    """All limits that are known, below what the machines have."""
    shared: dict[Any, dict[str, dict[str, np.ndarray]]] = {}
    for name, mine in _limited(_samples(facts), _of_clusters(facts)).items():
        shared.setdefault((facts.workers[name]["host"], _group(mine)), {})[name] = mine
    return [_of_group(facts, workers) for workers in shared.values()]


def beside(facts: Facts) -> list[Beside]:
    """The same of the scheduler, the client and local schedulers, the fullest first."""
    samples, local = _samples(facts), [name for name in facts.workers if is_local(name)]
    with_workers = set[tuple[float, float]]().union(
        *map(_limits, _limited(samples, _of_clusters(facts)).values())
    )
    home = [LOCAL, *(name for name in local if not is_pooled(name))]
    heads = [*home, "client", *(() if schedulers_mixed(facts.read) else ("scheduler",))]
    shared: dict[tuple[float, float], tuple[str, dict[str, dict[str, np.ndarray]]]] = {}
    for name, mine in _limited(samples, heads).items():
        process = LOCAL if name in home else name
        # The first of those that are one process, or share a limit, stands for all.
        first, those = shared.setdefault((_group(mine), _allows({name: mine})), (process, {}))
        if process == first:
            those[name] = mine
    pools = {name: samples.of(name) for name in local if is_pooled(name)}
    found = [
        _beside(facts, process, mine, pools if process == LOCAL else {})
        for process, mine in shared.values()
        if not any(_limits(each) & with_workers for each in mine.values())
    ]
    return sorted(found, key=lambda each: each.used / each.bytes, reverse=True)


def _of_clusters(facts: Facts) -> list[str]:
    """Workers that Dask limits: local schedulers' processes are none."""
    return [name for name, worker in facts.workers.items() if worker["cluster"]]


def _samples(facts: Facts) -> Samples:
    """What is sampled of memory; nothing where the system is not known to limit it."""
    table = facts.read("resources")
    names = ("process", "time", "memory", "memory_allowed", "memory_group", "oom_kills")
    if "memory_allowed" not in table or not np.isfinite(table["memory_allowed"]).any():
        return Samples({name: np.zeros(0) for name in names} | {"process": Symbols(np.zeros(0, "u4"), [])})
    return Samples({name: table[name] for name in names})


def _limited(samples: Samples, names: Iterable[str]) -> dict[str, dict[str, np.ndarray]]:
    """What each of some processes sampled of its memory while the system limited that."""
    found = {}
    for name in names:
        mine = samples.of(name)
        mine = {column: values[mine["memory_allowed"] > 0] for column, values in mine.items()}
        if len(mine["time"]):
            found[name] = mine
    return found


def _group(mine: dict[str, np.ndarray]) -> float:
    """A number of what shares the limit."""
    return float(mine["memory_group"][0])


def _limits(mine: dict[str, np.ndarray]) -> set[tuple[float, float]]:
    """The same with the bytes that were allowed: on two hosts one number may stand for two groups."""
    return {(_group(mine), float(nbytes)) for nbytes in np.unique(mine["memory_allowed"])}


def _of_group(facts: Facts, workers: dict[str, dict[str, np.ndarray]]) -> Allowed:
    at_once = [
        [other for other in workers if _joined(facts, other) <= _joined(facts, name) < facts.left(other)]
        for name in workers
    ]
    most = max(at_once, key=lambda names: (sum(_limit(facts, name) for name in names), len(names)))
    return Allowed(
        workers=tuple(sorted(workers, key=lambda name: _joined(facts, name))),
        bytes=_allows(workers),
        at_once=len(most),
        dask=sum(_limit(facts, name) for name in most),
        used=_used(facts, workers, facts.processes),
        kills=_kills(workers),
    )


def _beside(
    facts: Facts,
    process: str,
    home: dict[str, dict[str, np.ndarray]],
    pools: dict[str, dict[str, np.ndarray]],
) -> Beside:
    # Processes of a pool do not look at the limit; the one that began them does.
    samples = home | {name: mine for name, mine in pools.items() if len(mine["time"])}
    fullest = max(samples.values(), key=lambda mine: float(np.nan_to_num(mine["memory"]).max()))
    return Beside(
        process=process,
        bytes=_allows(home),
        used=_used(facts, samples, {name: process if name in home else name for name in samples}),
        when=float(fullest["time"][np.nan_to_num(fullest["memory"]).argmax()]),
        kills=_kills(home),
    )


def _allows(samples: Mapping[str, dict[str, np.ndarray]]) -> float:
    """Bytes that the system allowed in the end."""
    return float([*samples.values()][-1]["memory_allowed"][-1])


def _kills(samples: Mapping[str, dict[str, np.ndarray]]) -> int:
    """Processes that the system killed meanwhile."""
    counts = np.concatenate([mine["oom_kills"] for mine in samples.values()])
    counts = counts[np.isfinite(counts)]
    return int(np.ptp(counts)) if len(counts) else 0


def _used(facts: Facts, samples: Mapping[str, dict[str, np.ndarray]], of: Mapping[str, Any]) -> float:
    """Bytes that were used at once, at most: each process has what it sampled last, until it is gone.

    `of` tells the process of each name; those that share one tell of the same.
    """
    shared: dict[Any, list[str]] = {}
    for name in samples:
        shared.setdefault(of[name], []).append(name)
    parts = []
    for names in shared.values():
        time, memory = (
            np.concatenate([samples[name][column] for name in names]) for column in ("time", "memory")
        )
        order = np.argsort(time, kind="stable")
        order = order[np.isfinite(memory[order])]
        if len(order):
            time, memory = time[order], memory[order]
            gone = max(max(facts.left(name) for name in names), time[-1] + _MOMENT)
            parts.append((time, np.append(time[1:], gone), memory))
    if not parts:
        return 0.0
    since, until, nbytes = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return most_at_once(since, until, nbytes)


def _joined(facts: Facts, name: str) -> float:
    joined = float(facts.workers[name]["joined"])
    return joined if np.isfinite(joined) else -np.inf


def _limit(facts: Facts, name: str) -> float:
    limit = float(facts.workers[name]["memory_limit"])
    return limit if limit > 0 else np.inf
