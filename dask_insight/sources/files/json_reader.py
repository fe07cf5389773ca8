"""JSON read piece by piece: a file may be larger than memory, and where it is wrong is known to the byte."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...frames import Gap, RecordingError
from .opened import Source

_BLANK = re.compile(r"[ \t\n\r]*")
_COMMA = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
#: Characters before the end of what has been read in which a value may go on.
_NEAR = 64
#: Longest single value, characters.
_MOST = 16 * 2**20
#: Values within values that are skipped; deeper ones are read and dropped.
_DEPTH = 32


class JsonError(RecordingError):
    """This is no JSON, from this byte on.

    Attributes
    ----------
    offset
        The byte, of the unpacked file.
    reason
        What is wrong there.
    at_end
        Whether the file ended, so that what came before may be whole.
    """

    def __init__(self, path: object, offset: int, reason: str, at_end: bool) -> None:
        super().__init__(f"{path} is damaged at byte {offset:,}: {reason}")
        self.offset = offset
        self.reason = reason
        self.at_end = at_end

    def gap(self, source: Source) -> Gap:
        """What could not be read of a file; of a compressed one nobody knows how much that is."""
        size = 0 if source.packed else source.path.stat().st_size
        return Gap(self.offset, max(0, size - self.offset), self.reason)


class JsonReader:
    """Walks through a JSON text from its beginning to its end.

    `fields` and `items` go through an object and a list; for each key and item
    the caller reads exactly one value: by `value`, `values`, `skip`, or by
    `fields` or `items` again.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._raw = json.JSONDecoder().raw_decode
        self._text = ""
        self._at = 0
        #: Bytes before `_text`.
        self._before = 0
        self._ended = False
        if self.peek() == "\N{ZERO WIDTH NO-BREAK SPACE}":
            self._at += 1

    @property
    def path(self) -> Path:
        """The file."""
        return self._source.path

    @property
    def offset(self) -> int:
        """The byte at which it stands."""
        return self._before + _size(self._text[: self._at])

    def peek(self) -> str:
        """The next character that is no blank; '' at the end."""
        while True:
            match = _BLANK.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def value(self) -> Any:
        """The next value, whole.

        Raises
        ------
        JsonError
            If there is none, or one that is too large or nested too deeply.
        """
        self.peek()
        while True:
            try:
                found, end = self._raw(self._text, self._at)
            except RecursionError:
                raise self._error("values are nested too deeply") from None
            except ValueError as error:
                if self._more():
                    continue
                place = getattr(error, "pos", self._at)
                raise self._error(getattr(error, "msg", str(error)), place) from None
            length = end - self._at
            # A number at the end of what has been read may go on.
            if len(self._text) - end < _NEAR and self._more():
                continue
            self._at += length
            return found

    def values(self) -> Iterator[Any]:
        """The values of a list, one after another."""
        self._take("[")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            while len(self._text) - self._at > _NEAR:
                try:
                    found, end = self._raw(self._text, self._at)
                except (ValueError, RecursionError):
                    break
                comma = _COMMA.match(self._text, end)
                if comma is None or len(self._text) - comma.end() < _NEAR:
                    break
                self._at = comma.end()
                yield found
            yield self.value()
            if self.peek() == "]":
                break
            self._take(",")
            if self.peek() == "]":
                break
        self._at += 1

    def items(self) -> Iterator[int]:
        """The places of a list; the caller reads each one's value."""
        self._take("[")
        number = 0
        while self.peek() != "]":
            if number:
                self._take(",")
                if self.peek() == "]":
                    break
            yield number
            number += 1
        self._at += 1

    def fields(self) -> Iterator[str]:
        """The keys of an object; the caller reads each one's value."""
        self._take("{")
        first = True
        while self.peek() != "}":
            if not first:
                self._take(",")
                if self.peek() == "}":
                    break
            first = False
            if self.peek() != '"':
                raise self._error("a key was expected")
            key = self.value()
            self._take(":")
            yield key
        self._at += 1

    def skip(self, depth: int = 0) -> None:
        """Pass over the next value, however large."""
        found = self.peek()
        if depth >= _DEPTH or found not in ("[", "{"):
            self.value()
        elif found == "[":
            for _ in self.items():
                self.skip(depth + 1)
        else:
            for _ in self.fields():
                self.skip(depth + 1)

    def _take(self, sign: str) -> None:
        if self.peek() != sign:
            raise self._error(f"{sign!r} was expected")
        self._at += 1

    def _more(self) -> bool:
        """Read on, so that twice as much waits; False at the end."""
        if self._ended:
            return False
        waiting = len(self._text) - self._at
        if waiting > _MOST:
            raise self._error(f"a value is longer than {_MOST >> 20} MiB")
        self._before += _size(self._text[: self._at])
        parts = [self._text[self._at :]]
        wanted = max(1, waiting)
        while wanted > 0 and not self._ended:
            piece = self._source.read()
            self._ended = not piece
            text = self._decoder.decode(piece, self._ended)
            parts.append(text)
            wanted -= len(text)
        self._text, self._at = "".join(parts), 0
        return len(self._text) > waiting

    def _error(self, reason: str, place: int | None = None) -> JsonError:
        at = self._at if place is None else place
        at_end = self._ended and not self._text[self._at :].strip()
        if at_end:
            reason = self._source.torn or "the file ends here"
        offset = self._before + _size(self._text[:at])
        return JsonError(self._source.path, offset, reason, self._ended and (at_end or at >= len(self._text)))


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))
