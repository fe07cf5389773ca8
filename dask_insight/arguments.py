"""What people pass: read where it is plain what is meant, else refused in words that name the cure."""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .batch import Texts

Read = Callable[[str], Mapping[str, Any]]

#: Processes that any recording may tell of, beside its workers.
_PROCESSES = ("scheduler", "client")
#: How the address of another place begins; one letter is a drive of Windows.
_URL = r"[A-Za-z][A-Za-z0-9+.-]+://"
#: Where the names of workers and other processes stand.
_NAMED = (("attempts", "worker"), ("resources", "process"), ("memory", "worker"), ("samples", "process"))


def local_path(path: Any) -> str:
    """A path of a file on this machine, with the folder that ``~`` stands for.

    Raises
    ------
    TypeError, ValueError
        If it is no path, or the URL of another place.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{path!r} is no path: give a str or a pathlib.Path")
    if isinstance(path, str) and re.search(_URL, path):
        raise ValueError(f"{path} is a URL: name a file here, and copy it from or to there, as with fsspec")
    return os.path.expanduser(os.fspath(path))


def number(name: str, value: Any, meaning: str) -> Any:
    """A number, of Python's own kinds.

    Raises
    ------
    TypeError, ValueError
        If it is none, or too large.
    """
    if not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} is no number; give {meaning}")
    try:
        real = float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large a number; give {meaning}") from None
    return int(value) if isinstance(value, Integral) else real


def whole(name: str, value: Any, least: int | None = None) -> int:
    """A whole number.

    Raises
    ------
    TypeError, ValueError
        If it is no number, not whole, or less than `least`.
    """
    if number(name, value, "a whole one, as 2") % 1 != 0:
        raise ValueError(f"{name}={value!r} must be a whole number")
    if least is not None and value < least:
        raise ValueError(f"{name}={value!r} must be {least} or more")
    return int(value)


def flag(name: str, value: Any) -> bool:
    """True or False.

    Raises
    ------
    TypeError
        If it is neither.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name}={value!r} must be True or False")
    return value


def text(name: str, value: Any, meaning: str) -> str:
    """A text.

    Raises
    ------
    TypeError
        If it is none.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name}={value!r} is no text; give {meaning}")
    return value


def seconds(name: str, value: Any) -> float:
    """A duration in Dask's way, ``"200ms"`` or ``"1s"``, or a number of seconds.

    Raises
    ------
    ValueError
        If it cannot be read, or is not above zero.
    """
    from dask.utils import parse_timedelta

    # Dask would read ".5s" as 1.5 s, and knows minutes as "m" alone, which the command writes "min".
    given = re.sub(r"(?i)min\s*$", "m", re.sub(r"^\s*\.", "0.", value)) if isinstance(value, str) else value
    try:
        found = float(parse_timedelta(given))
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{name}={value!r} is no duration; write for example '200ms' or 0.2") from error
    if not found > 0:
        raise ValueError(f"{name}={value!r} must be longer than nothing")
    return found


def between(start: Any, stop: Any) -> tuple[float, float]:
    """Two moments, seconds; None leaves an end open.

    Raises
    ------
    TypeError, ValueError
        If one is no number, or `stop` is before `start`.
    """
    meaning = "seconds since the recording began, of a timestamp `when.timestamp() - run.started`"
    begin = -math.inf if start is None else number("start", start, meaning)
    end = math.inf if stop is None else number("stop", stop, meaning)
    if not end >= begin:
        raise ValueError(f"stop={end:g} is before start={begin:g}")
    return begin, end


def numbers(name: str, value: Any, example: str) -> dict[str, float] | None:
    """Names and a number for each, or None.

    Raises
    ------
    TypeError, ValueError
        If it is something else, or a number is too large.
    """
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise TypeError(f"{name}={value!r} must give a number for each name, as {example}")
    return {
        text("a name", each, example): number(f"{name}[{each!r}]", amount, example)
        for each, amount in value.items()
    }


def listed(given: Any) -> list[str]:
    """One name or several, as in a list, an array or a Series."""
    several = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    return [str(each) for each in given] if several else [str(given)]


#: The words for a task's name; Dask's own is prefix.
TASK_NAME = ("function", "prefix", "name")


def summed_by(given: Any, there: Collection[str]) -> list[str]:
    """What to sum by, in the words of who is asked: each word for a task's name stands for the one it has.

    Raises
    ------
    ValueError
        If it cannot be summed by one of them; the message lists those that it can.
    """
    own = next((name for name in there if name in TASK_NAME), None)
    names = [own if own and name in TASK_NAME else name for name in listed(given)]
    if unknown := [name for name in names if name not in there]:
        raise ValueError(f"by={unknown[0]!r} is none of {', '.join(there)}")
    return list(dict.fromkeys(names))


def summed_by_one(given: Any, there: Collection[str]) -> str:
    """The same for what can be summed by one word only.

    Raises
    ------
    ValueError
        If it is none of them, or several; the message lists them.
    """
    names = summed_by(given, there)
    if len(names) != 1:
        raise ValueError(f"by={given!r} must be one of {', '.join(there)}")
    return names[0]


def known(name: str, names: Collection[str], what: str) -> str:
    """A name that is among those there are.

    Raises
    ------
    ValueError
        If it is not; the message lists those that are near.
    """
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, 3) or sorted(names)[:8]
    told = f"; there are {', '.join(map(repr, near))}" if near else ""
    raise ValueError(f"no {what} {name!r} in this recording{told}")


def known_prefixes(read: Read, wanted: Any) -> list[str]:
    """Task names, one or several.

    Raises
    ------
    ValueError
        If one is not in the recording.
    """
    names = read("graph")["prefix"].names
    return [known(each, names, "task name") for each in listed(wanted)]


def known_key(read: Read, wanted: Any) -> str:
    """The key of a task, which Dask may have as a tuple.

    Raises
    ------
    ValueError
        If it is not in the recording.
    """
    keys: Texts = read("graph")["key"]
    if not len(keys.rows_of(str(wanted))):
        raise ValueError(f"no task {str(wanted)!r} in this recording; `tasks['key']` has those there are")
    return str(wanted)


def known_run(read: Read, wanted: Any) -> int:
    """The id of an attempt.

    Raises
    ------
    TypeError, ValueError
        If it is no whole number, or not in the recording.
    """
    run = whole("run", wanted)
    if not any((read(table)["run"] == run).any() for table in ("attempts", "running")):
        raise ValueError(f"no attempt {run} in this recording; `tasks['run']` has those there are")
    return run


def known_processes(read: Read, wanted: Any) -> list[str]:
    """Workers, by name or address, and other processes: as the recording names them.

    Raises
    ------
    ValueError
        If one is not in the recording.
    """
    titles = titles_of(read)
    there = dict.fromkeys((*titles, *_named(read), *_PROCESSES))
    found: list[str] = []
    for each in listed(wanted):
        matching = [one for one in there if each in (one, titles.get(one))]
        found += matching or [known(each, [*there, *titles.values()], "worker")]
    return found


def titles_of(read: Read) -> dict[str, str]:
    """How each worker is called, by its address."""
    table = read("workers")
    named = dict(zip(table["worker"].tolist(), table["name"].tolist(), strict=True))
    return {worker: name or worker for worker, name in named.items()}


def _named(read: Read) -> Iterable[str]:
    return (name for table, column in _NAMED for name in read(table)[column].names if name)
