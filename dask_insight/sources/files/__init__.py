"""Files of other tools as recordings: one file each, listed here."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...frames import RecordingError

if TYPE_CHECKING:
    from ...recording import Recording

__all__ = ["FORMATS", "Foreign", "load"]

#: Bytes by which a file's format is recognised.
_HEAD = 64 * 1024


class Foreign(NamedTuple):
    """A format that can be read, by ``matches(head)`` and ``read(paths)`` of the module of its name."""

    name: str
    #: What writes it, in words.
    written_by: str


#: Every format that can be read, the most particular first.
FORMATS: dict[str, Foreign] = {
    each.name: each
    for each in (
        Foreign("dasf", "DASF's profiler: traces and its resource monitor, *.msgpack"),
        Foreign(
            "chrome", "Chrome Trace Event JSON, *.json, *.json.gz: `dask-insight export`, many profilers"
        ),
    )
}


def load(*paths: str | os.PathLike[str], format: str | None = None) -> Recording:
    """A recording from files of another tool; several become one.

    Parameters
    ----------
    *paths
        The files, all of one format.
    format
        A name of `FORMATS`; by default what the first file looks like.

    Raises
    ------
    RecordingError
        If a file is of no known format, or cannot be read as the one that is named.
    FileNotFoundError
        If there is no such file.
    ValueError
        If no file or an unknown format is named.
    """
    if not paths:
        raise ValueError("name at least one file")
    files = [Path(path) for path in paths]
    if format is None:
        format = _recognised(files[0])
    elif format not in FORMATS:
        raise ValueError(f"{format!r} is no format that can be read: choose one of {', '.join(FORMATS)}")
    read: Callable[[Sequence[Path]], Recording] = import_module(f"{__name__}.{format}").read
    return read(files)


def _recognised(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(_HEAD)
    for name in FORMATS:
        if import_module(f"{__name__}.{name}").matches(head):
            return name
    known = "; ".join(each.written_by for each in FORMATS.values())
    raise RecordingError(f"{path} is of no format that can be read. Those that can: {known}")
