"""What the processes of Chrome traces are called as workers, and which of several files are the same one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

#: Seconds by which rounding moves a moment.
_ROUNDING = 1e-5


class Process(NamedTuple):
    """A process of a file."""

    #: Number of its file, and its number therein.
    file: int
    pid: Any
    name: str
    #: Whether its file says when it began, as our own exports do: there pids are mere numbers.
    dated: bool
    #: Its first and last moment, seconds; None if it may be any of its name.
    life: tuple[float, float] | None


def names(processes: Sequence[Process]) -> dict[tuple[int, Any], str]:
    """The name of each as a worker, by file and pid.

    Files without a date are parts of one run: processes of one name are told apart by their pids, and by
    '#2', '#3' … where those are the same, as in containers. So are workers of several runs.
    """
    pids: dict[tuple[int, str], set[Any]] = defaultdict(set)
    for each in processes:
        pids[_run(each), each.name].add(each.pid)
    known: dict[str, list[Process]] = defaultdict(list)
    found = {}
    for each in sorted(processes, key=lambda one: one.life or (0.0, 0.0)):
        name = f"{each.name} ({each.pid})" if len(pids[_run(each), each.name]) > 1 else each.name
        labels = (name if number == 1 else f"{name}#{number}" for number in count(1))
        label = next(one for one in labels if all(_same(each, other) for other in known[one]))
        known[label].append(each)
        found[each.file, each.pid] = label
    return found


def _run(one: Process) -> int:
    return one.file if one.dated else -1


def _same(one: Process, other: Process) -> bool:
    """Whether processes of one name are the same."""
    if one.life is None or other.life is None:
        return True
    (begin, end), (first, last) = one.life, other.life
    at_once = begin < last and first < end
    if not (one.dated or other.dated):
        # A process does not write two files at once.
        return not at_once
    # An address is that of one worker at a time.
    return one.dated == other.dated and (abs(begin - first) < _ROUNDING or (at_once and "://" in one.name))
