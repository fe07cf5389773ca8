"""Why memory was full, in sentences; why more results were there than the computation needed at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ... import words
from ...columns import forget
from ...lookup import Lookup, pick
from ...schema import NOTHING
from ...tables.facts import facts as about
from ...timeline import used_until
from .facts import Facts, is_any
from .held import Results
from .names import most, quoted

#: Share of what is in memory from which it is told that it had been used for the last time.
_FORGOTTEN = 0.25
#: Share of the results of many tasks below which one other needs few of them, or all others leave little.
_PART = 0.5
#: Tasks for each thread beyond which Dask queues those that need no others.
_QUEUED = 2

_LET_GO = (
    "Let go of what you have used: Dask keeps the results of every future and persisted collection that a "
    "variable still refers to.\n\n"
    "    del x   # and what else refers to it; published datasets: client.unpublish_dataset(name)"
)
_QUEUE = (
    "Have Dask queue the tasks that need no others, so that their results are used up before more are made:"
    "\n\n    # before the cluster starts\n"
    "    dask.config.set({'distributed.scheduler.worker-saturation': 1.1})"
)
_UNBOUND = (
    "Leave out `workers=` and `resources=` where you can: Dask queues only tasks that any worker may run, so "
    "that their results are used up before more are made."
)


class Reason(NamedTuple):
    """Why memory was full, and what to do about that; either may be ''."""

    why: str
    advice: str


def joined(why: str, reasons: Iterable[Reason], advice: str) -> tuple[str, str]:
    """Why, and what to do: what is always so and the reasons; what these call for and what always helps."""
    every = [Reason(why, ""), *reasons, Reason("", advice)]
    return (
        " ".join(each.why for each in every if each.why),
        "\n\n".join(each.advice for each in every if each.advice),
    )


def piled_up(
    facts: Facts, results: Results, moments: Mapping[str, float], memory: float, names: tuple[str, ...]
) -> Iterator[Reason]:
    """What tells that fewer results might have been there.

    Parameters
    ----------
    moments
        For each worker the moment at which they were too many.
    memory
        Bytes that all of them had then.
    names
        Task names of the results, those with most first.
    """
    yield from _forgotten(facts, results, moments, memory)
    if names:
        yield from _handed_out_at_once(facts, names[0])


def _forgotten(
    facts: Facts, results: Results, moments: Mapping[str, float], memory: float
) -> Iterator[Reason]:
    """Results that were still there after their last use."""
    # What used them later is not in a part of the run.
    if math.isfinite(facts.part[1]):
        return
    used, there = used_until(facts.read, facts.attempts), np.zeros(len(results.size))
    for worker, when in moments.items():
        held, nbytes = results.in_host(worker, when)
        gone = used[held] <= when
        # Several workers may have had one result.
        there[held[gone]] = np.maximum(there[held[gone]], nbytes[gone])
    rows, total = np.flatnonzero(there), float(there.sum())
    if not total or total < _FORGOTTEN * memory:
        return
    names = most(facts, rows, there[rows])
    line = _line(facts, rows[is_any(facts.prefix, names[:1])[rows]])
    last = words.duration(facts.since(float(used[rows].max())))
    yield Reason(
        f"{words.size(total)} of {quoted(names, 1)}{line} had been used for the last time by {last}: a "
        "client still held it.",
        _LET_GO,
    )


def _line(facts: Facts, rows: np.ndarray) -> str:
    """Where the last of some results was asked for, in brackets; '' if that is not known."""
    table = facts.submissions
    submission = np.append(facts.read("graph")["submission"], np.uint32(NOTHING))
    submission = submission[facts.attempts.described[rows[-1:]]]
    row = int(Lookup(table["submission"]).rows(submission)[0])
    line = facts.line_of(row) if row >= 0 else ""
    return f" (`{line}`)" if line else ""


def _handed_out_at_once(facts: Facts, name: str) -> Iterator[Reason]:
    """Tasks that need no others and that workers were given all at once, though others reduce the results."""
    saturation = _saturation(facts)
    if math.isnan(saturation):
        return
    rows, known = _largest_group(facts, name), facts.attempts
    given = known.at("assigned", rows) <= known.at("done", rows).min(initial=math.inf)
    count, threads = int(given.sum()), facts.most_threads(facts.code_of)
    is_off = math.isinf(saturation)
    least = _QUEUED if is_off else max(_QUEUED, saturation)
    if not threads or count <= least * threads or _was_queued(facts, rows):
        return
    if _is_reduced(facts, rows):
        because = "its queue is off" if is_off else "what `workers=` or `resources=` binds is not queued"
        yield Reason(
            f"{words.count(count)} `{name}` were handed out at once, before what reduces them: Dask did not "
            f"queue them, as {because}.",
            _QUEUE if is_off else _UNBOUND,
        )


def _is_reduced(facts: Facts, rows: np.ndarray) -> bool:
    """Whether some tasks need no others, and others make little of their results, a part of them each."""
    known, edges = facts.attempts, facts.read("edges")
    tasks = known.task[rows]
    needs = bool(np.isin(edges["task"], tasks).any())
    users, count = np.unique(edges["task"][np.isin(edges["dependency"], tasks)], return_counts=True)
    forget(edges)
    there = Lookup(known.task).rows(users)
    made, left = (known.at("nbytes", some) for some in (rows, there[there >= 0]))
    left = left[np.isfinite(left)]
    if needs or not len(left):
        return False
    # Of those that have not ended yet it is taken that they leave as much.
    little = float(left.mean()) * len(users) < _PART * float(np.nansum(made))
    return little and bool(count.max() < _PART * len(rows))


def _largest_group(facts: Facts, name: str) -> np.ndarray:
    """Rows of the attempts that ran of the largest task group of a name."""
    rows = np.flatnonzero(facts.attempts.ran & is_any(facts.prefix, (name,)))
    group = pick(facts.read("graph")["group"], facts.attempts.described[rows]).codes
    return np.asarray(rows[group == np.bincount(group, minlength=1).argmax()])


def _was_queued(facts: Facts, rows: np.ndarray) -> bool:
    table = facts.read("attempts")
    queued = pick(table["queued"], Lookup(table["run"]).rows(facts.attempts.run[rows]))
    return bool((queued > 0).any())


def _saturation(facts: Facts) -> float:
    """Tasks for each thread that are handed out at a time; infinite without a queue, NaN if nobody tells.

    Schedulers that know no queue and other tools' files do not.
    """
    told: Any = about(facts.read("about")).get("config")
    for name in ("distributed.scheduler", "worker-saturation"):
        told = told.get(name) if isinstance(told, dict) else None
    try:
        return float(told)
    except (TypeError, ValueError):
        return math.nan
