"""What tasks did while their worker's GPU had little to do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import Lookup, is_any
from .facts import Facts, function_at
from .finding import Fact
from .threads import lock
from .thresholds import Limits

#: Share of the tasks' time whose CPU time must be known.
_KNOWN = 0.5


class Busy(NamedTuple):
    """What kept tasks from their GPU: why and advice in words, and what tells."""

    why: str
    advice: str
    facts: tuple[Fact, ...]


def busy_with(
    facts: Facts, limits: Limits, rows: np.ndarray, name: str, workers: tuple[str, ...], used: float
) -> Busy:
    """What those of some attempts did that are of a name: computed, read, or nobody knows.

    For the share `used` of their time kernels ran, for which tasks wait with a CPU or without one.
    """
    rows = rows[is_any(facts.prefix, (name,))[rows]]
    length, cpu = facts.length[rows], facts.attempts.at("cpu", rows)
    told = np.isfinite(cpu) & (length > 0)
    total = float(length[told].sum())
    if total < _KNOWN * float(length.sum()) or total <= 0:
        return Busy(_UNKNOWN, _MORE, ())
    share = min(float(cpu[told].sum()) / total, 1.0)
    if share - used >= limits["gpu-idle.cpu"]:
        fact = Fact("share of the tasks' time on a CPU", share, "share", limits["gpu-idle.cpu"])
        where = _mostly_in(facts, rows)
        why = (
            f"`{name}` was on a CPU for {words.share(share)} of its time{where}: its GPU waited for that, or "
            "for kernels so short that launching them takes longer. "
        )
        return Busy(why, _PREPARED, (fact,))
    off = 1 - share
    locked = {each.name for each in lock(facts, limits).workers}
    if off - used < limits["gpu-idle.off-cpu"] or not locked.isdisjoint(workers):
        return Busy(_UNKNOWN, _MORE, ())
    fact = Fact("share of the tasks' time without a CPU", off, "share", limits["gpu-idle.off-cpu"])
    why = (
        f"`{name}` was without a CPU for {words.share(off)} of its time, and its GPU had nothing to do: it "
        "read, wrote or waited for a service. "
    )
    return Busy(why, _FETCHED, (fact,))


def _mostly_in(facts: Facts, rows: np.ndarray) -> str:
    """The function in which some attempts were sampled for longest, in words; '' if none was."""
    samples, stacks = facts.read("samples"), facts.read("stacks")
    runs = Lookup(facts.attempts.run[rows]).rows(samples["run"])
    mine = np.flatnonzero(runs >= 0)
    place = Lookup(stacks["stack"]).rows(samples["stack"][mine])
    mine, place = mine[place >= 0], place[place >= 0]
    if not len(place):
        return ""
    # There are far fewer stacks than samples.
    some, stack = np.unique(place, return_inverse=True)
    names, files = (stacks[column].names for column in ("function", "file"))
    kinds = np.stack([stacks["function"].codes[some], stacks["file"].codes[some], stacks["first_line"][some]])
    each, kind = np.unique(kinds, axis=1, return_inverse=True)
    seconds = np.bincount(kind.ravel(), np.bincount(stack, samples["duration"][mine]))
    name, file, line = each[:, int(seconds.argmax())].tolist()
    return f", mostly in {function_at(names[name], files[file], line)}"


_UNKNOWN = (
    "Tasks ran on the worker, but seldom a kernel on its GPU: they read, copy or compute on the CPU, or "
    "their arrays are so small that launching kernels takes longer than the kernels. "
)
_MORE = (
    "Give the device more at a time (larger chunks), keep data on it from reading to reducing, read straight "
    "into its memory, and run two to four threads a worker, so that one computes while another reads:\n\n"
    "    LocalCUDACluster(threads_per_worker=2, rmm_pool_size=0.9)\n"
    "    dask.config.set({'dataframe.backend': 'cudf', 'array.backend': 'cupy'})"
)
_PREPARED = (
    "Have other tasks do what the CPU does, on workers of their own or in more processes beside the GPU's, "
    "so that the next piece is ready when the GPU is; or do it on the GPU (nvJPEG, DALI, cuDF's readers), "
    "with larger chunks.\n\n"
    "    # dask worker ADDRESS --nworkers 8 --nthreads 1 --resources CPU=1   # beside the GPU's worker\n"
    "    prepared = client.map(prepare, items, resources={'CPU': 1})\n"
    "    results = client.map(train, prepared, resources={'GPU': 1})"
)
_FETCHED = (
    "Read the next piece while the GPU computes: more threads a worker, or reading by tasks of its own; and "
    "read straight into its memory, with KvikIO or cuDF's readers.\n\n"
    "    LocalCUDACluster(threads_per_worker=4, rmm_pool_size=0.9)\n"
    "    dask.config.set({'dataframe.backend': 'cudf'})   # dd.read_parquet then reads with cuDF"
)
