"""Results that are too large: for the client that fetches them, or for the memory of a worker."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ... import words
from ...columns import forget
from ...lookup import Lookup, is_any, pick
from ...schema import NOTHING, SECEDED
from ...timeline import Moments, submitted_by_tasks
from .facts import Facts
from .finding import Fact, Finding
from .names import most, quoted, workers_of
from .rule import Rule
from .thresholds import Limits

#: Seconds between two messages to the client up to which they belong to one fetch, and of the time that a
#: message takes: what else a client does between short ones is its own work.
_TOGETHER, _ITS_TIME = 1.0, 2.0


def _oversized(facts: Facts, limits: Limits) -> Iterator[Finding]:
    fetched = list(_brought(facts, limits))
    yield from fetched
    yield from _chunks(facts, limits, {name for each in fetched for name in each.tasks})


def _brought(facts: Facts, limits: Limits) -> Iterator[Finding]:
    """What went to the client."""
    known, transfers, carried = facts.attempts, facts.read("transfers"), facts.read("transferred")
    out = _to_clients(facts, limits)
    total = float(np.nan_to_num(transfers["nbytes"][out]).sum())
    moments = fetching(facts, limits)
    if not len(moments.start):
        return
    made = Lookup(known.task).rows(carried["task"])
    at = Lookup(transfers["transfer"]).rows(carried["transfer"])
    mine = np.flatnonzero((made >= 0) & (at >= 0))
    mine = mine[out[at[mine]]]
    nbytes = np.nan_to_num(carried["nbytes"][mine])
    names = most(facts, made[mine], nbytes)
    largest = float(nbytes.max(initial=0.0))
    waited, parts = _gathered(facts, made[mine], limits)
    # What puts a whole collection together has no name that anybody knows.
    whole = parts and names and facts.for_client[facts.names.index(names[0])]
    whose = parts if whole else names
    client = facts.pieces("client")
    idle = facts.within(client, moments) + waited
    cost = facts.spread_pieces(client, moments) + facts.spread(waited)
    critical = cost >= limits["all.critical"] * facts.wall
    # After the last task nothing tells how long the threads were idle, but they were.
    was_idle = idle > 0 or float(transfers["stop"][out].max()) > facts.stop
    whom, why, advice = _by_tasks() if _within_tasks(facts, out, made[mine], nbytes) else _by_client(was_idle)
    yield Finding(
        code="oversized-results",
        severity="critical" if critical else "warning" if was_idle else "info",
        title=f"{words.size(total)} of results, mostly of {quoted(whose[:1])}, were brought to {whom}",
        tasks=tuple(dict.fromkeys((*names, *parts))),
        workers=workers_of(facts, made[mine]),
        start=facts.since(transfers["start"][out].min()),
        stop=facts.since(transfers["stop"][out].max()),
        cost_thread_seconds=idle,
        cost_seconds=cost,
        is_told=True,
        evidence=(
            Fact("fetched by clients", total, "bytes", limits["oversized-results.fetched"]),
            Fact("largest result of them", largest, "bytes"),
            Fact("threads idle meanwhile", idle, "s"),
        ),
        why=why,
        advice=advice,
        url=OVERSIZED_RESULTS.url,
    )


def _within_tasks(facts: Facts, out: np.ndarray, made: np.ndarray, nbytes: np.ndarray) -> bool:
    """Whether tasks fetched most of what some transfers carried: results of these attempts, of these bytes.

    What a task gathers has no receiver in a recording, as what a client does. So tasks must have asked for
    those results, and have given their thread back meanwhile.
    """
    if nbytes[submitted_by_tasks(facts.read, facts.submission_of(made))].sum() < 0.5 * max(nbytes.sum(), 1.0):
        return False
    transfers, phases = facts.read("transfers"), facts.read("phases")
    seceded = is_any(phases["action"], (SECEDED,))
    away = Moments.of(phases["start"][seceded], phases["stop"][seceded])
    start, stop = transfers["start"][out], transfers["stop"][out]
    return bool(away.within(start, stop).sum() > 0.5 * (stop - start).sum())


def _by_client(was_idle: bool) -> tuple[str, str, str]:
    """To whom results were brought, why that takes long, and what to do about it."""
    meanwhile = " while the workers had nothing to do" if was_idle else ""
    return (
        "the client",
        f"They went into the client's memory{meanwhile}, and through the scheduler's process unless it was "
        "asked to fetch them itself. What does not fit there cannot be fetched at all.",
        "Reduce on the cluster and fetch the small answer; leave large results there with `persist`, "
        "or have workers write them to storage:\n\n"
        "    x.mean(axis=0).compute()          # instead of x.compute().mean(axis=0)\n"
        "    x.to_zarr(url); df.to_parquet(url)",
    )


def _by_tasks() -> tuple[str, str, str]:
    """The same of results that tasks gathered."""
    return (
        "clients, some of them within tasks",
        "A task that gathers results of others copies all of them into its worker's memory, where Dask does "
        "not count them as results: it neither spills them nor lets other tasks have them.",
        "Pass futures as arguments in place of their results: Dask runs what needs them where most of them "
        "are.\n\n"
        "    with worker_client() as client:\n"
        "        parts = client.map(load, files)\n"
        "        return client.submit(combine, parts).result()   # instead of combine(client.gather(parts))",
    )


def fetching(facts: Facts, limits: Limits) -> Moments:
    """When clients fetched results, if these were large together."""
    transfers, out = facts.read("transfers"), _to_clients(facts, limits)
    large = np.nan_to_num(transfers["nbytes"][out]).sum() >= limits["oversized-results.fetched"]
    out &= large
    start, stop = transfers["start"][out], transfers["stop"][out]
    return Moments.of(start, stop + np.minimum(_TOGETHER, _ITS_TIME * (stop - start)))


def _to_clients(facts: Facts, limits: Limits) -> np.ndarray:
    """Which transfers of the run went to clients, and are large themselves: others are but many."""
    transfers = facts.read("transfers")
    peer = transfers["peer"]
    # Clients ask through the scheduler, or themselves; neither is a worker.
    outside = ~is_any(peer, facts.workers)
    inside = (transfers["stop"] > facts.start) & (transfers["start"] < facts.stop + _TOGETHER)
    inside &= transfers["nbytes"] >= limits["oversized-results.message"]
    return np.asarray(is_any(transfers["direction"], ("out",)) & outside & inside)


def _gathered(facts: Facts, rows: np.ndarray, limits: Limits) -> tuple[float, tuple[str, ...]]:
    """Thread-seconds of threads idle while single tasks put together what others had made; names of that."""
    known, edges = facts.attempts, facts.read("edges")
    rows = np.unique(rows[known.at("nbytes", rows) >= limits["oversized-results.bytes"]])
    users = Lookup(known.task[rows]).rows(edges["task"])
    makers = Lookup(np.where(known.ok, known.task, NOTHING).astype("u4")).rows(edges["dependency"])
    forget(edges)
    both = (users >= 0) & (makers >= 0)
    users, makers = users[both], makers[both]
    size = np.nan_to_num(known.at("nbytes", makers))
    came = np.bincount(users, size, len(rows))
    put = (np.bincount(users, minlength=len(rows)) > 1) & (came >= 0.5 * known.at("nbytes", rows))
    moments = Moments.of(known.at("assigned", rows[put]), known.at("done", rows[put]))
    parts = put[users]
    return facts.within(facts.pieces(*words.IDLE), moments), most(facts, makers[parts], size[parts])


def _chunks(facts: Facts, limits: Limits, told: set[str]) -> Iterator[Finding]:
    """What is large beside the memory that a thread has, but for names that have been told."""
    known = facts.attempts
    room = np.full(len(known.worker.names) + 1, math.nan)
    for code, name in enumerate(known.worker.names):
        worker = facts.workers.get(name, {})
        room[code] = worker.get("memory_limit", math.nan) / max(1, worker.get("threads", 1))
    rows = np.flatnonzero(facts.good & (known.nbytes >= limits["oversized-results.bytes"]))
    nbytes = known.at("nbytes", rows)
    fits = room[known.worker.codes[rows]] / np.where(nbytes > 0, nbytes, np.nan)
    large = fits < limits["oversized-results.fits"]
    large &= ~is_any(pick(facts.prefix, rows), told)
    rows, nbytes, fits = rows[large], nbytes[large], fits[large]
    if not len(rows):
        return
    # One large result is no habit: names with several are told alone.
    dire, prefix = fits < limits["oversized-results.critical"], facts.prefix.codes[rows]
    dire &= (np.bincount(prefix[dire], minlength=len(facts.names)) > 1)[prefix]
    critical = bool(dire.any())
    if critical:
        rows, nbytes, fits = rows[dire], nbytes[dire], fits[dire]
    names = most(facts, rows, nbytes)
    of_first = is_any(facts.prefix, names[:1])[rows]
    least, size = float(fits[of_first].min()), float(nbytes[of_first].max())
    yield Finding(
        code="oversized-results",
        severity="critical" if critical else "warning",
        title=(
            f"Results of {quoted(names, 1)} are up to {words.size(size)}: the memory of a thread holds "
            f"{words.about(least)} of them"
        ),
        tasks=names,
        workers=workers_of(facts, rows),
        start=facts.since(known.at("start", rows).min()),
        stop=facts.since(known.at("done", rows).max()),
        is_risk=True,
        evidence=(
            Fact("largest result", size, "bytes", limits["oversized-results.bytes"]),
            Fact("results that fit in a thread's memory", least, "times", limits["oversized-results.fits"]),
            Fact("such results", len(rows), "count"),
        ),
        why=(
            "A task needs its inputs, its result and what it computes with at once, and the next inputs "
            "are on their way: Dask advises memory for ten chunks a thread, and works badly with fewer "
            "than three. Then workers spill, pause or die, and few large tasks share the threads unevenly."
        ),
        advice=(
            "Make chunks smaller where data are read, about 100 MB, and do not gather whole arrays or "
            "tables in one task:\n\n"
            "    x = da.from_zarr(url, chunks='100MB'); df = df.repartition(partition_size='100MB')\n"
            "    LocalCluster(threads_per_worker=1, memory_limit='16GB')"
        ),
        url=OVERSIZED_RESULTS.url,
    )


OVERSIZED_RESULTS = Rule(
    code="oversized-results",
    says="Results are too large for the client that fetches them, or for the memory of a worker.",
    formula=(
        "`oversized-results.fetched` or more brought to clients, in messages of "
        "`oversized-results.message` or more (*info* where no thread was idle meanwhile; within tasks where "
        "these asked for half of it, and had given their thread back for half of the time); or results of "
        "`oversized-results.bytes` or more of which fewer than `oversized-results.fits` fit in memory "
        "limit / threads (critical below `oversized-results.critical`, if there are several)."
    ),
    cost=(
        "Thread-seconds without tasks while results were fetched, and of threads that were idle while one "
        "task put them together, / threads; large chunks are a risk."
    ),
    url="https://docs.dask.org/en/stable/best-practices.html#avoid-very-large-partitions",
    advice="Reduce on the cluster and fetch little; write large results from the workers.",
    find=_oversized,
)
