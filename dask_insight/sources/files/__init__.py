"""Files of other tools as recordings: one file each, listed here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...arguments import local_path
from ...frames import RecordingError, holds_recording
from .garbage import no_collection
from .opened import Told, head, silent

if TYPE_CHECKING:
    from ...recording import Recording

__all__ = ["FORMATS", "Foreign", "load"]


class Foreign(NamedTuple):
    """A format that can be read, by ``matches(head)`` and ``read(paths, told)`` of the module of its name."""

    name: str
    #: What writes it, in words.
    written_by: str


#: Every format that can be read, the most particular first.
FORMATS: dict[str, Foreign] = {
    each.name: each
    for each in (
        Foreign("dasf", "DASF's profiler: traces and its resource monitor, *.msgpack"),
        Foreign("cluster_dump", "Dask's Client.dump_cluster_state: *.msgpack.gz, *.yaml"),
        Foreign(
            "performance_report",
            "Dask's performance_report and the plot of get_task_stream, *.html, as far as they hold data",
        ),
        Foreign("task_stream", "the data of Dask's get_task_stream as JSON, *.json"),
        Foreign("speedscope", "speedscope JSON, *.json: `dask-insight export`, py-spy, many profilers"),
        Foreign(
            "chrome", "Chrome Trace Event JSON, *.json, *.json.gz: `dask-insight export`, many profilers"
        ),
    )
}


def load(
    *files: str | os.PathLike[str] | Sequence[Mapping[str, Any]],
    format: str | None = None,
    progress: Told = silent,
) -> Recording:
    """A recording from files of another tool; several become one.

    Parameters
    ----------
    *files
        The files, all of one format and gzipped or not; or the ``data`` of
        distributed's `get_task_stream`, a list.
    format
        A name of `FORMATS`; by default what the first file looks like.
    progress
        Is told how much has been read, 0 to 1.

    Returns
    -------
    Recording
        What a file does not hold is missing in it: ``about["lacks"]`` says in words what, by table.

    Raises
    ------
    RecordingError
        If a file is of no known format, or cannot be read as the one that is named.
    FileNotFoundError
        If there is no such file.
    ValueError
        If no file, a URL or an unknown format is named.
    """
    if not files:
        raise ValueError("name at least one file")
    if not all(isinstance(file, str | os.PathLike) for file in files):
        from_data: Callable[[list[Any]], Recording] = import_module(f"{__name__}.task_stream").from_data
        return from_data(_messages(files))
    paths = [Path(local_path(file)) for file in files]
    for path in paths:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise RecordingError(
                f"{path} is a pipe or a device, which cannot be searched: write it to a file"
            )
    if format is None:
        format = _recognised(paths[0])
    elif format not in FORMATS:
        raise ValueError(f"{format!r} is no format that can be read: choose one of {', '.join(FORMATS)}")
    read: Callable[[Sequence[Path], Told], Recording] = import_module(f"{__name__}.{format}").read
    with no_collection():
        return read(paths, progress)


def _messages(files: Sequence[Any]) -> list[Any]:
    """The entries of several lists in one."""
    for file in files:
        if isinstance(file, str | bytes | os.PathLike | Mapping) or not isinstance(file, Iterable):
            raise ValueError("give either names of files or the data of get_task_stream, a list")
    messages = [message for file in files for message in file]
    if any(isinstance(message, str | os.PathLike) for message in messages):
        raise ValueError("name files one by one: load(*files)")
    return messages


def _recognised(path: Path) -> str:
    if holds_recording(path):
        raise RecordingError(
            f"{path} is a recording already: dask_insight.open() and `dask-insight report` open it as it is"
        )
    begin = head(path)
    for name in FORMATS:
        if import_module(f"{__name__}.{name}").matches(begin):
            return name
    known = "; ".join(each.written_by for each in FORMATS.values())
    raise RecordingError(f"{path} is of no format that can be read. Those that can: {known}")
