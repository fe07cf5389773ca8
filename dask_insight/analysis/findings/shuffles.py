"""Shuffles and rechunks made of tasks, of which there are as many as inputs times outputs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from .facts import Facts
from .finding import Fact, Finding
from .names import TOGETHER
from .rule import Rule
from .thresholds import Limits

#: What the names of tasks that only cut up and put together begin with.
_PIECES = (
    "rechunk-split",
    "rechunk-merge",
    "split-shuffle",
    "split-taskshuffle",
    "split-stage",
    "shuffle-split",
    "shuffle-collect",
    "simple-shuffle",
)
#: What pieces are called of arrays that are indexed by arrays or lists, and of bags that are grouped: neither
#: has P2P. And what only bags have.
_NO_P2P, _OF_BAGS = "shuffle-split", "shuffle-group"
#: Pieces that Dask makes of one group of a bag at most (`max_branch`).
_BRANCHES = 32


def _task_shuffle(facts: Facts, limits: Limits) -> Iterator[Finding]:
    mine = [name.startswith(_PIECES) and not name.startswith(TOGETHER) for name in facts.names]
    number = facts.by_names.number
    count, whole = int(number[mine].sum()), int(number.sum())
    share = count / max(1, whole)
    if count < limits["task-shuffle.count"] or share < limits["task-shuffle.share"]:
        return
    spent = np.where(mine, facts.by_name(facts.pieces_without(*words.IDLE)), 0.0)
    seconds = float(spent.sum())
    names = facts.worst(np.where(mine, number, 0).astype("f8"), facts.names)
    advice = _advice(facts, names[0])
    yield Finding(
        code="task-shuffle",
        title=f"{words.share(share)} of the tasks, {count:,}, only cut data up and put them together again",
        tasks=names,
        cost_thread_seconds=seconds,
        cost_seconds=facts.spread(seconds) / 2,
        evidence=(
            Fact("tasks of shuffles and rechunks", count, "count", limits["task-shuffle.count"]),
            Fact("share of all tasks", share, "share", limits["task-shuffle.share"]),
            Fact("thread time in them and around them", seconds, "s"),
        ),
        why=(
            "A shuffle or rechunk made of tasks has one for each piece that goes from an input to an output: "
            "four times as many for twice the chunks. Each costs the scheduler its share, however little it "
            "does."
        ),
        advice=advice,
        url=_BAGS_URL if advice is _GROUPED else TASK_SHUFFLE.url,
    )


def _advice(facts: Facts, name: str) -> str:
    if name.startswith(_NO_P2P):
        pieces, groups = (_number(facts, each) for each in (name, _OF_BAGS))
        return _GROUPED if pieces <= _BRANCHES * groups else _BY_INDEX
    return _HERE if facts.all_local else _P2P


def _number(facts: Facts, name: str) -> int:
    """How many tasks of a name there were."""
    return int(facts.by_names.number[facts.names.index(name)]) if name in facts.names else 0


_BY_INDEX = (
    "Indexing by an array or a list, as `isel` of xarray and its `groupby` do it, is made of tasks always. "
    "Have one chunk along the indexed axis, index in sorted order where that will do, or let `flox` do the "
    "`groupby`.\n\n"
    "    x = x.rechunk({0: -1, 1: 'auto'})[index]   # cut along other axes\n"
    "    x = x[np.sort(index)]                      # fewer pieces of each chunk"
)
_GROUPED = (
    "`groupby` of a bag sends every item to where its group is, by a task for each piece, and its groups are "
    "lists. What combines the items of a group one by one can do so within each partition first: `foldby`. "
    "Else make a dataframe of it, whose `groupby` does the same, and whose shuffles need no task for each "
    "piece.\n\n"
    "    # instead of: bag.groupby(key).map(combine)\n"
    "    bag.foldby(key, lambda total, item: total + value(item), 0, operator.add, 0)\n"
    "    df = bag.to_dataframe()   # of items that are dicts or tuples"
)
_P2P = (
    "Have workers send the pieces to one another, without a task for each, or change chunks less: "
    "choose them where data are read as they are needed later.\n\n"
    "    dask.config.set({'array.rechunk.method': 'p2p', 'dataframe.shuffle.method': 'p2p'})"
)
_HERE = (
    "Change chunks less: choose them where data are read as they are needed later. Or start a cluster, where "
    "Dask has workers send the pieces to one another, without a task for each, if that is less.\n\n"
    "    x = da.from_zarr(url, chunks=chunks)   # as they are needed later\n"
    "    client = distributed.Client()          # a cluster on this machine"
)

_BAGS_URL = "https://docs.dask.org/en/stable/bag.html#shuffle"

TASK_SHUFFLE = Rule(
    code="task-shuffle",
    says="Most tasks only cut data up and put them together again.",
    formula=(
        "Tasks that Dask makes for the pieces of shuffles and rechunks (`rechunk-split`, `split-shuffle` …): "
        "`task-shuffle.count` or more, and `task-shuffle.share` of all tasks."
    ),
    cost="Half the thread time in and around them, over all threads: the same bytes are moved without them.",
    url="https://docs.dask.org/en/stable/array-chunks.html#rechunking",
    advice=(
        "P2P shuffles and rechunks; chunks that are right from the beginning, one along an indexed axis; "
        "`foldby` in place of a bag's `groupby`."
    ),
    find=_task_shuffle,
)
