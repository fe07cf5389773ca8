"""Ids that are unique within a recording although several sources hand them out."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt

from .batch import Symbols, encode, intern
from .schema import NOTHING

#: A source takes whole blocks, however few ids it uses.
_BITS = 16
_LOW = (1 << _BITS) - 1
#: Stacks that are remembered.
_STACKS = 100_000

Ids = npt.NDArray[np.uint32]


class Namespace:
    """Maps one source's ids to the recording's.

    A source counts for itself (a scheduler's tasks from 0, its runs from
    wherever it stands). Each block of 2**16 local ids gets the recording's
    next free block when it is first seen, so mapping is a look-up by block
    and a single source's ids stay dense. One recording holds 65,535 blocks.
    """

    def __init__(self, blocks: count[int]) -> None:
        self._blocks = blocks
        self._known: dict[int, int] = {}

    @property
    def is_used(self) -> bool:
        """Whether its source has told of anything."""
        return bool(self._known)

    def map(self, local: Any) -> Ids:
        """The recording's ids for an array of the source's; `NOTHING` stays itself."""
        ids = np.asarray(local, "i8")
        mapped = np.full(len(ids), NOTHING, "u4")
        is_id = ids != NOTHING
        known = ids[is_id]
        blocks = known >> _BITS
        seen = np.bincount(blocks)
        firsts = np.zeros(len(seen), "i8")
        for block in np.flatnonzero(seen).tolist():
            firsts[block] = self._block(block) << _BITS
        mapped[is_id] = firsts[blocks] | (known & _LOW)
        return mapped

    def _block(self, local: int) -> int:
        block = self._known.get(local)
        if block is None:
            block = self._known[local] = next(self._blocks)
        return block


class Identity:
    """Everything that must be told apart across the sources of one recording."""

    def __init__(self) -> None:
        self._blocks = {kind: count() for kind in ("task", "run", "transfer", "submission")}
        self.stacks = Stacks()
        self._namespaces: list[Namespace] = []

    @property
    def is_used(self) -> bool:
        """Whether any source has told of anything."""
        return any(each.is_used for each in self._namespaces)

    def namespace(self, kind: str) -> Namespace:
        """A new source's view of the ids of one kind: task, run, transfer or submission."""
        self._namespaces.append(Namespace(self._blocks[kind]))
        return self._namespaces[-1]


class Stacks:
    """One tree of call stacks for the whole recording; sources on several threads add to it.

    When it has grown to `most` stacks it forgets them and begins anew: those
    that come again get other ids and are told of again, which readers merge
    by their frames. So its memory is bounded, and nothing is lost.

    Attributes
    ----------
    since
        Ids below this one do not come any more, nor will they be parents of new ones.
    """

    def __init__(self, most: int = _STACKS) -> None:
        self.since = 0
        self._most = most
        self._began = self._next = 0
        # Taken again where a session that garbage held ends just then.
        self._lock = RLock()
        self._ids: dict[tuple[int, str, str, int, int], int] = {}

    def absorb(self, frames: Mapping[str, Any]) -> tuple[Ids, bytes | None]:
        """Take one sampler's frames.

        Parameters
        ----------
        frames
            Columns ``parent`` (row number in the same frames, `NOTHING` at the
            bottom; a parent stands before its children), ``function``,
            ``file``, ``line``, ``first_line``, as `probe.sampler.Sampler.drain` gives them.

        Returns
        -------
        ids
            The recording's stack id of each row.
        batch
            A batch of `stacks` with those not seen before, or None.
        """
        ids: list[int] = []
        new: list[tuple[int, int, str, str, int, int]] = []
        rows = zip(
            frames["parent"],
            frames["function"],
            frames["file"],
            frames["line"],
            frames["first_line"],
            strict=True,
        )
        with self._lock:
            if len(self._ids) >= self._most:
                self.forget()
            for parent, function, file, line, first_line in rows:
                frame = (NOTHING if parent == NOTHING else ids[parent], function, file, line, first_line)
                known = self._ids.get(frame)
                if known is None:
                    known, self._next = self._next, self._next + 1
                    self._ids[frame] = known
                    new.append((known, *frame))
                ids.append(known)
        return np.array(ids, "u4"), _stack_batch(new) if new else None

    def forget(self) -> None:
        """Begin anew."""
        with self._lock:
            # What was given out last may still be on its way.
            self.since, self._began = self._began, self._next
            self._ids.clear()


def stacks_at(ids: Ids, rows: Any) -> Ids:
    """The recording's stack of each row of a sampler's frames, `NOTHING` where a sample saw no frame."""
    at = np.asarray(rows, "i8")
    return np.append(ids, np.uint32(NOTHING))[np.where(at == NOTHING, len(ids), at)].astype("u4")


def _stack_batch(rows: list[tuple[int, int, str, str, int, int]]) -> bytes:
    stack, parent, function, file, line, first_line = zip(*rows, strict=True)
    columns: dict[str, Any] = {"stack": stack, "parent": parent, "line": line, "first_line": first_line}
    names: dict[str, Symbols] = {"function": intern(function), "file": intern(file)}
    return encode("stacks", columns | names)
