"""Dataclasses some of whose fields are kept in less memory than they are read in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, Self, TypeVar

import numpy as np

from .ascending import Ascending, Numbers
from .counts import Counts
from .micros import BLOCK, Kept, Micros, Rows

#: Ways to keep a field in less memory.
Compact = Micros | Counts | Ascending
T = TypeVar("T")


class _Field(Generic[T]):
    """A field that is an array to who reads it, however it is kept."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, owner: object | None, kind: type | None = None) -> np.ndarray:
        if owner is None:
            # So that a dataclass sees no default.
            raise AttributeError(self._name)
        kept = vars(owner)[self._name]
        return np.asarray(kept.array) if isinstance(kept, Compact) else kept

    def __set__(self, owner: object, kept: T) -> None:
        vars(owner)[self._name] = kept


class Moment(_Field[Kept]):
    """A field of moments, seconds since the epoch."""


class Number(_Field[Numbers]):
    """A field of numbers of rows."""


class Count(_Field[Counts | np.ndarray]):
    """A field of whole numbers, as floats: NaN where there is none."""


class Fields:
    """A dataclass some of whose fields are kept in another way than they are read."""

    def kept(self, name: str) -> Any:
        """A field as it is kept, for others to share."""
        return vars(self)[name]

    def block(self, name: str, begin: int) -> np.ndarray:
        """Up to `BLOCK` rows of a field, from one of its multiples on."""
        kept = vars(self)[name]
        if isinstance(kept, Compact):
            return kept.block(begin)
        return np.asarray(kept[begin : begin + BLOCK])

    def in_blocks(self, *names: str) -> Iterator[tuple[np.ndarray, ...]]:
        """Up to `BLOCK` rows of some fields of moments at a time."""
        first = vars(self)[names[0]]
        for begin in range(0, len(first.steps if isinstance(first, Micros) else first), BLOCK):
            yield tuple(self.block(name, begin) for name in names)

    def at(self, name: str, rows: Rows) -> Any:
        """Some rows of a field, by their numbers or a mask, or one: no others are worked out."""
        kept = vars(self)[name]
        return kept.at(rows) if isinstance(kept, Compact) else kept[rows]

    def some(self, rows: np.ndarray) -> dict[str, Any]:
        """All fields of some rows, by their numbers or a mask, in as little memory as before."""
        return {name: alike(kept, self.at(name, rows)) for name, kept in vars(self).items()}

    def but(self, **changes: Any) -> Self:
        """The same with other fields."""
        return type(self)(**{**vars(self), **changes})


def alike(kept: Any, values: Any) -> Any:
    """Values as those of a field are kept that they come from."""
    return type(kept).of(values) if isinstance(kept, Micros | Counts) else values
