"""What is to be compared: runs, one or several a side."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...columns import length
from ...recording import Recording, open_recording

#: A recording, or the path of one.
Run = Recording | str | os.PathLike[str]
#: A run, or repeated runs of one thing.
Side = Run | Sequence[Run]


class Opened(NamedTuple):
    """A run of a side."""

    recording: Recording
    #: Path of its file; '' if it came from memory.
    file: str

    @property
    def name(self) -> str:
        """What to call it."""
        told = str(self.recording.about.get("name") or "")
        return (Path(self.file).stem if self.file else told) or "run"


class Chosen(NamedTuple):
    """A side."""

    name: str
    runs: list[Opened]


def sides_of(given: Sequence[Side], names: Sequence[str] | None) -> list[Chosen]:
    """Open what is not open yet, and name the sides.

    Raises
    ------
    TypeError
        If something is neither a recording, a path, nor a list of such.
    ValueError
        If there are fewer than two sides, a side without runs, or another number of names.
    FileNotFoundError, RecordingError
        If a file is not there or is no recording.
    """
    if len(given) < 2:
        raise ValueError("to compare takes two runs or more: compare(before, after)")
    if names is not None and (isinstance(names, str) or len(names) != len(given)):
        raise ValueError(f"names={names!r} does not name {len(given)} sides: give a list of {len(given)}")
    opened = [[_opened(run) for run in _runs(side)] for side in given]
    if not all(opened):
        raise ValueError("a side has no runs: give each side one recording or more")
    told = [_common([run.name for run in runs]) for runs in opened] if names is None else [*map(str, names)]
    return [Chosen(name, runs) for name, runs in zip(_different(told), opened, strict=True)]


def _runs(side: Any) -> Iterable[Run]:
    several = isinstance(side, Iterable) and not isinstance(side, str | bytes | os.PathLike)
    return side if several else [side]


def _opened(run: Run) -> Opened:
    if isinstance(run, Recording):
        return _of_a_run(Opened(run, ""))
    if isinstance(run, str | os.PathLike):
        return _of_a_run(Opened(open_recording(run), os.fspath(run)))
    raise TypeError(
        f"a {type(run).__name__} cannot be compared: give a Recording, the path of one, or a list of such"
    )


def _of_a_run(opened: Opened) -> Opened:
    if length(opened.recording.columns("compared_sides")):
        raise ValueError(f"{opened.file or opened.name} is a comparison: compare the recordings it is of")
    return opened


def _common(names: list[str]) -> str:
    """What the names of repeated runs begin with, without what counts them; the first one if nothing."""
    if len(set(names)) == 1:
        return names[0]
    return re.sub(r"[\W_]*\d*$", "", "".join(_shared(names))) or names[0]


def _shared(names: list[str]) -> Iterator[str]:
    """The signs that all names begin with."""
    for signs in zip(*names, strict=False):
        if len(set(signs)) > 1:
            return
        yield signs[0]


def _different(names: list[str]) -> list[str]:
    """The same names, told apart by a number where they are alike."""
    made: list[str] = []
    for name in names:
        told, number = name, 2
        while told in made:
            told, number = f"{name} ({number})", number + 1
        made.append(told)
    return made
