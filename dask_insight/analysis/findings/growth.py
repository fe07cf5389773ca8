"""Memory of workers that grows, is no result of a task, and is never given back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import Lookup, is_any, pick
from ...schema import NOTHING
from ...timeline import held_until
from .facts import Facts
from .finding import Fact, Finding
from .names import BARRIER, TOGETHER, most, of_workers, own_workers, quoted, split
from .rule import Rule
from .spill import spilled
from .suspects import added
from .thresholds import Limits

#: Samples of a worker's memory below which nothing is said of its course.
_SAMPLES = 8
#: Where in the run growth begins to count: what comes before are imports and first allocations.
_WARM = 1 / 4
#: Share of the growth after which it counts as over, and of the time for which it must have gone on.
_GROWN, _LASTS = 0.97, 2 / 3
#: Share of the growth after the first spill from which it is what spilling left behind.
_SPILLED = 0.5
#: How many times as much as another task name one left behind to be told alone.
_APART = 2.0
#: How many times the size of its results a task name left behind where Dask may not know that size.
_MISCOUNTED = 10.0
#: Share of them that must still have been held for that.
_HELD = 0.5
#: Times that a task must have ended for what it leaves behind to be told.
_SEVERAL = 2
#: Types of results whose size Dask knows.
_COUNTED = ("NoneType", "bool", "int", "float", "complex", "str", "bytes", "bytearray")
#: Modules whose types have a size that is not to be told anew.
_LIBRARIES = ("numpy", "pandas", "pyarrow")


class _Growth(NamedTuple):
    """How a worker's memory grew: bytes, shares of its limit (NaN if none) and of what it was at the end."""

    nbytes: float
    share: float
    of_process: float
    rate: float
    #: Share of the growth that came after the worker had begun to spill.
    spilled: float


class _Left(NamedTuple):
    """By what processes were larger after some attempts: bytes of each, and beyond results by task name."""

    rows: np.ndarray
    nbytes: np.ndarray
    by_name: np.ndarray


class _Miscounted(NamedTuple):
    """Results of a task name that may be larger than Dask takes them to be."""

    name: str
    #: What type they are of; '' if nobody tells.
    typename: str
    #: Bytes that each left behind, and that Dask counts.
    left: float
    counted: float


class _Course(NamedTuple):
    """Moments, a process's memory, and the part of it that is results, in bytes."""

    time: np.ndarray
    process: np.ndarray
    managed: np.ndarray


#: Tasks that a worker of few threads has at a time: some run, some stand by, some are being unpacked.
_TASKS = 6


def _told(growth: _Growth, written: float, brought: float, limits: Limits) -> bool:
    """Whether it is enough to be told; spilling leaves memory behind that is no leak.

    `written` are bytes that were spilled, `brought` those that tasks brought along.
    """
    if growth.nbytes < brought + limits["unmanaged-growth.bytes"]:
        return False
    if written >= growth.nbytes or (written and growth.spilled >= _SPILLED):
        return growth.share >= limits["unmanaged-growth.critical"]
    return (
        growth.share >= limits["unmanaged-growth.limit"]
        or growth.of_process >= limits["unmanaged-growth.process"]
    )


def _brought(facts: Facts) -> dict[str, float]:
    """Bytes that tasks of the largest graph brought to each worker, which keeps them as long as the results.

    Each task that carries data is unpacked on its worker; see large-graph.
    """
    if not facts.carried:
        return {}
    table, known = facts.read("submissions"), facts.attempts
    largest = table["submission"][int(np.argmax(np.nan_to_num(table["nbytes"])))]
    submission = np.append(facts.read("graph")["submission"], np.uint32(NOTHING))[known.described]
    tasks = np.bincount(known.worker.codes[submission == largest], minlength=len(known.worker.names))
    brought = np.maximum(tasks, _TASKS) * facts.carried
    return dict(zip(known.worker.names, brought.tolist(), strict=True))


def growing(facts: Facts, limits: Limits) -> dict[str, _Growth]:
    """Workers whose memory grew by what is no result and was not given back."""
    found, brought, courses = {}, _brought(facts), _courses(facts)
    known, written, since = facts.attempts, spilled(facts).written, _first_spills(facts)
    ran = split(known.worker, np.flatnonzero(known.ran & of_workers(facts, courses)))
    for worker, course in courses.items():
        mine = ran.get(worker, np.zeros(0, "i8"))
        steady = limits["unmanaged-growth.steady"]
        growth = _growth(facts, worker, mine, course, steady, since.get(worker, math.inf))
        of_tasks = brought.get(worker, _TASKS * facts.carried)
        if growth is not None and _told(growth, written.get(worker, 0.0), of_tasks, limits):
            found[worker] = growth
    return {} if found and _passes(facts, found) else found


