"""The parts of a large tree that are wanted, out of msgpack or YAML; the rest is passed over, never built.

What is wanted is written as a tree too: a dictionary names keys (`ANY` stands for all others), a list of one
says what each item gives, and a function takes a whole value and gives what is kept of it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import msgpack

from ...batch import Allowance, BatchError

#: Every key that is not named.
ANY = None
Wanted = dict[Any, Any] | list[Any] | Callable[[Any], Any]

#: Most bytes of msgpack that become one value.
_MOST = 16 * 2**20
#: First bytes of msgpack of numbers, truths and texts of less than 256 bytes.
_SHORT = {*range(0x80), *range(0xA0, 0xC1), 0xC2, 0xC3, *range(0xCA, 0xD4), 0xD9, *range(0xE0, 0x100)}
#: Values within values.
_DEPTH = 64
_NULLS = {"", "~", "null", "Null", "NULL"}
_TRUTHS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_DIGITS = 40


class Torn(Exception):
    """The data end, or cease to make sense.

    Attributes
    ----------
    offset
        At which byte.
    reason
        In words.
    """

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(reason)
        self.offset = offset
        self.reason = reason


def from_msgpack(data: bytes, wanted: Wanted) -> tuple[Any, Torn | None]:
    """What is wanted of a msgpack value, and where it could not be read any further."""
    reader = _Msgpack(data)
    return reader.read(wanted), reader.torn


def from_yaml(data: bytes, wanted: Wanted) -> tuple[Any, Torn | None]:
    """The same of a YAML document, of which tags mean nothing and references are refused."""
    reader = _Yaml(data)
    return reader.read(wanted), reader.torn


class _Msgpack:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._allowance = Allowance(len(data))
        self._unpacker = msgpack.Unpacker(
            max_buffer_size=max(len(data), 1), strict_map_key=False, unicode_errors="replace"
        )
        self._unpacker.feed(data)
        self.torn: Torn | None = None

    def read(self, wanted: Wanted) -> Any:
        """The next value; what has come of it if the data end within."""
        kind = self._data[self._unpacker.tell()] if self._unpacker.tell() < len(self._data) else -1
        if isinstance(wanted, dict) and (0x80 <= kind <= 0x8F or kind in (0xDE, 0xDF)):
            return self._mapping(wanted)
        if isinstance(wanted, list) and (0x90 <= kind <= 0x9F or kind in (0xDC, 0xDD)):
            found = []
            for _ in range(self._header(self._unpacker.read_array_header)):
                value = self.read(wanted[0])
                if self.torn:
                    break
                found.append(value)
            return found
        return self._value(wanted if callable(wanted) else _scalar)

    def _mapping(self, wanted: dict[Any, Any]) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for _ in range(self._header(self._unpacker.read_map_header)):
            key = self._value(_scalar)
            if self.torn:
                break
            inner = wanted.get(key, wanted.get(ANY)) if key is not None else None
            if inner is None:
                self._value(None)
            else:
                found[key] = self.read(inner)
            if self.torn:
                break
        return found

    def _header(self, read: Callable[[], int]) -> int:
        try:
            return read()
        except (msgpack.OutOfData, ValueError):
            self.torn = Torn(len(self._data), "the data end early")
            return 0

    def _value(self, keep: Callable[[Any], Any] | None) -> Any:
        start = self._unpacker.tell()
        short = keep is not None and start < len(self._data) and self._data[start] in _SHORT
        value: Any = None
        try:
            if short:
                value = self._unpacker.unpack()
            else:
                self._unpacker.skip()
        except msgpack.OutOfData:
            self.torn = Torn(len(self._data), "the data end early")
            return None
        except (ValueError, RecursionError) as error:
            told = str(error) or "values are nested too deeply"
            self.torn = Torn(start, f"this is no msgpack: {told}")
            return None
        if keep is None:
            return None
        try:
            if short:
                self._allowance.take(1)
            elif (end := self._unpacker.tell()) - start > _MOST:
                return None
            else:
                value = self._allowance.unpacked(
                    self._data[start:end], strict_map_key=False, unicode_errors="replace", ext_hook=_nothing
                )
            return keep(value)
        except BatchError as error:
            self.torn = Torn(start, f"what stands here cannot be read: {error}")
            return None
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
            return None


def _nothing(_code: int, _data: bytes) -> None:
    return None


def _scalar(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else None


def _key(value: Any) -> Any:
    """A key; a huge number as text, as of numbers anyone can find many of one hash."""
    return str(value) if isinstance(value, int) and abs(value) >= 2**53 else value


class _Yaml:
    def __init__(self, data: bytes) -> None:
        import yaml

        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self._yaml: Any = yaml
        self._size = len(data)
        self._depth = 0
        self._events: Iterator[Any] = yaml.parse(io.BytesIO(data), Loader=loader)
        self.torn: Torn | None = None

    def read(self, wanted: Wanted) -> Any:
        """The document; what has come of it if it ends within."""
        event = self._next()
        while isinstance(event, self._yaml.StreamStartEvent | self._yaml.DocumentStartEvent):
            event = self._next()
        return self._node(event, wanted)

    def _next(self) -> Any:
        if self.torn:
            return None
        try:
            event = next(self._events, None)
        except (self._yaml.YAMLError, RecursionError, ValueError) as error:
            mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
            problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
            line = f" (line {mark.line + 1:,})" if mark else ""
            self.torn = Torn(min(getattr(mark, "index", self._size), self._size), f"{problem}{line}")
            return None
        if event is None:
            self.torn = Torn(self._size, "the data end early")
            return None
        self._depth += isinstance(event, self._yaml.CollectionStartEvent)
        self._depth -= isinstance(event, self._yaml.CollectionEndEvent)
        if self._depth > _DEPTH:
            # What reads YAML takes time with the square of the depth.
            where = event.start_mark
            self.torn = Torn(where.index, f"values are nested too deeply (line {where.line + 1:,})")
            return None
        if isinstance(event, self._yaml.AliasEvent):
            self.torn = Torn(
                event.start_mark.index,
                f"a reference to another part (line {event.start_mark.line + 1:,}), which Dask never writes",
            )
            return None
        return event

    def _node(self, event: Any, wanted: Wanted | None) -> Any:
        if isinstance(event, self._yaml.MappingStartEvent) and isinstance(wanted, dict):
            found: dict[Any, Any] = {}
            while not isinstance(event := self._next(), self._yaml.MappingEndEvent | None):
                key = _key(_scalar(self._built(event)))
                if self.torn:
                    break
                inner = wanted.get(key, wanted.get(ANY)) if key is not None else None
                value = self._node(self._next(), inner)
                if inner is not None:
                    found[key] = value
            return found
        if isinstance(event, self._yaml.SequenceStartEvent) and isinstance(wanted, list):
            items = []
            while not isinstance(event := self._next(), self._yaml.SequenceEndEvent | None):
                value = self._node(event, wanted[0])
                if not self.torn:
                    items.append(value)
            return items
        if wanted is not None and not callable(wanted):
            wanted = _scalar
        if wanted is None:
            return self._passed(event)
        try:
            value = self._built(event)
            return None if self.torn else wanted(value)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
            return None

    def _passed(self, event: Any) -> None:
        """Pass over a value."""
        depth = 0
        while event is not None:
            if isinstance(event, self._yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, self._yaml.CollectionEndEvent):
                depth -= 1
            if depth == 0:
                return
            event = self._next()

    def _built(self, event: Any, depth: int = _DEPTH) -> Any:
        """A value, whole; nothing of it below a depth."""
        if depth == 0:
            return self._passed(event)
        if isinstance(event, self._yaml.ScalarEvent):
            return _plain(event.value) if event.implicit[0] and not event.style else event.value
        if isinstance(event, self._yaml.SequenceStartEvent):
            items = []
            while not isinstance(event := self._next(), self._yaml.SequenceEndEvent | None):
                items.append(self._built(event, depth - 1))
            return items
        if isinstance(event, self._yaml.MappingStartEvent):
            found: dict[Any, Any] = {}
            while not isinstance(event := self._next(), self._yaml.MappingEndEvent | None):
                key = self._built(event, depth - 1)
                value = self._built(self._next(), depth - 1)
                found[_key(key) if isinstance(key, str | int | float) else str(key)] = value
            return found
        return None


def _plain(text: str) -> Any:
    """What a YAML scalar without quotes stands for."""
    if text in _NULLS:
        return None
    if text in _TRUTHS:
        return _TRUTHS[text]
    if len(text) <= _DIGITS and (text[0].isdigit() or text[0] in "+-."):
        for kind in (int, float):
            try:
                return kind(text.replace(".inf", "inf").replace(".nan", "nan"))
            except ValueError:
                continue
    return text
