"""Sampled call stacks of all sides as one tree: the numbers of a differential flame graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...batch import Symbols
from ...schema import NOTHING
from ...tables.stacks import STANDARD
from .measure import Measured

if TYPE_CHECKING:
    import pandas as pd

#: A node is left out where it has less than this share of the samples on every side.
_LEAST = 2e-4
_INSTALLED = re.compile(r".*/(?:site-packages|dist-packages)/")
_STANDARD = re.compile(rf".*/{STANDARD}|[A-Za-z]:.*/Lib/")
_CELL = re.compile(
    r".*/ipykernel_\d+/\d+\.py$|In \[\d+\]$|<ipython-input-.*>$|<python-input-\d+>$|<stdin>$|<string>$"
)


class _Frames(NamedTuple):
    """The frames of all runs, one after another; those of a run keep their order, callers first."""

    side: np.ndarray
    parent: np.ndarray
    depth: np.ndarray
    function: Symbols
    file: Symbols
    #: What stands for the file, so that one module is one wherever it was installed.
    place: np.ndarray
    line: np.ndarray
    seconds: np.ndarray


def stacks(measured: Sequence[Sequence[Measured]]) -> dict[str, Any]:
    """The columns of the table `compared_stacks`.

    Frames of one function are one node under one caller if they are of one file,
    by its path within the installed packages, or by its name elsewhere: the lines
    of a function and the folder it is in may differ from side to side.
    """
    frames = _together(measured)
    node, parent, first = _nodes(frames)
    count = len(first)
    own = np.zeros((len(measured), count))
    np.add.at(own, (frames.side, node), frames.seconds)
    own /= np.array([[len(side)] for side in measured])
    total = own.copy()
    depth = frames.depth[first]
    order = np.argsort(depth, kind="stable")
    levels = np.split(order, np.searchsorted(depth[order], np.arange(1, int(depth.max(initial=0)) + 1)))
    for rows in levels[:0:-1]:
        for side in range(len(measured)):
            np.add.at(total[side], parent[rows], total[side, rows])
    whole = np.maximum(total[:, depth == 0].sum(axis=1, keepdims=True), 1e-300)
    kept = np.flatnonzero((total / whole).max(axis=0, initial=0) >= _LEAST)
    number = np.full(count + 1, -1)
    number[kept] = np.arange(len(kept))
    width = len(measured)
    row = np.repeat(first[kept], width)
    above = number[parent[kept]]
    return {
        "side": np.tile(np.arange(width), len(kept)),
        "node": np.repeat(np.arange(len(kept)), width),
        "parent": np.repeat(np.where(above < 0, NOTHING, above).astype("u4"), width),
        "function": Symbols(frames.function.codes[row], frames.function.names),
        "file": Symbols(frames.file.codes[row], frames.file.names),
        "line": frames.line[row],
        "self": own[:, kept].T.reshape(-1),
        "total": total[:, kept].T.reshape(-1),
    }


def place_of(file: str) -> str:
    """A file as it is called on every machine: within its package, by its name elsewhere."""
    path = file.replace("\\", "/")
    if _CELL.match(path):
        return "cell"
    for installed in (_INSTALLED, _STANDARD):
        if (found := installed.match(path)) is not None:
            return path[found.end() :]
    return path.rsplit("/", 1)[-1]


def _together(measured: Sequence[Sequence[Measured]]) -> _Frames:
    functions: dict[str, int] = {}
    files: dict[str, int] = {}
    parts: list[tuple[np.ndarray, ...]] = []
    begin = 0
    for side, runs in enumerate(measured):
        for run in runs:
            flame = run.flame
            parent = flame["parent"].to_numpy()
            parts.append(
                (
                    np.full(len(flame), side),
                    np.where(parent < 0, -1, parent + begin),
                    flame["depth"].to_numpy(),
                    _codes(flame["function"], functions),
                    _codes(flame["file"], files),
                    flame["first_line"].to_numpy(),
                    flame["self"].to_numpy(),
                )
            )
            begin += len(flame)
    kinds = ("i8", "i8", "i8", "u4", "u4", "u4", "f8")
    of_side, parent, depth, function, file, line, seconds = (
        np.concatenate([np.zeros(0, kind), *values]).astype(kind)
        for kind, values in zip(kinds, zip(*parts, strict=True), strict=True)
    )
    places: dict[str, int] = {}
    named = [places.setdefault(place_of(name), len(places)) for name in files]
    place = np.array(named or [0])[file]
    return _Frames(
        of_side,
        parent,
        depth,
        Symbols(function, list(functions)),
        Symbols(file, list(files)),
        place,
        line,
        seconds,
    )


def _codes(values: pd.Series, known: dict[str, int]) -> np.ndarray:
    """Codes of a categorical column in a vocabulary that grows."""
    codes = [known.setdefault(str(name), len(known)) for name in values.cat.categories]
    return np.asarray(np.array(codes or [0], "u4")[values.cat.codes.to_numpy()])


def _nodes(frames: _Frames) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Node of each frame; parent of each node (-1 at the bottom), and its first frame. Callers come first."""
    node = [-1] * (len(frames.side) + 1)
    known: dict[tuple[int, int, int], int] = {}
    firsts: list[int] = []
    columns = (frames.parent, frames.function.codes, frames.place)
    for row, (parent, function, place) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        node[row] = known.setdefault((node[parent], function, place), len(known))
        if node[row] == len(firsts):
            firsts.append(row)
    parents = [parent for parent, *_ in known]
    return np.array(node[:-1], "i8"), np.array(parents, "i8"), np.array(firsts, "i8")
