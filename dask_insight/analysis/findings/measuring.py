"""Results whose size takes Dask long to find out."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ... import words
from ...lookup import Lookup
from ...tables.stacks import below, outermost
from ...timeline import sizing
from .facts import Facts, function_at
from .finding import Fact, Finding
from .rule import Rule
from .seen_in import share_in
from .thresholds import Limits

#: Where Dask looks how large something is.
_SIZEOF = re.compile(r"[\\/]dask[\\/]sizeof\.py$")


def _slow_sizes(facts: Facts, limits: Limits) -> Iterator[Finding]:
    stacks = facts.read("stacks")
    sizes = np.array([_SIZEOF.search(name) is not None for name in stacks["file"].names] or [False])
    inside = below(stacks, sizes[stacks["file"].codes])
    in_tasks = share_in(facts, inside) * np.bincount(facts.prefix.codes, facts.length, len(facts.names))
    seconds = in_tasks + _when_kept(facts)
    enough = limits["slow-sizes.share"] * facts.offered
    names = facts.worst(seconds, facts.names)
    # Without stacks nothing tells what a worker did with a result.
    if not names or float(in_tasks.sum()) <= 0 or float(seconds.sum()) < enough:
        return
    lost, function = float(seconds.sum()), _function(facts, inside)
    yield Finding(
        code="slow-sizes",
        title=(
            f"Dask took {words.duration(lost)} of thread time to find out how large results of "
            f"{words.listing(f'`{name}`' for name in names[:2])} are"
        ),
        tasks=names,
        cost_thread_seconds=lost,
        cost_seconds=facts.spread(lost),
        evidence=(
            Fact("of all thread time", lost / max(facts.offered, 1e-9), "share", limits["slow-sizes.share"]),
            Fact("of it, in tasks", float(in_tasks.sum()), "s"),
            Fact("of it, when workers kept the results", lost - float(in_tasks.sum()), "s"),
        ),
        why=(
            "Dask asks every result for its size, once on the task's thread, which counts as computing, and "
            "again on the worker's event loop when it keeps the result, which Dask calls writing to disk. "
            f"That is quick for arrays and frames, and slow where an object looks through all that it holds"
            f"{f', here in {function}' if function else ''}."
        ),
        advice=(
            "Estimate the size of such an object quickly, or return arrays, frames or bytes:\n\n"
            "    class Model:\n"
            "        def __sizeof__(self): return self.weights.nbytes   # of a class of your own\n"
            "    register = lambda: dask.sizeof.sizeof.register(Model, size)   # of another's\n"
            "    client.register_worker_callbacks(setup=register)"
        ),
        url=SLOW_SIZES.url,
    )


def _when_kept(facts: Facts) -> np.ndarray:
    """Seconds, by code of the task name, that workers took to keep results without writing any to disk."""
    phases = facts.read("phases")
    rows = Lookup(facts.attempts.run).rows(phases["run"])
    mine = sizing(facts.read, facts.attempts)
    length = np.nan_to_num(phases["stop"] - phases["start"])[mine]
    return np.bincount(facts.prefix.codes[rows[mine]], np.maximum(length, 0.0), len(facts.names))


def _function(facts: Facts, inside: np.ndarray) -> str:
    """Where it was longest, of what is no part of Dask, with its place; '' if it is all Dask's own."""
    samples, stacks = facts.read("samples"), facts.read("stacks")
    rows = Lookup(stacks["stack"]).rows(samples["stack"])
    first = np.append(outermost(stacks), -1)[rows]
    mine = np.append(inside, False)[rows] & (first >= 0)
    if not mine.any():
        return ""
    row = int(np.argmax(np.bincount(first[mine], samples["duration"][mine])))
    name, file = (stacks[column].names[stacks[column].codes[row]] for column in ("function", "file"))
    return function_at(name, file, int(stacks["line"][row]))


SLOW_SIZES = Rule(
    code="slow-sizes",
    says="Dask took long to find out how large results are.",
    formula=(
        "Time of tasks whose call stacks are in `dask.sizeof`, and time that workers took to keep results "
        "while they wrote nothing to disk; together `slow-sizes.share` of all thread time."
    ),
    cost="That time over all threads.",
    url="https://distributed.dask.org/en/stable/memory.html",
    advice="A quick `__sizeof__`, or one registered with `dask.sizeof`; arrays, frames or bytes.",
    find=_slow_sizes,
)
