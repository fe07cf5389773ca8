"""Advice on Dask's collections, cut down to those that ran."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .facts import Facts

#: What advice calls a collection, by the part of Dask that it is of.
_CALLED = {"array": "x", "dataframe": "df", "bag": "bag"}
_OF_DASK = re.compile(rf"[\\/]dask[\\/]({'|'.join(_CALLED)})[\\/]")
#: Types of results that are chunks of arrays, and partitions of dataframes.
_PARTS = (("x", re.compile(r"(?:numpy|cupy)\.ndarray$")), ("df", re.compile(r"(?:pandas|cudf)\.")))
#: A statement that makes another one of a collection, which is of no use without such a collection.
_STATEMENT = re.compile(rf"({'|'.join(_CALLED.values())}) = \1\b")


def collections(facts: Facts) -> frozenset[str]:
    """What advice calls the collections that ran, as far as functions and results tell."""
    files, types = facts.read("functions")["file"].names, facts.read("attempts")["typename"].names
    of_dask = {_CALLED[found[1]] for each in files if (found := _OF_DASK.search(each))}
    return frozenset(of_dask | {name for name, part in _PARTS if any(map(part.match, types))})


def fitting(advice: str, used: frozenset[str]) -> str:
    """Advice without statements on other collections than are used; as it is where none is known."""
    if not used:
        return advice
    return "\n\n".join(_paragraph(each, used) for each in advice.split("\n\n"))


def _paragraph(text: str, used: frozenset[str]) -> str:
    lines = [_line(each, used) for each in text.split("\n")]
    told = [each for each in lines if each is not None]
    # Nothing but a comment is no code.
    return "\n".join(told) if any(each.strip()[:1] not in ("", "#") for each in told) else text


def _line(line: str, used: frozenset[str]) -> str | None:
    if not line.startswith("    "):
        return line
    code, sign, comment = line.partition("#")
    statements = code.strip().split("; ")
    fit = [each for each in statements if not (found := _STATEMENT.match(each)) or found[1] in used]
    if len(fit) == len(statements):
        return line
    return f"    {'; '.join(fit)}" + (f"   #{comment}" if sign else "") if fit else None
