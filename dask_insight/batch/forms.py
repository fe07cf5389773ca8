"""Texts that are alike but for the numbers in them, as the keys of tasks are."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from .planes import low_planes, planes, spread, unplanes, unplanes32, unzigzag, width_of, zigzag
from .values import Array, BatchError, Symbols, Texts

#: Fewest rows for which it is worth the while, and most forms as a share of them.
_ROWS = 64
_MOST_FORMS = 0.25
#: Few bytes must not become many texts without end: most bytes of a text, on average, and most bytes of all
#: texts for each that tells of them; beyond so many bytes in all, fewer. The encoder keeps to it too.
_LONGEST, _EXPANSION = 1_000, 64
_MUCH, _MORE = 2**26, 8
#: Most numbers in one text that are taken out of it, and most digits of one.
_SLOTS = 6
_DIGITS = 9
#: Numbers that are objects at a time while texts are filled with them.
_FILLED = 2**16

_IS_DIGIT = np.isin(np.arange(256), list(string.digits.encode()))
#: What makes a digit a part of a word: hashes are not taken apart.
_IS_WORD = np.isin(np.arange(256), [*(string.digits + string.ascii_letters).encode(), *range(128, 256)])

#: Stands for a number in a form; a text that has this byte itself is left as it is.
_NUMBER = 0


def numbered(texts: Texts, group: Symbols | None = None) -> dict[str, Any] | None:
    """Texts as forms and numbers; None where that would not be shorter.

    ``forms`` are lists of pieces between which the numbers of a row stand;
    ``data`` says the form of each row, as `width` planes. With a group of the
    rows it is a place in the list that ``within`` has for the row's group.
    ``numbers`` are one column for each place in a form: differences from the
    row above, or with ``alike`` from the row above of the same form, from 0 at
    first, zigzag, as planes.
    """
    rows = len(texts.offsets) - 1
    start, end = int(texts.offsets[0]), int(texts.offsets[-1])
    data = np.frombuffer(texts.data, "u1", end - start, start)
    if rows < _ROWS or not 0 < len(data) < _LONGEST * rows or (data == _NUMBER).any():
        return None
    offsets = (texts.offsets - start).astype("i8")
    first, last = _numbers(data, offsets)
    row = np.searchsorted(offsets, first, "right") - 1
    place = np.arange(len(first)) - np.searchsorted(row, np.arange(rows))[row]
    taken = place < _SLOTS
    first, last, row, place = first[taken], last[taken], row[taken], place[taken]
    values = _values(data, first, last)

    kept = np.ones(len(data), bool)
    length = last - first
    inside = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
    kept[np.repeat(first, length) + inside] = False
    data = data.copy()
    data[first], kept[first] = _NUMBER, True
    ends = np.concatenate(([0], np.cumsum(kept)))[offsets]
    form, of = _alike(data[kept], ends)
    if form is None or len(form) > _MOST_FORMS * rows:
        return None

    order = np.argsort(of, kind="stable")
    counts = np.array([text.count(_NUMBER) for text in form])
    numbers = []
    for slot in range(int(counts.max(initial=0))):
        column = np.zeros(rows, "u4")
        here = place == slot
        column[row[here]] = values[here]
        numbers.append(_steps(column, of, order))
    told: dict[str, Any] = {
        "forms": [[str(each, "utf-8", "replace") for each in text.split(b"\0")] for text in form]
    }
    codes = of
    if group is not None:
        codes, within = _places(of, group.codes)
        told["within"] = within
    width = width_of(int(codes.max(initial=0)))
    told |= {"width": width, "data": planes(codes.astype(f"<u{width}")), "numbers": numbers}
    return told if end - start <= _allowed(told) else None


def _allowed(told: Mapping[str, Any]) -> int:
    """Most bytes of the texts that a column may tell of."""
    forms = sum(len(str(piece).encode()) for form in told["forms"] for piece in form)
    size = forms + len(told["data"]) + sum(len(each["data"]) for each in told["numbers"])
    return min(_EXPANSION * size, _MUCH + _MORE * size)


def _steps(column: Array, of: Array, order: Array) -> dict[str, Any]:
    """Numbers as differences, from whichever row makes them smaller."""
    from_above = np.diff(column, prepend=np.uint32(0))
    sorted_ = np.diff(column[order], prepend=np.uint32(0))
    starts = np.concatenate(([True], np.diff(of[order]) != 0))
    sorted_[starts] = column[order][starts]
    alike = np.empty_like(sorted_)
    alike[order] = sorted_
    one, other = zigzag(from_above), zigzag(alike)
    if spread(one.astype("f8")) <= spread(other.astype("f8")):
        return _short(one)
    return _short(other) | {"alike": True}


def _places(of: Array, group: Array) -> tuple[Array, list[list[int]]]:
    """Each row's place in the list of forms of its group, and the lists."""
    wide = int(of.max(initial=0)) + 1
    pairs, back = np.unique(group.astype("i8") * wide + of, return_inverse=True)
    owner = pairs // wide
    first = np.searchsorted(owner, np.arange(int(group.max(initial=0)) + 2))
    within = [(pairs[a:b] % wide).tolist() for a, b in pairwise(first.tolist())]
    return (np.arange(len(pairs)) - first[owner])[back], within


