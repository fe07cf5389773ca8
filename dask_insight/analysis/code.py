"""Where the code stands that a recording tells of: functions seen at work, and lines worth reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..columns import Columns
from ..lookup import Lookup, pick
from ..tables.named import samples
from ..tables.stacks import outermost, parents

Read = Callable[[str], Columns]

#: Share of a task name's samples from which a function is told of, and how many at most.
_LEAST, _MOST = 0.2, 3


class Seen(NamedTuple):
    """A function in which tasks of a name were seen to spend time."""

    prefix: str
    function: str
    file: str
    line: int


class Line(NamedTuple):
    """A line of source code, and the function that it ought to belong to; '' if any may."""

    file: str
    line: int
    function: str


def seen(read: Read) -> list[Seen]:
    """For each task name of which ``functions`` tells nothing: the first functions of its stacks.

    That is the outermost frame that belongs neither to Dask nor to the standard library.
    """
    functions: Any = read("functions")["prefix"]
    known = set(functions.names)
    columns: Mapping[str, Any] = samples(read)
    prefix, duration = columns["prefix"], columns["duration"].astype("f8")
    wanted = [code for code, name in enumerate(prefix.names) if name and name not in known]
    rows = np.flatnonzero(np.isin(prefix.codes, wanted))
    if not len(rows):
        return []
    stacks: Mapping[str, Any] = read("stacks")
    first = pick(outermost(stacks), Lookup(stacks["stack"]).rows(columns["stack"][rows]))
    sums: dict[int, dict[tuple[str, str, int], float]] = {}
    pairs, place = np.unique(np.stack((prefix.codes[rows], first)), axis=1, return_inverse=True)
    seconds = np.bincount(place.reshape(-1), duration[rows])
    for (code, row), each in zip(pairs.T.tolist(), seconds.tolist(), strict=True):
        if row < 0:
            continue
        names = stacks["function"].names[stacks["function"].codes[row]]
        frame = (names, stacks["file"].names[stacks["file"].codes[row]], int(stacks["first_line"][row]))
        of_name = sums.setdefault(code, {})
        of_name[frame] = of_name.get(frame, 0.0) + each
    found = []
    for code, of_name in sums.items():
        whole = sum(of_name.values())
        most = sorted(of_name.items(), key=lambda item: -item[1])[:_MOST]
        found += [Seen(prefix.names[code], *frame) for frame, each in most if each >= _LEAST * whole]
    return found


def functions_seen(read: Read) -> dict[str, Any]:
    """What `seen` finds, as columns of ``functions``; {} if that is nothing."""
    if not (found := seen(read)):
        return {}
    columns = dict(zip(Seen._fields, zip(*found, strict=True), strict=True))
    return {**columns, "source": ["sampled"] * len(found)}


def lines(read: Read) -> list[Line]:
    """The lines that other tables point to; of stacks those first in which most time was spent."""
    wanted: dict[tuple[str, int], str] = {}
    for table in ("functions", "submissions"):
        columns: Mapping[str, Any] = read(table)
        for file, line in zip(columns["file"].tolist(), columns["line"].tolist(), strict=True):
            wanted[file, line] = ""
    for file, line, function in _of_stacks(read):
        wanted.setdefault((file, line), function)
    readable = ((*place, function) for place, function in wanted.items() if place[1] and _is_file(place[0]))
    return [Line(*each) for each in readable]


def _of_stacks(read: Read) -> list[tuple[str, int, str]]:
    """File, line and function of each first line (its function is given) and each line that was running."""
    stacks: Mapping[str, Any] = read("stacks")
    sampled: Mapping[str, Any] = read("samples")
    rows = Lookup(stacks["stack"]).rows(sampled["stack"])
    seconds = np.bincount(
        rows[rows >= 0], sampled["duration"][rows >= 0].astype("f8"), minlength=len(stacks["stack"])
    ).tolist()
    for row, parent in reversed(list(enumerate(parents(stacks)))):
        if 0 <= parent < row:
            seconds[parent] += seconds[row]
    order = np.argsort(-np.array(seconds), kind="stable")
    files = [stacks["file"].names[code] for code in stacks["file"].codes[order].tolist()]
    names = [stacks["function"].names[code] for code in stacks["function"].codes[order].tolist()]
    found = []
    numbers = zip(stacks["first_line"][order].tolist(), stacks["line"][order].tolist(), strict=True)
    for file, name, (first, line) in zip(files, names, numbers, strict=True):
        found += [(file, first, name), (file, line, "")]
    return found


def _is_file(file: str) -> bool:
    return bool(file) and (not file.startswith("<") or file.startswith(("<ipython-input", "<python-input")))
