"""Python called for each row, value or element, where whole columns and arrays are computed far faster."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ... import words
from ...lookup import Lookup, by_name, is_any
from ...tables.stacks import below
from .facts import Facts
from .finding import Fact, Finding
from .rule import Rule
from .seen_in import share_in
from .thresholds import Limits
from .whereabouts import whereabouts_of

#: Share of that time that is saved at least: whole columns take a tenth or less.
_SAVED = 0.5
_PANDAS = re.compile(r"[\\/]pandas[\\/]core[\\/]")
_NUMPY = re.compile(r"[\\/]numpy[\\/]lib[\\/]")
#: What calls a function with each row or column of a frame, and what makes a Series of each row for it.
_APPLY, _EACH_ROW = ("FrameApply.apply_series_generator",), ("FrameColumnApply.series_generator",)
_ITERROWS = ("DataFrame.iterrows",)
_MAP = ("map_array", "IndexOpsMixin._map_values")
_LOOPS = ("vectorize._vectorize_call", "vectorize._vectorize_call_with_signature", "apply_along_axis")


class _Kind(NamedTuple):
    """What Python is called for, what does that, and what takes its place."""

    each: str
    why: str
    advice: str
    url: str


def _row_by_row(facts: Facts, limits: Limits) -> Iterator[Finding]:
    for kind, share in _shares(facts):
        share = np.where(share >= limits["row-by-row.share"], share, 0.0)
        seconds = share * facts.by_names.total
        lost = float(seconds.sum())
        if not lost > 0:
            continue
        names = facts.worst(seconds, facts.names)
        most = float(share[facts.names.index(names[0])])
        yield Finding(
            code="row-by-row",
            title=f"`{names[0]}` calls Python for {kind.each} in {words.share(most)} of its time",
            tasks=names,
            cost_thread_seconds=_SAVED * lost,
            cost_seconds=facts.spread(_SAVED * lost),
            evidence=(
                Fact("share of its samples in such calls", most, "share", limits["row-by-row.share"]),
                Fact("time in such calls", lost, "s"),
            ),
            why=f"{kind.why}{whereabouts_of(facts, names[0]).said(f'the time of `{names[0]}`')}",
            advice=kind.advice,
            url=kind.url,
        )


def _shares(facts: Facts) -> Iterator[tuple[_Kind, np.ndarray]]:
    """Share of the samples of each task name, by code, in which Python was called for each of something."""
    stacks = facts.read("stacks")
    in_pandas = _of(stacks, _PANDAS)
    rows = _share(facts, stacks, in_pandas & is_any(stacks["function"], _APPLY))
    # Whole columns are what else it calls a function with.
    rows[_share(facts, stacks, in_pandas & is_any(stacks["function"], _EACH_ROW)) <= 0] = 0.0
    yield _ROWS, rows + _share(facts, stacks, in_pandas & is_any(stacks["function"], _ITERROWS))
    yield _VALUES, _mapped(facts, stacks, in_pandas)
    yield _ELEMENTS, _share(facts, stacks, _of(stacks, _NUMPY) & is_any(stacks["function"], _LOOPS))


def _mapped(facts: Facts, stacks: Mapping[str, Any], in_pandas: np.ndarray) -> np.ndarray:
    """The same of `Series.map` and `apply`, where they do not look values up in a dictionary or a Series."""
    maps = in_pandas & is_any(stacks["function"], _MAP)
    called = np.append(maps, False)[Lookup(stacks["stack"]).rows(stacks["parent"])] & ~in_pandas
    # A function of C has no frame.
    mine = below(stacks, called) | maps
    return share_in(facts, mine) if called.any() else np.zeros(len(facts.names))


def _share(facts: Facts, stacks: Mapping[str, Any], mine: np.ndarray) -> np.ndarray:
    return share_in(facts, below(stacks, mine)) if mine.any() else np.zeros(len(facts.names))


def _of(stacks: Mapping[str, Any], package: re.Pattern[str]) -> np.ndarray:
    return np.asarray(by_name(stacks["file"], lambda file: package.search(file) is not None, False))


_PERFORMANCE = "https://pandas.pydata.org/docs/user_guide/enhancingperf.html"
_ROWS = _Kind(
    "each row",
    "`DataFrame.apply` with `axis=1`, and `iterrows`, make a Series of every row for code of Python. Whole "
    "columns are computed tens of times as fast, and let other threads run meanwhile.",
    "Compute with whole columns. Where that cannot be, loop over plain values, or compile.\n\n"
    "    df['z'] = (df.x + 2 * df.y).where(df.x > 0)   # instead of df.apply(f, axis=1)\n"
    "    [f(x, y) for x, y in zip(df.x, df.y)]   # in `map_partitions`: no Series for each row",
    _PERFORMANCE,
)
_VALUES = _Kind(
    "each value",
    "`Series.map` and `apply` call a function of Python with every value. Whole columns are computed tens of "
    "times as fast, and let other threads run meanwhile.",
    "Compute with whole columns, or look values up.\n\n"
    "    s.clip(0, 1); s.where(s > 0, 0); s.str.upper()   # instead of s.map(f)\n"
    "    s.map({'a': 1, 'b': 2})   # a dictionary or a Series instead of a function",
    _PERFORMANCE,
)
_ELEMENTS = _Kind(
    "each element",
    "`np.vectorize` and `np.apply_along_axis` are loops: they call a function of Python for every element or "
    "line. Whole arrays are computed tens of times as fast, and let other threads run meanwhile.",
    "Compute with whole arrays, or compile the function.\n\n"
    "    np.where(x > 0, np.sqrt(x), 0)   # instead of np.vectorize(f)(x)\n"
    "    f = numba.vectorize(f)   # numba.guvectorize for lines; then without `vectorize=True` in xarray",
    "https://numpy.org/doc/stable/reference/generated/numpy.vectorize.html",
)

ROW_BY_ROW = Rule(
    code="row-by-row",
    says="Tasks called Python for each row of a frame, value of a column or element of an array.",
    formula=(
        "Names of tasks with `row-by-row.share` of their samples below the row-wise `DataFrame.apply` or in "
        "`iterrows`, in functions that `Series.map` or `apply` calls, or below NumPy's `vectorize` or "
        "`apply_along_axis`. `DataFrame.apply` is row-wise where a Series was seen being made of a row."
    ),
    cost="Half of that time, over all threads: whole columns take a tenth of it or less.",
    url=_PERFORMANCE,
    advice="Whole columns and arrays, dictionaries for `map`, compiled functions.",
    find=_row_by_row,
)
