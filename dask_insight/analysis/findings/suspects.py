"""Which tasks may have brought down the workers that they ran on, as far as a recording tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import Lookup, pick, ratio
from ...timeline import process_memory
from .facts import Facts, medians
from .names import by_code, most, quoted, split

_MIB = 1024.0**2
#: How many times the memory of what ran beside it a task needs to be told from that.
_APART = 2.0
#: How many times the inputs of others of its name a task has to be told for that.
_LARGER = 4.0
#: Bytes of inputs from which they may be why a worker died.
_LARGE = 100e6
#: Of what part of a thread's memory: inputs, as much again while it runs, and a result leave no room then.
_ROOM = 4.0

#: What to do about such inputs.
EQUAL_PARTS = (
    "Make the parts equally large: partition by size instead of by key, and split heavy keys: reduce within "
    "parts of a key first.\n\n"
    "    df = df.repartition(partition_size='100MB')\n"
    "    sums = df.groupby(['key', 'part']).sum()   # `part`: a number of rows that splits each heavy key\n"
    "    sums = sums.reset_index().drop(columns='part').groupby('key').sum()"
)


class Suspects(NamedTuple):
    """Task names that are likely the cause; none where nothing tells. What tells, or what ran there."""

    names: tuple[str, ...]
    why: str
    #: Whether their inputs are far larger than those of others of their name.
    uneven: bool = False


class Deaths(NamedTuple):
    """Attempts that died with workers."""

    #: By worker that died, the attempts that may have run there.
    running: Mapping[str, np.ndarray]
    #: All that died, and with how many workers the task of each did.
    rows: np.ndarray
    times: np.ndarray


def suspects(facts: Facts, deaths: Deaths, size: float) -> Suspects:
    """Look for what sets a task apart from those that ran beside it.

    Parameters
    ----------
    size
        Share of a worker's memory limit from which a task is large.
    """
    times = int(deaths.times.max(initial=0))
    if times > 1:
        rows = deaths.rows[deaths.times == times]
        names, larger = most(facts, rows), larger_inputs(facts, rows)
        died = f"Tasks of {quoted(names)} died with {times} workers, one after the other."
        told = larger or _many_inputs(facts, rows)
        return Suspects(names, f"{died} {told}".rstrip(), bool(larger))
    ran = {name: rows for name, rows in deaths.running.items() if len(rows)}
    if not ran:
        return Suspects((), "")
    everywhere = _everywhere(facts, ran)
    if everywhere:
        every = "both" if len(ran) == 2 else f"all {len(ran)}"
        return Suspects(everywhere, f"{quoted(everywhere)} ran on {every} of them, and nothing else did.")
    large, nbytes = _large(facts, ran, size)
    if large:
        said = f"Tasks of {quoted(large)} need {words.size(nbytes)} each, far more than what ran beside them."
        return Suspects(large, said)
    rows = np.concatenate(list(ran.values()))
    names = most(facts, rows, share=0.0)
    if len(names) < 2:
        return Suspects((), f"Tasks of {quoted(names)} were there at the time." if names else "")
    return Suspects(
        (),
        f"Tasks of {quoted(names)} were there at the time: any of them may be the cause, or none; nothing "
        "tells.",
    )


def larger_inputs(facts: Facts, rows: np.ndarray) -> str:
    """That a task of some attempts has far larger inputs than others of its name, in words; or ''."""
    known, codes, nbytes = facts.attempts, facts.prefix.codes, facts.input_bytes()
    # Of the attempts at a task, one tells.
    there = np.flatnonzero(np.isfinite(nbytes))
    usual = medians(codes[there], nbytes[there], len(facts.names))[codes[there]]
    mine = np.flatnonzero(np.isin(known.task[there], known.task[rows]))
    mine = mine[nbytes[there[mine]] >= _LARGE]
    times = ratio(nbytes[there[mine]], usual[mine])
    if times.max(initial=0.0) < _LARGER:
        return ""
    most_of_all = int(times.argmax())
    row, common = there[mine[most_of_all]], words.size(float(usual[mine[most_of_all]]))
    return (
        f"The inputs of one are {words.size(float(nbytes[row]))}, {words.about(float(times[most_of_all]))} "
        f"times the usual {common} of `{facts.names[codes[row]]}`."
    )


def _many_inputs(facts: Facts, rows: np.ndarray) -> str:
    """That tasks like some that died take much of what a thread of their workers has, in words; or ''."""
    known, inputs = facts.attempts, facts.input_bytes()
    died = np.isin(known.task, known.task[rows])
    if not np.isfinite(inputs[died]).any():
        # Of those of its name.
        died = np.isin(facts.prefix.codes, facts.prefix.codes[rows])
    nbytes = float(np.nan_to_num(inputs[died]).max(initial=0.0))
    workers = {known.worker.names[code] for code in known.worker.codes[rows].tolist()}
    limits = [
        float(each.get("memory_limit", np.nan)) / max(1, int(each.get("threads") or 1))
        for each in map(facts.workers.get, workers)
        if each
    ]
    room = min((limit for limit in limits if limit > 0), default=np.inf)
    if nbytes < room / _ROOM:
        return ""
    return (
        f"The inputs of one are {words.size(nbytes)}: with them, what it makes of them and its result have "
        f"to fit in the {words.size(room)} that a thread has."
    )


def _everywhere(facts: Facts, ran: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    """The name that ran on each of several workers that died, if it is the only one and others ran too."""
    sets = [set(facts.prefix.codes[rows].tolist()) for rows in ran.values()]
    common = set.intersection(*sets)
    if len(sets) < 2 or len(common) != 1 or set.union(*sets) == common:
        return ()
    return (facts.names[common.pop()],)


def _large(facts: Facts, ran: Mapping[str, np.ndarray], size: float) -> tuple[tuple[str, ...], float]:
    """The name whose tasks need much of a worker's memory, and much more than any other that ran there."""
    for needs in _needs(facts, np.unique(facts.prefix.codes[np.concatenate(list(ran.values()))])):
        for worker, rows in ran.items():
            of_rows = facts.prefix.codes[rows]
            codes = np.unique(of_rows)
            by_name = np.array([needs[rows[of_rows == code]].max() for code in codes.tolist()])
            largest = int(by_name.argmax())
            others = np.delete(by_name, largest).max(initial=0.0)
            limit = float(facts.workers.get(worker, {}).get("memory_limit", np.nan))
            if by_name[largest] >= size * limit and by_name[largest] > _APART * others:
                return (facts.names[int(codes[largest])],), float(by_name[largest])
    return (), 0.0


