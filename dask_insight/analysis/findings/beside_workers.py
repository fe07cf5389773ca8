"""Schedulers and clients that come near what the system allows them of memory: Dask limits workers alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...lookup import is_any
from ...timeline import LOCAL, held_until
from .allowed import Beside, beside
from .facts import Facts
from .finding import Fact, Finding
from .names import most, quoted
from .thresholds import Limits

#: Task names whose results are there, what else is to be said of what is, and what to do about it.
_Holds = tuple[tuple[str, ...], str, str]
_CALLED = {"scheduler": "the scheduler", "client": "the client", LOCAL: "the local scheduler"}


def near_limit(facts: Facts, limits: Limits, url: str) -> Iterator[Finding]:
    """What came near its limit beside the workers, or was killed for memory, the fullest first."""
    near = limits["memory-limit.near"]
    for each in beside(facts):
        if each.kills or each.used >= near * each.bytes:
            yield _finding(facts, each, near, url)


def _finding(facts: Facts, told: Beside, near: float, url: str) -> Finding:
    share, there = told.used / told.bytes, words.size(told.bytes)
    names, holds, advice = _HOLDS[told.process](facts, told)
    who = _CALLED[told.process]
    title = f"{who.capitalize()} used {words.share(share)} of the {there} of memory that the system allows it"
    if told.kills:
        times = words.count(told.kills, "time")
        where = f"in the container or job of {who}"
        title = f"The system killed processes {where} for memory, {times}: it allows {there}"
    return Finding(
        code="memory-limit",
        severity="critical" if told.kills else "warning",
        title=title,
        tasks=names,
        start=facts.since(told.when),
        stop=facts.since(told.when),
        is_risk=True,
        evidence=(
            Fact("memory that the system allows", told.bytes, "bytes"),
            Fact("most in use, as sampled", share, "share", near),
            Fact("processes killed for memory", told.kills, "count"),
        ),
        why=(
            f"Dask limits the memory of workers alone. What goes beyond {there} in this container or job is "
            f"killed without a word, and all that it held is lost. {holds}"
        ),
        advice=advice,
        url=url,
    )


def _of_scheduler(facts: Facts, told: Beside) -> _Holds:
    """What a scheduler keeps, and what makes that less."""
    tasks, nbytes = (np.nan_to_num(facts.submissions[name]).sum() for name in ("tasks", "nbytes"))
    graphs = f" in graphs of {words.size(float(nbytes))}" if nbytes > 0 else ""
    given = f"It was given {words.count(int(tasks), 'task')}{graphs}" if tasks else "It is given tasks"
    return (
        (),
        f"{given}, and keeps each, with the data in it, as long as a client wants what comes of it.",
        "Submit fewer and larger tasks, and no data with them; let go of results that you do not need any "
        "more; or give the scheduler more memory.\n\n"
        "    data = client.scatter(data, broadcast=True)   # once, instead of in each task\n"
        "    x = x.rechunk('256MB'); df = df.repartition(partition_size='256MB')\n"
        "    del futures",
    )


def _of_client(facts: Facts, told: Beside) -> _Holds:
    """What was brought to a client, and what makes that less."""
    transfers = facts.read("transfers")
    to_clients = is_any(transfers["direction"], ("out",)) & ~is_any(transfers["peer"], facts.workers)
    nbytes = float(np.nan_to_num(transfers["nbytes"][to_clients]).sum())
    fetched = f"Results of {words.size(nbytes)} were brought to it" if nbytes else "No results were seen come"
    return (
        (),
        f"{fetched}; the rest is what the program there has itself.",
        "Reduce on the cluster and fetch the small answer, have workers write large results, and do not "
        "load data where the client runs.\n\n"
        "    x.mean(axis=0).compute()          # instead of x.compute().mean(axis=0)\n"
        "    x.to_zarr(url); df.to_parquet(url)",
    )


def _of_local(facts: Facts, told: Beside) -> _Holds:
    """What a local scheduler held, and what makes that less."""
    names, nbytes = _results(facts, told)
    held = f"Results of {words.size(nbytes)} were there then, most of {quoted(names, 1)}" if names else ""
    return (
        names,
        f"{held or 'Few results were there then'}; the rest is what functions and the program have itself.",
        "Have less in memory at a time: smaller chunks, fewer threads or processes; reduce before you "
        "compute, or compute on a cluster, whose workers spill.\n\n"
        "    x.compute(num_workers=2)\n"
        "    x.to_zarr(url); df.to_parquet(url)",
    )


_HOLDS = {"scheduler": _of_scheduler, "client": _of_client, LOCAL: _of_local}


def _results(facts: Facts, told: Beside) -> tuple[tuple[str, ...], float]:
    """Names of the results that local schedulers held when they used most, and their bytes together."""
    known = facts.attempts
    mine = np.flatnonzero(known.local & known.ok)
    until = held_until(facts.read, known)[mine]
    there = mine[(known.at("done", mine) <= told.when) & (until > told.when)]
    nbytes = np.nan_to_num(known.at("nbytes", there))
    return most(facts, there, nbytes), float(nbytes.sum())
