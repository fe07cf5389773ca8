"""The document inside an HTML page that Bokeh wrote: its data sources and texts, of Bokeh 2 and 3.

Nothing of the page is run: the JSON text of its document is parsed, and searched for what holds data.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...frames import RecordingError

_SCRIPT = re.compile(rb"<script\b[^>]*?\btype=[\"']application/json[\"']")
#: Most bytes of the tag that opens a script.
_LONGEST_TAG = 1_100
#: Values of a document, counted by the signs between them; and those of its packed arrays.
_MOST_VALUES = 20_000_000
_KINDS = {
    "bool",
    "float32",
    "float64",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}
_GZIP = b"\x1f\x8b"
_ENTITIES = ((b"&lt;", b"<"), (b"&gt;", b">"), (b"&quot;", b'"'), (b"&#39;", b"'"), (b"&#x27;", b"'"))
_SPECIAL = {"nan": float("nan"), "+inf": float("inf"), "-inf": float("-inf")}

Columns = dict[str, list[Any]]
#: Gives the values of a list or an array, None of anything else.
_Unpack = Callable[[Any], list[Any] | None]


class Found(NamedTuple):
    """A data source, or a text, and the title of the tab that it stands in."""

    tab: str
    columns: Columns
    text: str


def documents(page: bytes, path: Path) -> Iterator[Any]:
    """The JSON values of a page's scripts that hold such.

    Raises
    ------
    RecordingError
        If one is damaged, or far too large; the message says at which byte.
    """
    at = 0
    while (begin := _begin_of_data(page, at)) >= 0:
        at = page.find(b"</script", begin)
        if at < 0:
            raise RecordingError(
                f"{path} is damaged at byte {len(page):,}: it ends within the data that begin at byte "
                f"{begin:,}"
            )
        text = page[begin:at]
        if b"&" in text:
            for entity, sign in _ENTITIES:
                text = text.replace(entity, sign)
            text = text.replace(b"&amp;", b"&")
        if text.count(b",") + text.count(b"[") + text.count(b"{") > _MOST_VALUES:
            raise RecordingError(f"{path} holds more than {_MOST_VALUES:,} values, the most that can be read")
        try:
            yield json.loads(text)
        except (ValueError, RecursionError) as error:
            why = "values are nested too deeply" if isinstance(error, RecursionError) else str(error)
            place = f"{path} is damaged in the data that begin at byte {begin:,}"
            raise RecordingError(f"{place}: {why}") from None


def _begin_of_data(page: bytes, at: int) -> int:
    """Where the JSON text of the next script begins that holds such; -1 if there is none."""
    while (at := page.find(b"<script", at)) >= 0 and (end := page.find(b">", at)) >= 0:
        if end - at > _LONGEST_TAG:
            at = max(at + 1, end - _LONGEST_TAG)
            continue
        if _SCRIPT.match(page, at, end):
            return end + 1
        at = end
    return -1


def found(document: Any, path: Path, arrays: Arrays) -> Iterator[Found]:
    """What holds data in a document, in the order of its tabs.

    Parameters
    ----------
    path
        The page, for messages.
    arrays
        What unpacks its arrays, and those of all others that are kept beside it.

    Raises
    ------
    RecordingError
        If its arrays unpack to far too much.
    """
    values_of = partial(arrays.values, path)
    models: dict[str, Any] = {}
    _each(document, lambda value: _note_model(value, models))
    roots = [value["roots"] for value in _dicts(document) if isinstance(value.get("roots"), dict | list)]
    seen: set[str] = set()
    for root in roots or [document]:
        ids = root.get("root_ids") if isinstance(root, dict) else None
        start = [{"id": each} for each in ids] if isinstance(ids, list) else root
        yield from _walk(start, models, seen, values_of)


def _dicts(document: Any) -> list[dict[str, Any]]:
    """A document may stand under its id."""
    values = [document, *document.values()] if isinstance(document, dict) else []
    return [value for value in values if isinstance(value, dict)]


def _note_model(value: dict[str, Any], models: dict[str, Any]) -> None:
    if "attributes" in value and isinstance(value.get("id"), str):
        models.setdefault(value["id"], value)


def _each(document: Any, tell: Callable[[dict[str, Any]], None]) -> None:
    """Every object in a document, however deep."""
    todo = [document]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            tell(value)
            todo += [each for each in value.values() if isinstance(each, dict | list)]
        elif isinstance(value, list):
            todo += [each for each in value if isinstance(each, dict | list)]


def _walk(start: Any, models: dict[str, Any], seen: set[str], values_of: _Unpack) -> Iterator[Found]:
    todo: list[tuple[Any, str]] = [(start, "")]
    while todo:
        value, tab = todo.pop()
        if isinstance(value, list):
            todo += [(each, tab) for each in reversed(value) if isinstance(each, dict | list)]
            continue
        if not isinstance(value, dict):
            continue
        name = value.get("id")
        if isinstance(name, str):
            value = models.get(name, value)
            if name in seen:
                continue
            seen.add(name)
        inside = value.get("attributes", value)
        if not isinstance(inside, dict):
            continue
        if isinstance(inside.get("title"), str) and "child" in inside:
            tab = inside["title"]
        if isinstance(inside.get("text"), str):
            yield Found(tab, {}, inside["text"])
        if (columns := _columns(inside.get("data"), values_of)) is not None:
            yield Found(tab, columns, "")
            continue
        todo += [(each, tab) for each in reversed(inside.values()) if isinstance(each, dict | list)]


def _columns(data: Any, values_of: _Unpack) -> Columns | None:
    """Columns of a data source, all of one length; None if this is none."""
    if not isinstance(data, dict):
        return None
    pairs = data.get("entries") if data.get("type") == "map" else list(data.items())
    if not isinstance(pairs, list):
        return None
    columns: Columns = {}
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            return None
        values = values_of(pair[1])
        if values is None:
            return None
        columns[pair[0]] = values
    rows = min(map(len, columns.values()), default=0)
    return {name: values[:rows] for name, values in columns.items()}


class Arrays:
    """Columns, unpacked; all arrays of all documents together hold no more than one document may."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def values(self, path: Path, told: Any) -> list[Any] | None:
        """The values of a list or an array of a page; None if this is neither.

        Raises
        ------
        RecordingError
            If it unpacks to more than is left.
        """
        if isinstance(told, list):
            return [_plain(each) if isinstance(each, dict) else each for each in told]
        if not isinstance(told, dict):
            return None
        packed, kind = told.get("__ndarray__"), told.get("dtype")
        if packed is None and told.get("type") == "ndarray":
            packed = told.get("array")
            if isinstance(packed, list):
                return self.values(path, packed)
            packed = packed.get("data") if isinstance(packed, dict) else None
        if not isinstance(packed, str) or not isinstance(kind, str) or kind not in _KINDS:
            return None
        number = np.dtype(kind).newbyteorder(">" if told.get("order") == "big" else "<")
        most = self._left * number.itemsize
        try:
            raw = _unpacked(base64.b64decode(packed, validate=True), most)
        except (binascii.Error, ValueError, zlib.error):
            return None
        if len(raw) > most:
            raise RecordingError(
                f"{path} holds arrays of more than {_MOST_VALUES:,} values, the most that can be read"
            )
        if len(raw) % number.itemsize:
            return None
        array = np.frombuffer(raw, number)
        self._left -= len(array)
        found: list[Any] = array.tolist()
        return found


def _unpacked(data: bytes, most: int) -> bytes:
    """Bokeh 3.7 and later pack arrays; of one value again and again nothing much is left.

    What unpacks to more than so many bytes is cut off after one more.
    """
    if not data.startswith(_GZIP):
        return data
    unpacker = zlib.decompressobj(wbits=31)
    raw = unpacker.decompress(data, most + 1)
    if len(raw) <= most and not unpacker.eof:
        raise ValueError("it ends early")
    return raw


def _plain(told: dict[str, Any]) -> Any:
    """A number that JSON has no sign for."""
    value = told.get("value")
    return _SPECIAL.get(value) if isinstance(value, str) else None