def _passes(facts: Facts, workers: Iterable[str]) -> bool:
    """Whether growth may be what a single task works with, or pieces of a shuffle that are coming in."""
    known, left = facts.attempts, _left(facts, workers)
    names = _names(facts, left)
    if not names:
        return False
    ended = is_any(facts.prefix, names[:1]) & ~facts.running
    if ended[left.rows].sum() < _SEVERAL:
        return True
    coming = [name for name in facts.names if name.startswith(TOGETHER) and name.endswith("transfer")]
    came = known.at("ended", np.flatnonzero(facts.good & is_any(facts.prefix, (BARRIER,))))
    began = known.at("start", np.flatnonzero(known.ran & is_any(facts.prefix, coming)))
    pending = began.max(initial=-np.inf) > came.max(initial=-np.inf)
    return bool(names[0].startswith(TOGETHER) and pending)


def _first_spills(facts: Facts) -> dict[str, float]:
    """When each worker had first spilled results; seconds since the epoch."""
    memory = facts.read("memory")
    rows = np.flatnonzero(memory["spilled"] > 0)
    return {name: float(memory["time"][mine].min()) for name, mine in split(memory["worker"], rows).items()}


def _unmanaged_growth(facts: Facts, limits: Limits) -> Iterator[Finding]:
    grown = growing(facts, limits)
    if not grown:
        return
    workers = sorted(grown, key=lambda worker: -grown[worker].nbytes)
    first = grown[workers[0]]
    left = _left(facts, workers)
    names = _names(facts, left)
    grew = f"The memory of {words.count(len(workers), 'worker')} grew by up to {words.size(first.nbytes)}"
    miscounted = _miscounted(facts, left, names)
    yield Finding(
        code="unmanaged-growth",
        severity="critical" if first.share >= limits["unmanaged-growth.critical"] else "warning",
        title=(
            f"{grew}, perhaps by results of {quoted(names[:1])} that Dask takes to be small"
            if miscounted
            else f"{grew} that are no results, {_which(left, names)}"
        ),
        tasks=names,
        workers=tuple(workers[:10]),
        start=facts.since(facts.start),
        stop=facts.since(facts.stop),
        is_risk=True,
        evidence=(
            Fact("growth that was not given back", first.nbytes, "bytes", limits["unmanaged-growth.bytes"]),
            Fact("share of the memory limit", first.share, "share", limits["unmanaged-growth.limit"]),
            Fact(
                "share of the process's memory", first.of_process, "share", limits["unmanaged-growth.process"]
            ),
            Fact("growth a second", first.rate, "bytes/s"),
        ),
        why=f"{_WHY} {_larger(miscounted)}" if miscounted else _WHY,
        advice=f"{_advice_on_results(miscounted)}\n\n{_ADVICE}" if miscounted else _ADVICE,
        url=UNMANAGED_GROWTH.url,
    )


_WHY = (
    "It grew again and again while tasks ran, and stayed. Dask cannot spill it or give it back, as it "
    "belongs to no result that it knows the size of: module-level lists, caches and `lru_cache`, objects in "
    "reference cycles, results whose size Dask cannot tell, or memory that the allocator keeps."
)
_ADVICE = (
    "Look for what the function keeps between calls (globals, caches, class attributes), and bound "
    "it. If nothing is kept, have the allocator give memory back, or workers begin anew now and "
    "then:\n\n"
    "    import ctypes   # Linux\n"
    "    client.run(lambda: ctypes.CDLL('libc.so.6').malloc_trim(0))\n"
    "    # before workers without a nanny start: MALLOC_TRIM_THRESHOLD_=65536\n"
    "    # dask worker --lifetime 1h --lifetime-stagger 5m --lifetime-restart"
)


def _larger(told: _Miscounted) -> str:
    """That results may be what the memory grew by."""
    what = f"its `{told.typename}`" if told.typename else "its result"
    return (
        f"Each `{told.name}` left about {words.size(told.left)}, and Dask counts {words.size(told.counted)} "
        f"for {what}, most of which were still held: it may be the results themselves."
    )


