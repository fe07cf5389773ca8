"""Bounded stores that are read by position: packed rows, objects and names.

A position counts rows from the first that ever was, so several readers can
follow one store, each from its own position, and can tell what it missed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from itertools import islice
from struct import Struct, calcsize
from typing import Any

#: Rows in a chunk; whole chunks are dropped.
CHUNK = 4096

#: Bytes or a list; no type variable, as `typing` would remember every class of ours that was ever shipped.
_Part = Any


class _Chunks:
    """Chunks of `CHUNK` rows and a tail that grows; `size` elements of a part make a row."""

    def __init__(self, tail: _Part, size: int, bound: int) -> None:
        self.tail = tail
        self.size = size
        self.first = 0
        self._full = CHUNK * size
        self._most = max(1, bound // CHUNK)
        self._parts: deque[_Part] = deque()
        self._drained = 0

    @property
    def end(self) -> int:
        """Position after the last row."""
        return self.first + len(self._parts) * CHUNK + len(self.tail) // self.size

    def _roll(self) -> None:
        # What grows has more room than it needs, a copy has not.
        self._parts.append(self.tail[:])
        self.tail = type(self.tail)()
        if len(self._parts) > self._most:
            self._parts.popleft()
            self.first += CHUNK

    def _fill(self, rows: list[Any], together: Callable[[list[Any]], _Part]) -> None:
        """Append rows, as many at a time as fit, put `together` to a part."""
        at = 0
        while at < len(rows):
            room = (self._full - len(self.tail)) // self.size
            self.tail += together(rows[at : at + room])
            at += room
            if len(self.tail) >= self._full:
                self._roll()

    def release(self, position: int) -> None:
        """Drop whole chunks before a position."""
        while self._parts and self.first + CHUNK <= position:
            self._parts.popleft()
            self.first += CHUNK

    def take(self, position: int, limit: int) -> tuple[int, int, _Part]:
        """Rows from a position: number lost before them, position after them, and they themselves."""
        start = max(position, self.first)
        stop = max(start, min(self.end, start + limit))
        found = type(self.tail)()
        at = start
        while at < stop:
            index, row = divmod(at - self.first, CHUNK)
            part = self._parts[index] if index < len(self._parts) else self.tail
            last = min(row + stop - at, CHUNK)
            found += part[row * self.size : last * self.size]
            at += last - row
        return start - position, stop, found

    def drain(self) -> tuple[int, _Part]:
        """All rows, for the only reader there is: number lost before them, and they themselves."""
        lost, _, found = self.take(self._drained, self.end)
        self._parts.clear()
        self.tail = type(self.tail)()
        self.first = self._drained = self._drained + lost + len(found) // self.size
        return lost, found


def packing(layout: str) -> str:
    """The format for `struct` of a layout: names of fields, each with a colon and its letter of `struct`."""
    return "<" + "".join(field[-1] for field in layout.split())


def picking(layout: str, name: str) -> Struct:
    """Unpacks one field of rows of a layout, which is far quicker than all."""
    fields = (field.split(":") for field in layout.split())
    return Struct(
        "<" + "".join(kind if each == name else f"{calcsize('<' + kind)}x" for each, kind in fields)
    )


class Rows(_Chunks):
    """Rows of numbers, packed by a layout; see `packing`."""

    def __init__(self, layout: str, bound: int) -> None:
        packer = Struct(packing(layout))
        super().__init__(bytearray(), packer.size, bound)
        self.pack = packer.pack

    def add(self, *values: float) -> None:
        """Append a row."""
        tail = self.tail
        tail += self.pack(*values)
        if len(tail) >= self._full:
            self._roll()

    def extend(self, packed: list[bytes]) -> None:
        """Append rows that are packed."""
        self._fill(packed, b"".join)


class Items(_Chunks):
    """Rows that are one object each."""

    def __init__(self, bound: int) -> None:
        super().__init__([], 1, bound)

    def add(self, item: Any) -> None:
        """Append an object."""
        tail = self.tail
        tail.append(item)
        if len(tail) >= CHUNK:
            self._roll()

    def extend(self, items: list[Any]) -> None:
        """Append objects."""
        self._fill(items, list)

    def at(self, position: int) -> Any:
        """The object at a position, None where it was dropped."""
        if position < self.first:
            return None
        index, row = divmod(position - self.first, CHUNK)
        return (self._parts[index] if index < len(self._parts) else self.tail)[row]


class _Codes(dict[Hashable, int]):
    """Codes by value: a new one gets the next, as long as there are any."""

    def __init__(self, first: Hashable, bound: int) -> None:
        super().__init__({first: 0})
        self.bound = bound
        #: The values by their codes, and whether there were more than may be.
        self.in_turn = [first]
        self.beyond = False

    def __missing__(self, value: Hashable) -> int:
        if len(self) >= self.bound:
            self.beyond = True
            return 0
        code = self[value] = len(self)
        self.in_turn.append(value)
        return code


class Names:
    """Codes for values that repeat; code 0 also stands for every value beyond `bound`.

    Attributes
    ----------
    codes
        The codes there are, by value.
    code
        Gives the code of a value, the next free one where it is new; of one that is known no Python runs.
    """

    def __init__(self, first: Hashable, bound: int = 1_000_000) -> None:
        self.codes = _Codes(first, bound)
        self.code = self.codes.__getitem__

    def since(self, count: int, most: int | None = None) -> list[Hashable]:
        """The values whose codes are `count` or more; the first so many of them."""
        return self.codes.in_turn[count : None if most is None else count + most]


class Blobs:
    """Opaque messages, bounded by their bytes and read by position."""

    def __init__(self, most_bytes: int) -> None:
        self.first = 0
        self.bytes = 0
        self._most_bytes = most_bytes
        self._kept: deque[tuple[int, Any]] = deque()

    @property
    def end(self) -> int:
        """Position after the last message."""
        return self.first + len(self._kept)

    def add(self, message: Any, size: int) -> None:
        """Append a message; the oldest go where it does not fit."""
        self._kept.append((size, message))
        self.bytes += size
        while self.bytes > self._most_bytes and len(self._kept) > 1:
            self._drop()

    def _drop(self) -> None:
        size, _ = self._kept.popleft()
        self.bytes -= size
        self.first += 1

    def release(self, position: int) -> None:
        """Drop messages before a position."""
        while self._kept and self.first < position:
            self._drop()

    def take(self, position: int, most_bytes: int) -> tuple[int, int, list[Any]]:
        """Messages from a position: number lost before them, position after them, and they themselves."""
        start = max(position, self.first)
        found: list[Any] = []
        total = 0
        for size, message in islice(self._kept, start - self.first, None):
            if found and total + size > most_bytes:
                break
            found.append(message)
            total += size
        return start - position, start + len(found), found
