"""Call stacks in which Python is called for each row of a frame, value of a column or line of an array."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum, auto
from typing import Any, NamedTuple

import numpy as np

from ..lookup import Lookup, by_name, is_any
from .stacks import parents, plumbing


class Loop(IntEnum):
    """What Python is called for."""

    NONE = 0
    ROWS = auto()
    VALUES = auto()
    LINES = auto()


class _Of(IntEnum):
    """Whose a frame is."""

    OWN = 0
    PANDAS = auto()
    #: The part of pandas that hands functions on.
    APPLY = auto()
    NUMPY = auto()
    #: Packages and modules of which a call takes little time: dates, JSON, regular expressions.
    LIGHT = auto()
    XARRAY = auto()
    #: Dask and the standard library.
    PLUMBING = auto()
    OTHERS = auto()


_IN_PANDAS = (_Of.PANDAS, _Of.APPLY)
#: Who has loops run for a person. Those that other libraries run no person can change.
_ASKS = (_Of.OWN, _Of.PLUMBING, _Of.XARRAY, _Of.APPLY)
#: Who does more in a call than a loop costs.
_LARGE = (_Of.XARRAY, _Of.PLUMBING, _Of.OTHERS)
#: Own functions within one another up to which a call takes little.
_DEEP = 2
#: What calls a function with each row or column of a frame, and what makes a Series of each row for it.
_CALLS, _MAKES_ROWS = ("FrameApply.apply_series_generator",), ("FrameColumnApply.series_generator",)
_ITERROWS = ("DataFrame.iterrows",)
_MAP = ("map_array", "IndexOpsMixin._map_values")
#: What pandas puts around a function that it calls with each value.
_AROUND = re.compile(r"\.(?:curried|curry|infer)$")
_LINES = ("vectorize._vectorize_call", "vectorize._vectorize_call_with_signature", "apply_along_axis")
_PACKAGE = re.compile(r"[\\/](?:site|dist)-packages[\\/](?:(pandas[\\/]core[\\/]apply\.py$)|(\w+))")
_PACKAGES = {
    **{"pandas": _Of.PANDAS, "numpy": _Of.NUMPY, "xarray": _Of.XARRAY},
    **dict.fromkeys(("dateutil", "pytz", "pyarrow"), _Of.LIGHT),
}
_LIGHT = re.compile(
    r"[\\/](?:(?:json|re|collections)[\\/]\w+|_strptime|(?:_py)?datetime|(?:_py)?decimal|fractions|functools"
    r"|statistics|string|textwrap|uuid|enum)\.py$"
)


class _State(NamedTuple):
    """What is known of a frame and of all that it stands on."""

    loop: Loop = Loop.NONE
    #: Whose the last frame is, but for steps of `np.vectorize`; and the last that is not of pandas.
    caller: _Of = _Of.PLUMBING
    asker: _Of = _Of.PLUMBING
    #: Whether the loop has called a function; own functions within one another since, and whether more was.
    called: bool = False
    deep: int = 0
    large: bool = False
    #: Whether its time is the loop's.
    counts: bool = False


def row_loops(stacks: Mapping[str, Any]) -> np.ndarray:
    """For each row of ``stacks`` the `Loop` that its time is spent in, the outermost; 0 if in none.

    Loops that libraries run are left out, but for those that a person has pandas, NumPy, xarray or Dask run;
    and so are calls that do more than a loop costs: in other libraries, or deep in a person's own functions.
    """
    functions, whose = stacks["function"], _whose(stacks)
    in_pandas, in_numpy = np.isin(whose, _IN_PANDAS), whose == _Of.NUMPY
    begins = np.zeros(len(whose), "i1")
    begins[in_pandas & (is_any(functions, _ITERROWS) | _row_wise(stacks))] = Loop.ROWS
    begins[in_pandas & is_any(functions, _MAP)] = Loop.VALUES
    begins[in_numpy & is_any(functions, _LINES)] = Loop.LINES
    if not begins.any():
        return begins
    around = in_pandas & by_name(functions, lambda name: bool(_AROUND.search(name)), False)
    steps = in_numpy & by_name(functions, lambda name: name.startswith("vectorize."), False)
    told = zip(begins.tolist(), whose.tolist(), around.tolist(), steps.tolist(), strict=True)
    states: list[_State] = []
    for row, (parent, frame) in enumerate(zip(parents(stacks), told, strict=True)):
        states.append(_calls(states[parent] if 0 <= parent < row else _State(), *frame))
    return np.array([state.loop if state.counts else Loop.NONE for state in states], "i1")


def _calls(below: _State, begins: Loop, of: _Of, around: bool, step: bool) -> _State:
    """A frame that is called by another."""
    caller, asker = below.caller if step else of, below.asker if of in _IN_PANDAS else of
    if not below.loop:
        asks = below.caller if begins == Loop.LINES else below.asker
        loop = begins if asks in _ASKS else Loop.NONE
        # A dictionary is looked up in pandas, and calls nothing.
        return _State(loop, caller, asker, loop != Loop.VALUES, counts=loop != Loop.NONE)
    called, deep = below.called or of not in _IN_PANDAS, below.deep + (of == _Of.OWN)
    large = below.large or of in _LARGE
    counts = not large and deep <= _DEEP and (called or around or begins == Loop.VALUES)
    return _State(below.loop, caller, asker, called, deep, large, counts)


def _row_wise(stacks: Mapping[str, Any]) -> np.ndarray:
    """Which rows call a function with each row of a frame: what calls them makes a Series of each, too."""
    functions = stacks["function"]
    callers = np.append(Lookup(stacks["stack"]).rows(stacks["parent"]), -1)
    makes = np.flatnonzero(is_any(functions, _MAKES_ROWS))
    by = callers[callers[makes]]
    return np.asarray(is_any(functions, _CALLS) & np.isin(callers[:-1], by[by >= 0]))


def _whose(stacks: Mapping[str, Any]) -> np.ndarray:
    """Whose each row is, by its file."""
    whose = by_name(stacks["file"], _package, _Of.OWN, "i1")
    light = by_name(stacks["file"], lambda file: bool(_LIGHT.search(file)), False)
    inside = plumbing(stacks)
    whose[inside] = np.where(light[inside], _Of.LIGHT, _Of.PLUMBING)
    return np.asarray(whose)


def _package(file: str) -> _Of:
    match = _PACKAGE.search(file)
    if not match:
        return _Of.OWN
    return _Of.APPLY if match[1] else _PACKAGES.get(match[2], _Of.OTHERS)
