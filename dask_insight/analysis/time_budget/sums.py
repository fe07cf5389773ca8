"""The time budget, summed as somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import words
from ...arguments import summed_by
from ...lookup import Lookup, distinct, pick
from ...tables.facts import part_of_run, recorded
from ...tables.spans import paths_of
from ...timeline import Moments, Read, standstills
from .budget import Budget, budget
from .clusters import clusters
from .parts import Pieces, kind_of
from .subjects import Subjects, subjects

if TYPE_CHECKING:
    import pandas as pd

#: What it can be summed by.
BY = ("function", "worker", "cluster", "span", "cell", "line", "submission", "time")


def time_budget(
    read: Read,
    zero: float,
    *,
    start: float,
    stop: float,
    by: str | Sequence[str] | None,
    every: float | None,
) -> pd.DataFrame:
    """The table of `Recording.time_budget`; `start` and `stop` in seconds since `zero`."""
    import pandas as pd

    wanted = [] if by is None else summed_by(by, BY)
    if stop < start:
        raise ValueError(f"stop={stop:g} is before start={start:g}")
    if every is not None and not every > 0:
        raise ValueError(f"every={every:g} is no length of time")
    if every is not None and "time" not in wanted:
        raise ValueError("every= is the length of a bin: leave it out, or give by='time' too")
    width = np.inf
    if "time" in wanted:
        width = every or _width(read, zero, start, stop)
    found = budget(read, zero + start, zero + stop, width)
    about = subjects(read, found.attempts.described, found.pieces)
    keys = [_key(read, found, about, name, width) for name in wanted]
    counts = [len(each.lane) for each in found.pieces]
    part = _Key(
        "part",
        np.arange(len(found.parts)),
        np.repeat(np.array([each.part for each in found.pieces], "i8"), counts),
    )
    codes, seconds = _summed([*keys, part], _all(found, lambda each: each.seconds))
    columns: dict[str, Any] = {}
    for key, places in zip(keys, codes[:-1], strict=True):
        values = key.values[places]
        if values.dtype.kind == "u":
            values = values.astype("i8")
        if key.name == "time":
            values = values + (found.start - zero)
        columns[key.name] = pd.Categorical(values) if values.dtype == object else values
        if key.name == "span":
            columns["path"] = pd.Categorical(paths_of(read, values.tolist()))
    parts = np.array(found.parts, object)
    columns["kind"] = pd.Categorical(
        np.array([kind_of(name) for name in found.parts], object)[codes[-1]],
        ["computing", "overhead", "idle"],
    )
    columns["part"] = pd.Categorical(parts[codes[-1]], found.parts)
    columns["seconds"] = seconds
    whole = float(seconds.sum())
    columns["share"] = seconds / whole if whole > 0 else seconds
    table = pd.DataFrame(columns)
    if "time" not in wanted:
        table = table.sort_values("seconds", ascending=False, kind="stable", ignore_index=True)
    still = standstills(read).both(Moments.of(np.array([found.start]), np.array([found.stop])))
    awake = found.stop - found.start - still.seconds
    table.attrs.update(
        still=still.seconds,
        served=found.served.without(still).seconds,
        start=found.start - zero,
        stop=found.stop - zero,
        thread_seconds=whole,
        threads=whole / awake if awake > 0 else 0.0,
    )
    return table


def _width(read: Read, zero: float, start: float, stop: float) -> float:
    """A round length that cuts the range into about a hundred bins."""
    ended, running = read("attempts"), read("running")
    moments = (ended["submitted"], ended["start"], ended["stop"], ended["done"], running["start"])
    first = min(float(np.nanmin(each, initial=np.inf)) for each in moments)
    last = max(float(np.nanmax(each, initial=-np.inf)) for each in moments)
    if not np.isin(running["run"], ended["run"]).all():
        last = recorded(read)[1]
    since, until = part_of_run(read)
    begin = start if np.isfinite(start) else max(first, since) - zero
    end = stop if np.isfinite(stop) else min(last, until) - zero
    rough = max((end - begin) / 100, 1e-3) if 0 < end - begin < np.inf else 1.0
    return words.round_up(float(rough))


class _Key(NamedTuple):
    """Something to sum by: its values, and the place of each piece's value among them."""

    name: str
    values: np.ndarray
    places: np.ndarray


def _all(found: Budget, of: Callable[[Pieces], np.ndarray]) -> np.ndarray:
    """Something of all pieces."""
    return np.concatenate([np.zeros(0, "i4"), *map(of, found.pieces)])


def _key(read: Read, found: Budget, about: Subjects, name: str, width: float) -> _Key:
    if name == "time":
        middle = _all(found, lambda each: (each.start + each.stop) / 2)
        number = np.floor((middle - found.start) / width).astype("i8")
        # What rounding leaves beyond the last bin belongs to it.
        bins = max(1, int(np.ceil((found.stop - found.start) / width - 1e-4)))
        number = np.clip(number, 0, bins - 1)
        # Pieces may lie far from the range's start.
        there, places = np.unique(number, return_inverse=True)
        return _Key(name, there * width, places)
    if name == "worker":
        names = np.array([*found.lanes.workers, ""], object)[:-1]
        return _Key(name, names, _all(found, lambda each: found.lanes.worker[each.lane]))
    if name == "cluster":
        of = clusters(read, found.attempts, found.lanes)
        names, place = np.unique(np.array([*of.names, ""], object), return_inverse=True)
        cluster = place.reshape(-1)[of.worker[found.lanes.worker]]
        return _Key(name, names, _all(found, lambda each: cluster[each.lane]))
    submissions = read("submissions")
    rows = Lookup(submissions["submission"]).rows(about.submission)
    if name == "function":
        values = np.array([*about.function, ""], object)[:-1]
    elif name == "span":
        values = np.array([*about.span, ""], object)[:-1]
    elif name == "submission":
        values = about.submission
    elif name == "cell":
        values = pick(submissions["execution"], rows)
    else:
        file, line = pick(submissions["file"], rows), pick(submissions["line"], rows)
        told = zip(file.tolist(), line.tolist(), strict=True)
        values = np.array([*(f"{where}:{number}" if where else "" for where, number in told), ""], object)[
            :-1
        ]
    known, place = np.unique(values, return_inverse=True)
    return _Key(name, known, _all(found, lambda each: place.reshape(-1)[about.of(each)]))


def _summed(keys: list[_Key], seconds: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """Places of each key, and their sums, for the combinations that there are."""
    code, width = np.zeros(len(seconds), "i8"), 1
    for key in keys:
        size = max(1, len(key.values))
        if width * size >= 1 << 62:
            known, code = distinct(code, width)
            width = len(known)
        code, width = code * size + key.places, width * size
    known, place = distinct(code, width)
    sums = np.bincount(place, seconds, len(known)).astype("f8")
    first = np.empty(len(known), "i8")
    first[place[::-1]] = np.arange(len(place))[::-1]
    taken = np.flatnonzero(sums)
    return [key.places[first[taken]] for key in keys], sums[taken]
