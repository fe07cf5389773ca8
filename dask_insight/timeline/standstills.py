"""When no process ran: the computer slept, or somebody had stopped them all."""

from __future__ import annotations

import numpy as np

from ..tables.processes import processes
from .attempts import Read, is_local, is_pooled
from .moments import Moments

#: Seconds without a sample of any process from which they stood still; also so many times as usual.
_LEAST, _TIMES = 2.0, 5.0
#: Most CPU that a process used meanwhile, per cent of a core: one that ran without being sampled used more.
_CPU = 10.0
#: Seconds by which a task's moments may be off: of local schedulers these are told up to half a second late.
_EDGE = 0.6
#: What hands tasks out or asks for them, and is sampled beside workers: it may share a process with them.
HEADS = ("scheduler", "client", "local")


def standstills(read: Read) -> Moments:
    """Moments in which no process that was recorded ran, by their samples, and no task began or ended.

    A single process may also have held the interpreter's lock while it read, in a call of C: such a call uses
    more CPU than the process did in the rest of one interval between two samples.
    """
    samples, attempts = read("resources"), read("attempts")
    known = np.flatnonzero(np.isfinite(samples["cpu"]) & np.isfinite(samples["time"]))
    rows = known[np.lexsort((samples["time"][known], samples["process"].codes[known]))]
    code, time = samples["process"].codes[rows], samples["time"][rows]
    passed = np.diff(time, prepend=time[:1])
    passed[np.diff(code, prepend=-1) != 0] = 0.0
    cpu = samples["cpu"][rows]
    gaps = (passed > _LEAST) & (cpu < _CPU)
    if gaps.any() and _is_one(read, [samples["process"].names[each] for each in np.unique(code)]):
        gaps &= cpu * passed <= float(cpu.max()) * float(np.median(passed[passed > 0]))
    still = Moments.of((time - passed)[gaps], time[gaps])
    for each in np.unique(code).tolist():
        if not len(still.start):
            return still
        mine = slice(*np.searchsorted(code, (each, each + 1)).tolist())
        away = gaps[mine] & (passed[mine] > _TIMES * np.median(passed[mine]))
        there = Moments.of(time[mine][:1], time[mine][-1:])
        gone = Moments.of((time[mine] - passed[mine])[away], time[mine][away])
        still = still.without(there.without(gone))
    moments = np.sort(np.concatenate((attempts["start"], attempts["stop"])))
    first, last = np.searchsorted(moments, (still.start + _EDGE, still.stop - _EDGE))
    true = (still.stop - still.start > _LEAST) & (first >= last)
    return Moments(still.start[true], still.stop[true])


def _is_one(read: Read, names: list[str]) -> bool:
    """Whether all that was sampled is one process: the client's, with workers or local schedulers in it."""
    workers = read("workers")
    told = zip(workers["worker"].tolist(), workers["own"].tolist(), strict=True)
    own = {worker for worker, is_own in told if is_own}
    of = {worker: None if worker in own else process for worker, process in processes(workers).items()}
    found = {
        None if name in HEADS or (is_local(name) and not is_pooled(name)) else of.get(name, ("", name))
        for name in names
    }
    return len(found) == 1