def _numbers(data: Array, offsets: Array) -> tuple[Array, Array]:
    """Where the numbers begin and end that stand by themselves and have no needless zeros."""
    digit = _IS_DIGIT[data]
    word = _IS_WORD[data]
    at_start = np.zeros(len(data) + 1, bool)
    at_start[offsets] = True
    before = np.concatenate(([False], word[:-1])) & ~at_start[:-1]
    after = np.concatenate((word[1:], [False])) & ~at_start[1:]
    firsts = np.flatnonzero(digit & ~before)
    # A number ends at the next byte that is no digit, or that is another text's.
    ends = np.flatnonzero(~digit | at_start[:-1])
    lasts = np.append(ends, len(data))[np.searchsorted(ends, firsts + 1)]
    length = lasts - firsts
    alone = ~after[lasts - 1] & (length <= _DIGITS) & ((data[firsts] != ord("0")) | (length == 1))
    return firsts[alone], lasts[alone]


def _values(data: Array, first: Array, last: Array) -> Array:
    values = np.zeros(len(first), "u4")
    for digit in range(_DIGITS):
        there = first + digit < last
        values[there] = values[there] * np.uint32(10) + (data[first[there] + digit] - ord("0"))
    return values


def _alike(data: Array, offsets: Array) -> tuple[list[bytes] | None, Array]:
    """The different texts, and which of them each row is; no texts where that cannot be told."""
    random = np.random.default_rng(1)
    length = np.diff(offsets)
    worth = random.integers(0, 2**64, 256, "u8")
    place = random.integers(0, 2**64, int(length.max(initial=0)) + 1, "u8") | np.uint64(1)
    within = np.arange(len(data)) - np.repeat(offsets[:-1], length)
    sums = np.concatenate((np.zeros(1, "u8"), np.cumsum(worth[data] * place[within])))
    hashes = np.diff(sums[offsets]) + place[length] * np.uint64(3)
    _, example, of = np.unique(hashes, return_index=True, return_inverse=True)
    # In the order in which they are met.
    rank = np.empty(len(example), "i8")
    rank[np.argsort(example, kind="stable")] = np.arange(len(example))
    of, example = rank[of], np.sort(example)
    same = np.repeat(offsets[example][of], length) + within
    if (length[example][of] != length).any() or (data[same] != data).any():
        return None, of
    return [data[offsets[each] : offsets[each + 1]].tobytes() for each in example.tolist()], of


def _short(codes: Array) -> dict[str, Any]:
    kept, data = low_planes(codes)
    return {"planes": kept, "data": data}


def texts_of(column: Mapping[str, Any], rows: int, group: Symbols | None = None) -> Texts:
    """The reverse of `numbered`.

    Raises
    ------
    BatchError
        If the column makes no sense.
    """
    forms = [[str(piece).encode() for piece in form] for form in column["forms"]]
    of = unplanes(column["data"], f"<u{int(column['width'])}", rows).astype("i8")
    if (within := column.get("within")) is not None:
        if group is None:
            raise BatchError(f"column {column['name']} refers to a group that is not there")
        of = np.array([within[g][at] for g, at in zip(group.codes.tolist(), of.tolist(), strict=True)], "i8")
    if rows and not 0 <= int(of.min()) <= int(of.max()) < len(forms):
        raise BatchError(f"column {column['name']}: a code without a form")
    lengths = np.array([sum(map(len, form)) for form in forms], "i8")
    if rows and int(lengths[of].sum()) > min(_LONGEST * rows, _allowed(column)):
        raise BatchError(f"column {column['name']}: forms that are too long")
    slots = max(map(len, forms), default=1) - 1
    if not all(forms) or len(column["numbers"]) != slots:
        raise BatchError(f"column {column['name']}: forms that have not as many numbers")
    numbers = [_column(each, of, rows) for each in column["numbers"]]
    return Texts.joined(list(_filled(forms, of, numbers)))


def _filled(forms: list[list[bytes]], of: Array, numbers: list[Array]) -> Iterator[bytes]:
    """The text of each row; of the numbers few at a time are objects."""
    step = max(1, _FILLED // max(1, len(numbers)))
    for start in range(0, len(of), step):
        rows = slice(start, start + step)
        some = [column[rows].tolist() for column in numbers]
        for row, each in enumerate(of[rows].tolist()):
            yield b"".join(_told(forms[each], some, row))


def _column(number: Mapping[str, Any], of: Array, rows: int) -> Array:
    steps = unzigzag(unplanes32(number["data"], number["planes"], rows))
    if not number.get("alike"):
        return np.cumsum(steps, dtype="u4")
    order = np.argsort(of, kind="stable")
    sums = np.cumsum(steps[order], dtype="u4")
    first = np.flatnonzero(np.concatenate((np.ones(min(rows, 1), bool), np.diff(of[order]) != 0)))
    before = np.concatenate((np.zeros(1, "u4"), sums))[first]
    values = np.empty(rows, "u4")
    values[order] = sums - np.repeat(before, np.diff(np.append(first, rows)))
    return values


def _told(form: list[bytes], numbers: list[list[int]], row: int) -> list[bytes]:
    parts = [form[0]]
    for column, piece in zip(numbers, form[1:], strict=False):
        parts += (b"%d" % column[row], piece)
    return parts
