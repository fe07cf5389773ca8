"""A recording: batches in the order in which they came, and views of them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from threading import RLock

from . import frames
from .batch import Batch, BatchError, Values, decode, table_of
from .columns import length, merge
from .frames import Gap, RecordingError, Writer
from .identity import Identity
from .options import Emit

__all__ = ["Gap", "Recording", "RecordingError"]


class Recording:
    """What was recorded of one or more Dask computations.

    Made by `dask_insight.record` and `dask_insight.open`. It may be read while
    it still grows; every view shows what has come so far.

    Attributes
    ----------
    identity
        Ids that its sources share.
    gaps
        Parts of the file that could not be read; also in `events`, kind 'lost'.
    """

    def __init__(self, writer: Writer | None = None) -> None:
        self.identity = Identity()
        self.gaps: list[Gap] = []
        self._lock = RLock()
        self._writer = writer
        self._batches: list[bytes] = []
        self._of_table: defaultdict[str, list[bytes]] = defaultdict(list)
        self._merged: dict[str, tuple[int, dict[str, Values]]] = {}
        self._followers: dict[object, Emit] = {}

    def append(self, batch: bytes) -> None:
        """Add a batch; any thread may call this."""
        table = table_of(batch)
        with self._lock:
            self._batches.append(batch)
            self._of_table[table].append(batch)
            if self._writer is not None:
                self._writer.write(batch)
            followers = list(self._followers.values())
        for follower in followers:
            follower(batch)

    def batches(self) -> list[bytes]:
        """All batches so far, in the order in which they came."""
        with self._lock:
            return list(self._batches)

    def on_append(self, follower: Emit) -> Callable[[], None]:
        """Have `follower` called with every batch to come; returns what ends that."""
        key = object()
        with self._lock:
            self._followers[key] = follower

        def stop() -> None:
            with self._lock:
                self._followers.pop(key, None)

        return stop

    def columns(self, table: str) -> dict[str, Values]:
        """A table's columns over all batches so far, as NumPy arrays; see `schema`.

        Raises
        ------
        KeyError
            If there is no such table.
        """
        with self._lock:
            batches = list(self._of_table[table])
            done, columns = self._merged.get(table, (0, {}))
        if table not in self._merged or len(batches) > done:
            parts = [decoded for batch in batches[done:] if (decoded := self._decode(batch)) is not None]
            if columns:
                parts.insert(0, Batch(table, length(columns), columns))
            columns = merge(table, parts)
            with self._lock:
                self._merged[table] = (len(batches), columns)
        return columns

    def _decode(self, batch: bytes) -> Batch | None:
        try:
            return decode(batch)
        except BatchError as error:
            self.gaps.append(Gap(0, len(batch), str(error)))
            return None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file; it appears whole or not at all."""
        frames.save(path, self.batches())

    def close(self) -> None:
        """End writing to the file it was recorded to."""
        with self._lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None


def open_recording(path: str | os.PathLike[str]) -> Recording:
    """Open a recording file.

    Raises
    ------
    RecordingError
        If it is no recording or its format is too new.
    FileNotFoundError
        If there is no such file.
    """
    recording = Recording()
    for item in frames.read(path):
        if isinstance(item, Gap):
            recording.gaps.append(item)
        else:
            recording.append(item)
    return recording