def _needs(facts: Facts, codes: np.ndarray) -> Iterator[np.ndarray]:
    """What attempts needed by what tells most, and, where that is not enough, by all that tells."""
    yield _kept(facts)
    yield needed(facts, codes)


def added(facts: Facts, rows: np.ndarray) -> np.ndarray:
    """Bytes by which the process of each of some attempts was larger after it, all of them by worker.

    Without what those added that ran within its time on the same worker, one after the other: the process
    has one size, whichever thread made it larger. 0 where it is not known.
    """
    known, executions = facts.attempts, facts.read("executions")
    grown = pick(executions["rss"], Lookup(executions["run"]).rows(known.run[rows])).astype("f8") * _MIB
    grown = np.nan_to_num(grown)
    for mine in by_code(known.worker.codes[rows]).values():
        grown[mine] -= _within(known.at("start", rows[mine]), known.at("stop", rows[mine]), grown[mine])
    return np.asarray(grown)


def _within(start: np.ndarray, stop: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """For each of some intervals, the amounts of others in it, of those that end first and do not overlap."""
    chain = _chain(start, stop)
    sums = np.append(0.0, np.cumsum(amount[chain]))
    first = np.searchsorted(start[chain], start, "right")
    last = np.maximum(np.searchsorted(stop[chain], stop, "left"), first)
    return np.asarray(sums[last] - sums[first])


def _chain(start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """Of some intervals those that end first, each after the one before it has ended."""
    order = np.lexsort((-start, stop))
    found, free = [], -np.inf
    for row, begin, end in zip(order.tolist(), start[order].tolist(), stop[order].tolist(), strict=True):
        if begin >= free:
            found.append(row)
            free = end
    return np.array(found, "i8")


def needed(facts: Facts, codes: np.ndarray) -> np.ndarray:
    """Bytes that the task of each attempt needed where it ended well, or else any task of its name.

    What it freed before it ended is told of some task names alone, by their codes.
    """
    of = facts.prefix.codes
    usual = _usual_peaks(facts, np.flatnonzero(facts.good & np.isin(of, codes)))
    return np.asarray(np.fmax(_kept(facts), usual[of]))


def _kept(facts: Facts) -> np.ndarray:
    """The same without what it freed before it ended, which what runs beside it blurs."""
    known, codes, good = facts.attempts, facts.prefix.codes, np.flatnonzero(facts.good)
    own = np.zeros(len(known.run))
    own[good] = np.fmax(np.nan_to_num(known.at("nbytes", good)), added(facts, good))
    tasks, task = np.unique(known.task, return_inverse=True)
    of_name, of_task = np.zeros(len(facts.names)), np.zeros(len(tasks))
    np.maximum.at(of_name, codes, own)
    np.maximum.at(of_task, task, own)
    ended = np.isin(known.task, known.task[good])
    return np.where(ended, of_task[task], of_name[codes])


def _usual_peaks(facts: Facts, rows: np.ndarray) -> np.ndarray:
    """Bytes by which a process was larger while some attempts ran than before, the median by their name.

    Of what ran beside them now and then a median tells little. NaN where nobody sampled it.
    """
    known, codes = facts.attempts, facts.prefix.codes
    worker, time, nbytes = process_memory(facts.read).between(-np.inf, np.inf)
    samples, peak = split(worker, np.argsort(time, kind="stable")), np.full(len(rows), np.nan)
    for name, mine in split(known.worker, rows).items():
        at = samples.get(name, np.zeros(0, "i8"))
        begin, end = (
            np.searchsorted(time[at], known.at(field, mine), "right") for field in ("start", "stop")
        )
        seen = np.flatnonzero((begin > 0) & (end > begin))
        if len(seen):
            edges = np.column_stack((begin[seen], end[seen])).ravel()
            highest = np.maximum.reduceat(np.append(nbytes[at], -np.inf), edges)[::2]
            peak[np.searchsorted(rows, mine[seen])] = highest - nbytes[at][begin[seen] - 1]
    told = np.isfinite(peak)
    return medians(codes[rows[told]], peak[told], len(facts.names))
