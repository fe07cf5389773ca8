"""The databases that DASF's profiler writes: traces of its Dask plugin, and its resource monitor.

A file is records of an 8-byte big-endian length and a msgpack map with ``name``, ``timestamp``,
``phase``, ``process_id``, ``thread_id``, ``args`` and, where something lasted, ``duration``; seconds of
`time.monotonic`. The timestamp of "Compute" is when the task *ended*.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from struct import Struct
from struct import error as StructError
from typing import Any

import numpy as np

from ...batch import unpacked
from ...frames import Gap, RecordingError
from ...recording import Recording
from .dasf_tables import HELD, Tables
from .garbage import no_collection
from .layouts import Records
from .opened import Told, silent

__all__ = ["HELD", "events", "from_events", "matches", "read"]

_SIZE = 8
#: Largest record taken for one, bytes.
_MOST = 64 * 2**20
#: Records read at a time, and bytes of them unless one has more: few enough to stay in the processor's cache.
_BLOCK, _BYTES = 20_000, 16 * 2**20
_NAMES = {"name", "timestamp", "phase"}


def matches(head: bytes) -> bool:
    """Whether a file that begins so is a database of DASF's."""
    size = int.from_bytes(head[:_SIZE], "big")
    if not 0 < size <= len(head) - _SIZE:
        return False
    try:
        first = unpacked(head[_SIZE : _SIZE + size], strict_map_key=False)
    except Exception:
        return False
    return isinstance(first, dict) and first.keys() >= _NAMES


def events(data: bytes, gaps: list[Gap]) -> Iterator[dict[str, Any]]:
    """The records of a database, in their order; what cannot be read is added to `gaps` and left out."""
    for starts, ends in _blocks(data, gaps):
        for _, event in _each(data, starts, ends, gaps, np.arange(len(starts))):
            yield event


def read(paths: Sequence[Path], told: Told = silent) -> Recording:
    """Databases as one recording.

    Times are moved by what the resource monitor tells of the clock; without its
    file they have no date, and an event says so.
    """
    gaps: list[Gap] = []
    tables = Tables()
    with no_collection():
        for place, path in enumerate(paths):
            data = path.read_bytes()
            if data and not matches(data):
                raise RecordingError(f"{path} is no database of DASF's profiler: at byte 0 stands no event")
            for starts, ends in _blocks(data, gaps):
                each = partial(_each, data, starts, ends, gaps)
                tables.take_records(Records(data, starts, ends), each)
            told((place + 1) / len(paths))
    recording = tables.recording(paths[0].stem)
    for gap in gaps:
        recording.lost(gap)
    return recording


def from_events(found: Iterable[Mapping[str, Any]], name: str) -> Recording:
    """The same from events that are already there."""
    tables = Tables()
    tables.take(enumerate(found))
    return tables.recording(name)


def _blocks(data: bytes, gaps: list[Gap]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Where records begin and end, some at a time."""
    at, end, size_at = 0, len(data), Struct(">Q").unpack_from
    while at < end:
        marks = array("q", [at])
        with suppress(StructError, OverflowError):
            for _ in range(_BLOCK):
                at += _SIZE + size_at(data, at)[0]
                marks.append(at)
        found = np.frombuffer(marks, "i8")
        sizes = np.diff(found) - _SIZE
        wrong = np.flatnonzero((sizes <= 0) | (sizes > _MOST) | (found[1:] > end))
        if len(wrong):
            found = found[: wrong[0] + 1]
        block = found[: max(2, int(np.searchsorted(found, found[0] + _BYTES)))]
        if len(block) > 1:
            yield block[:-1] + _SIZE, block[1:]
        at = int(block[-1])
        if len(block) == len(found) <= _BLOCK and at < end:
            gaps.append(Gap(at, end - at, "the last record is incomplete, or its length is damaged"))
            return


def _each(
    data: bytes, starts: np.ndarray, ends: np.ndarray, gaps: list[Gap], rows: np.ndarray
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Some records of a block, one by one, and their numbers."""
    for row, start, end in zip(rows.tolist(), starts[rows].tolist(), ends[rows].tolist(), strict=True):
        why = ""
        try:
            event = unpacked(data[start:end], strict_map_key=False)
        except Exception as error:
            event, why = None, f": {type(error).__name__}"
        if isinstance(event, dict) and event.keys() >= _NAMES:
            yield row, event
        else:
            begin = start - _SIZE
            gaps.append(Gap(begin, end - begin, f"a record that is no event{why}"))
