"""Which tasks may have brought down the workers that they ran on, as far as a recording tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import Lookup, pick, ratio
from .facts import Facts, medians
from .names import most, quoted

_MIB = 1024.0**2
#: How many times the memory of what ran beside it a task needs to be told from that.
_APART = 2.0
#: How many times the inputs of others of its name a task has to be told for that.
_LARGER = 4.0
#: Bytes of inputs from which they may be why a worker died.
_LARGE = 100e6

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
        return Suspects(names, f"{died} {larger}".rstrip(), bool(larger))
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


def _everywhere(facts: Facts, ran: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    """The name that ran on each of several workers that died, if it is the only one and others ran too."""
    sets = [set(facts.prefix.codes[rows].tolist()) for rows in ran.values()]
    common = set.intersection(*sets)
    if len(sets) < 2 or len(common) != 1 or set.union(*sets) == common:
        return ()
    return (facts.names[common.pop()],)


def _large(facts: Facts, ran: Mapping[str, np.ndarray], size: float) -> tuple[tuple[str, ...], float]:
    """The name whose tasks need much of a worker's memory, and much more than any other that ran there."""
    needed = _needed(facts)
    for worker, rows in ran.items():
        codes = np.unique(facts.prefix.codes[rows])
        by_name = np.array([needed[rows[facts.prefix.codes[rows] == code]].max() for code in codes.tolist()])
        largest = int(by_name.argmax())
        others = np.delete(by_name, largest).max(initial=0.0)
        limit = float(facts.workers.get(worker, {}).get("memory_limit", np.nan))
        if by_name[largest] >= size * limit and by_name[largest] > _APART * others:
            return (facts.names[int(codes[largest])],), float(by_name[largest])
    return (), 0.0


def _needed(facts: Facts) -> np.ndarray:
    """Bytes that the task of each attempt needed where it ended well, or else any task of its name."""
    known, executions = facts.attempts, facts.read("executions")
    grown = pick(executions["rss"], Lookup(executions["run"]).rows(known.run)).astype("f8") * _MIB
    own = np.where(facts.good, np.fmax(np.nan_to_num(known.nbytes), np.nan_to_num(grown)), 0.0)
    codes = facts.prefix.codes
    tasks, task = np.unique(known.task, return_inverse=True)
    of_name, of_task = np.zeros(len(facts.names)), np.zeros(len(tasks))
    np.maximum.at(of_name, codes, own)
    np.maximum.at(of_task, task, own)
    ended = np.isin(known.task, known.task[facts.good])
    needed: np.ndarray = np.where(ended, of_task[task], of_name[codes])
    return needed
