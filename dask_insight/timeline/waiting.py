"""How long tasks held threads while they waited for something that is no work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import words
from ..lookup import Lookup, ratio, sums
from ..tables.waits import CALLS, KINDS, in_kind, in_locks, in_shared_locks
from .attempts import Read

_SHARED, _OWN = "a lock that all workers share", "a lock"
#: Share of the work from which its waits are told.
_MUCH = 0.1


class Waiting(NamedTuple):
    """Waits that hold threads, and what they are for. Without any, `share` is 0."""

    #: Share of the time for which tasks held threads.
    share: float = 0.0
    #: The name of the tasks that waited longest, and what these waited for.
    name: str = ""
    what: str = ""

    def __bool__(self) -> bool:
        return self.share >= _MUCH

    @property
    def threads_wait(self) -> bool:
        """Whether more threads would wait as well."""
        return self.what in (_SHARED, _OWN, CALLS.what)

    @property
    def workers_wait(self) -> bool:
        """Whether more workers would, too."""
        return self.what in (_SHARED, CALLS.what)

    def said(self) -> str:
        """What to know of it, as a part of a sentence."""
        tail = "which needs no thread"
        if self.threads_wait:
            tail = f"more threads{' or workers' if self.workers_wait else ' of a worker'} would wait as well"
        sign = ":" if self.threads_wait else ","
        return (
            f"{words.share(self.share)} of the work is waiting, mostly of `{self.name}` for "
            f"{self.what}{sign} {tail}"
        )


def seen_in(read: Read, run: np.ndarray, code: np.ndarray, count: int, mine: np.ndarray) -> np.ndarray:
    """Share of the samples' time of attempts of each code, below `count`, in some rows of ``stacks``.

    Parameters
    ----------
    run, code
        Ids of attempts, and a code of each, such as that of its task name.
    mine
        A mask over ``stacks``.

    Returns
    -------
    numpy.ndarray
        One of 0 to 1 for each code.
    """
    samples = read("samples")
    if not len(samples["run"]) or not mine.any():
        return np.zeros(count)
    inside = np.append(mine, False)[Lookup(read("stacks")["stack"]).rows(samples["stack"])]
    rows = Lookup(run).rows(samples["run"])
    known = rows >= 0
    codes, seconds = code[rows[known]], samples["duration"][known].astype("f8")
    whole, spent = (sums(codes, weight, count) for weight in (seconds, seconds * inside[known]))
    return ratio(spent, whole)


def waiting(read: Read, columns: Mapping[str, Any], rows: np.ndarray) -> Waiting:
    """The waits of attempts that ran, rows of the table ``tasks``, by their call stacks."""
    run, names = columns["run"][rows], columns["prefix"].names
    code, count = columns["prefix"].codes[rows], len(names)
    lasted = np.maximum(columns["stop"][rows] - columns["start"][rows], 0.0)
    whole = sums(code, lasted, count)
    away = sums(code, np.minimum(columns["seceded"][rows], lasted), count)
    shared = in_shared_locks(read)
    stacks = {_SHARED: shared, _OWN: in_locks(read) & ~shared}
    stacks |= {kind.what: in_kind(read, kind) for kind in KINDS}
    shares = np.array([seen_in(read, run, code, count, mine) for mine in stacks.values()])
    # Who had given its thread back waited, and held none.
    seconds = np.clip(np.minimum(shares.sum(axis=0), 1.0) * whole - away, 0.0, whole - away)
    work = float((whole - away).sum())
    if not seconds.any():
        return Waiting()
    most = int(seconds.argmax())
    return Waiting(float(seconds.sum()) / work, names[most], list(stacks)[int(shares[:, most].argmax())])
