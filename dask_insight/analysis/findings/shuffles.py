"""Shuffles and rechunks made of tasks, of which there are as many as inputs times outputs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from .facts import IDLE, Facts
from .finding import Fact, Finding
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


def _task_shuffle(facts: Facts, limits: Limits) -> Iterator[Finding]:
    mine = np.array([name.startswith(_PIECES) for name in facts.names] or [False])
    number = facts.by_names.number
    count, whole = int(number[mine].sum()), int(number.sum())
    share = count / max(1, whole)
    if count < limits["task-shuffle.count"] or share < limits["task-shuffle.share"]:
        return
    spent = np.where(mine, facts.by_name(facts.pieces_without(*IDLE)), 0.0)
    seconds = float(spent.sum())
    names = facts.worst(np.where(mine, number, 0).astype("f8"), facts.names)
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
        advice=_HERE if facts.all_local else _P2P,
        url=TASK_SHUFFLE.url,
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

TASK_SHUFFLE = Rule(
    code="task-shuffle",
    says="Most tasks only cut data up and put them together again.",
    formula=(
        "Tasks that Dask makes for the pieces of shuffles and rechunks (`rechunk-split`, `split-shuffle` …): "
        "`task-shuffle.count` or more, and `task-shuffle.share` of all tasks."
    ),
    cost="Half the thread time in and around them, over all threads: P2P moves the same bytes.",
    url="https://docs.dask.org/en/stable/array-chunks.html#rechunking",
    advice="P2P shuffles and rechunks; chunks that are right from the beginning.",
    find=_task_shuffle,
)