def _advice_on_results(told: _Miscounted) -> str:
    """What to do about results that are larger than Dask takes them to be."""
    module, _, kind = told.typename.rpartition(".")
    # Of Python's own and of arrays Dask knows the size; what they hold or are part of may be larger.
    model = kind if module and module.split(".")[0] not in _LIBRARIES and kind.isidentifier() else "Model"
    return (
        "Let go of results that you do not need any more, and tell Dask how large they are, so that it can "
        "spill them and place tasks well:\n\n"
        "    del futures\n"
        f"    sizeof.register({model}, lambda each: each.weights.nbytes)   # from dask.sizeof import sizeof\n"
        "    # on the workers too: in the module of the class, or client.run"
    )


def _growth(
    facts: Facts, worker: str, ran: np.ndarray, course: _Course, steady: float, since: float
) -> _Growth | None:
    """How a worker's memory beside its results grew; None where it did not, or not steadily.

    From the moment `since` on it spilled.
    """
    time, process, managed = course
    if len(time) < _SAMPLES:
        return None
    # What is given back later was no growth.
    kept = np.minimum.accumulate((process - managed)[::-1])[::-1]
    begin, end = _span(facts, ran, time, kept)
    edges = begin + (end - begin) * np.array([_WARM, (1 + _WARM) / 2, 1.0])
    first, middle, last = np.interp(edges, time, kept)
    nbytes = float(last - first)
    results = float(np.diff(np.interp(edges[[0, 2]], time, managed))[0])
    late = (time >= edges[0]) & (time <= end)
    if nbytes <= 0 or min(middle - first, last - middle) < 0.25 * nbytes or results > nbytes:
        return None
    if late.sum() < _SAMPLES // 2 or _straight(time[late], kept[late]) < steady:
        return None
    limit = facts.workers[worker].get("memory_limit", math.nan)
    share = nbytes / limit if limit > 0 else math.nan
    rate = nbytes / float(edges[2] - edges[0])
    late_part = (last - float(np.interp(np.clip(since, edges[0], edges[2]), time, kept))) / nbytes
    return _Growth(nbytes, share, nbytes / float(process[-1]), rate, float(late_part))


def _span(facts: Facts, ran: np.ndarray, time: np.ndarray, kept: np.ndarray) -> tuple[float, float]:
    """While a worker ran tasks; up to when its memory had grown, if that took most of it.

    What a task has that had not ended by the last sample may be its own while it runs.
    """
    known = facts.attempts
    start, ended = known.at("start", ran), known.at("ended", ran)
    begin = max(float(time[0]), float(start.min(initial=facts.stop)))
    runs = facts.running[ran] | (ended > time[-1])
    end = min(float(time[-1]), float(ended.max(initial=begin)), float(start[runs].min(initial=np.inf)))
    end = max(end, begin)
    inside = (time >= begin) & (time <= end)
    if not inside.any():
        return begin, begin
    full = kept[inside][0] + _GROWN * (kept[inside][-1] - kept[inside][0])
    grown = float(time[inside][np.argmax(kept[inside] >= full)])
    return begin, grown if grown - begin >= _LASTS * (end - begin) else end


def _courses(facts: Facts) -> dict[str, _Course]:
    """The course of the memory of each worker of which it is known."""
    resources, memory = facts.read("resources"), facts.read("memory")
    time = resources["time"]
    inside = np.isfinite(resources["memory"]) & (time >= facts.start - 1) & (time <= facts.stop + 1)
    results = split(memory["worker"], np.flatnonzero(np.isfinite(memory["managed"])))
    found, others = {}, facts.workers.keys() - own_workers(facts)
    for worker, rows in split(resources["process"], np.flatnonzero(inside)).items():
        # In the client's own process nobody can tell whose memory it is.
        if worker in results and worker in others:
            rows = rows[np.argsort(time[rows], kind="stable")]
            known = results[worker]
            known = known[_fits(memory["managed"][known], memory["process"][known])]
            known = known[np.argsort(memory["time"][known], kind="stable")]
            managed = np.interp(time[rows], memory["time"][known], memory["managed"][known])
            fits = _fits(managed, resources["memory"][rows])
            found[worker] = _Course(time[rows[fits]], resources["memory"][rows[fits]], managed[fits])
    return found


