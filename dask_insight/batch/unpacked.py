"""msgpack of which few bytes do not become objects without end."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, TypeVar

import msgpack

from .values import BatchError

#: How many different texts of at most two bytes there are, about.
_SHORTEST = 2**16

_T = TypeVar("_T", bound=Sized)


class Allowance:
    """How many values so many bytes may become, all that is unpacked with it together.

    What takes one byte becomes an object of sixty; what people keep takes four or more on average, but for
    the shortest texts.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._left = self._most = _SHORTEST + size // 4

    def unpacked(self, data: bytes | memoryview, **options: Any) -> Any:
        """The msgpack value that bytes are; options are those of `msgpack.unpackb`.

        Raises
        ------
        BatchError
            If they are more values than are left.
        ValueError
            If they are none.
        """
        self.take(1)
        most = self._left
        try:
            return msgpack.unpackb(
                data,
                list_hook=self._counted,
                object_hook=self._counted,
                max_array_len=most,
                max_map_len=most,
                **options,
            )
        except ValueError as error:
            if "exceeds max_" not in str(error):
                raise
            raise self._exhausted() from None

    def take(self, count: int) -> None:
        """Count values that were unpacked by other means.

        Raises
        ------
        BatchError
            If they are more than are left.
        """
        self._left -= count
        if self._left < 0:
            raise self._exhausted()

    def _counted(self, values: _T) -> _T:
        self.take(len(values))
        return values

    def _exhausted(self) -> BatchError:
        return BatchError(f"more than {self._most:,} values in {self._size:,} bytes")


def unpacked(data: bytes | memoryview, **options: Any) -> Any:
    """The msgpack value that bytes are; options are those of `msgpack.unpackb`.

    Raises
    ------
    ValueError
        If they are none, or far too many values.
    """
    if len(data) <= _SHORTEST:
        # No more values than bytes: nothing needs to be counted.
        return msgpack.unpackb(data, **options)
    return Allowance(len(data)).unpacked(data, **options)