def _fits(managed: np.ndarray, process: np.ndarray) -> np.ndarray:
    """Which measures of results, in bytes, go with those of the process.

    Results that take as much as the whole process, or more, are not all there: one of both is late. Where
    that is so of most, they are no memory of its own: files that are mapped, or one object as many results.
    """
    whole = managed >= process
    return np.full(len(whole), True) if 2 * whole.sum() > len(whole) else ~whole


def _straight(time: np.ndarray, values: np.ndarray) -> float:
    """Share of the variance that a straight line explains (R²)."""
    centred, spread = time - time.mean(), values - values.mean()
    across = float((centred**2).sum() * (spread**2).sum())
    return float((centred * spread).sum() ** 2 / across) if across > 0 else 0.0


def _left(facts: Facts, workers: Iterable[str]) -> _Left:
    """What tasks left behind on some workers."""
    known = facts.attempts
    rows = np.flatnonzero(known.ran & of_workers(facts, workers))
    nbytes = added(facts, rows)
    beyond = nbytes - np.nan_to_num(known.at("nbytes", rows))
    by_name = np.bincount(facts.prefix.codes[rows], beyond, len(facts.names))
    return _Left(rows, nbytes, np.maximum(by_name, 0.0))


def _names(facts: Facts, left: _Left) -> tuple[str, ...]:
    """Names after which a worker's memory was larger by more than their results."""
    return facts.worst(left.by_name, facts.names) or most(facts, left.rows, facts.length[left.rows])


def _which(left: _Left, names: tuple[str, ...]) -> str:
    """In which tasks memory grew, or, where none left much more than another, while which ran."""
    first, second = np.sort(np.append(left.by_name, [0.0, 0.0]))[:-3:-1]
    if 0 < first < _APART * second:
        return f"while {words.listing(f'`{name}`' for name in names[:2])} ran"
    return f"most likely in {quoted(names[:1])}"


def _miscounted(facts: Facts, left: _Left, names: tuple[str, ...]) -> _Miscounted | None:
    """Results of the first of some names, if these may be what memory grew by; None if not."""
    known = facts.attempts
    mine = (is_any(facts.prefix, names[:1]) & facts.good & np.isfinite(known.nbytes))[left.rows]
    rows = left.rows[mine]
    if not len(rows):
        return None
    held = held_until(facts.read, known)[rows] > facts.stop
    nbytes, counted = float(left.nbytes[mine].mean()), float(known.at("nbytes", rows).mean())
    typename = _typename(facts, int(rows[-1]))
    if held.mean() < _HELD or nbytes <= _MISCOUNTED * counted or typename in _COUNTED:
        return None
    return _Miscounted(names[0], typename, nbytes, counted)


def _typename(facts: Facts, row: int) -> str:
    """The type of an attempt's result; '' if nobody tells."""
    table = facts.read("attempts")
    found = pick(table["typename"], Lookup(table["run"]).rows(facts.attempts.run[[row]]))
    return words.in_a_line(str(found.tolist()[0]))


UNMANAGED_GROWTH = Rule(
    code="unmanaged-growth",
    says="Memory beside the results grows through the run and is not given back.",
    formula=(
        "Process's memory less its results, the least that it has from each moment on; its growth while "
        "the worker ran tasks, without the first quarter, at least `unmanaged-growth.bytes`, and "
        "`unmanaged-growth.limit` of the memory limit or `unmanaged-growth.process` of the process's "
        "memory (of workers that spilled as much as that, or before half of it, "
        "`unmanaged-growth.critical` of the limit); in both halves at "
        "least a quarter of it, along a line (R² of `unmanaged-growth.steady`), and more than the results "
        "grew. What grew for less than two thirds of that time, and stayed, is no steady growth. "
        f"Of a worker with less than {_SAMPLES} samples of its memory nothing is said; none counts in which "
        "results take as much as the whole process, unless most do. What "
        "a task has that had not ended by the last sample is its own while it runs, and pieces of P2P are "
        "until its barrier has ended. Named are the functions after which a process was larger by more than "
        "their results, without what others added that ran within their time; if several times. Where that "
        f"is {_MISCOUNTED:g} times the size of results that are still held, these may be it."
    ),
    cost="A risk.",
    url="https://distributed.dask.org/en/stable/worker-memory.html#memory-not-released-back-to-the-os",
    advice="Bound caches and globals; trim memory; let workers begin anew now and then.",
    find=_unmanaged_growth,
)
