"""Python called for each row, value or line, where whole columns and arrays are computed far faster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ... import words
from ...lookup import sums
from ...tables.row_loops import Loop, row_loops
from .facts import Facts
from .finding import Fact, Finding
from .rule import Rule
from .seen_in import share_in
from .thresholds import Limits
from .whereabouts import whereabouts_of

#: Share of that time that is saved at least: whole columns take a tenth or less.
_SAVED = 0.5


class _Kind(NamedTuple):
    """What Python is called for, what does that, and what takes its place."""

    each: str
    why: str
    advice: str
    url: str


def _row_by_row(facts: Facts, limits: Limits) -> Iterator[Finding]:
    loops = row_loops(facts.read("stacks"))
    if not loops.any():
        return
    took = sums(facts.prefix.codes[facts.good], facts.inside[facts.good], len(facts.names))
    for loop, kind in _KINDS.items():
        share = share_in(facts, loops == loop)
        share[share < limits["row-by-row.share"]] = 0.0
        lost = float((share * took).sum())
        if not lost > 0:
            continue
        names = facts.worst(share * took, facts.names)
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


_PERFORMANCE = "https://pandas.pydata.org/docs/user_guide/enhancingperf.html"
_FAST = "Whole {0} are computed many times as fast, and let other threads run meanwhile."
_KINDS = {
    Loop.ROWS: _Kind(
        "each row",
        "`DataFrame.apply` with `axis=1`, and `iterrows`, make a Series of every row for code of Python. "
        f"{_FAST.format('columns')}",
        "Compute with whole columns. Where that cannot be, loop over plain values, or compile.\n\n"
        "    df['z'] = (df.x + 2 * df.y).where(df.x > 0)   # instead of df.apply(f, axis=1)\n"
        "    [f(x, y) for x, y in zip(df.x, df.y)]   # in `map_partitions`: no Series for each row",
        _PERFORMANCE,
    ),
    Loop.VALUES: _Kind(
        "each value",
        f"`map` and `apply` of a Series call a function with every value. {_FAST.format('columns')}",
        "Compute with whole columns, or look values up.\n\n"
        "    s.clip(0, 1); s.where(s > 0, 0); s.str.upper()   # instead of s.map(f)\n"
        "    s.map({'a': 1, 'b': 2})   # a dictionary or a Series instead of a function",
        _PERFORMANCE,
    ),
    Loop.LINES: _Kind(
        "each element or line",
        "`np.vectorize` and `np.apply_along_axis` are loops: they call a function of Python with every "
        f"element, or every line along an axis. {_FAST.format('arrays')}",
        "Compute with whole arrays, or compile the function.\n\n"
        "    np.where(x > 0, np.sqrt(x), 0)   # instead of np.vectorize(f)(x)\n"
        "    f = numba.vectorize(f)   # numba.guvectorize for lines; without `vectorize=True` in xarray then",
        "https://numpy.org/doc/stable/reference/generated/numpy.vectorize.html",
    ),
}

ROW_BY_ROW = Rule(
    code="row-by-row",
    says="Tasks called Python for each row of a frame, value of a column or line of an array.",
    formula=(
        "Names of tasks with `row-by-row.share` of their samples in the row-wise `DataFrame.apply` (a "
        "Series was seen being made of a row) or in `iterrows`, in what `map` or `apply` of a Series "
        "calls, or in NumPy's `vectorize` or `apply_along_axis`; the outermost counts. Left out are loops "
        "that libraries run by themselves, and calls that do more than a loop costs: in other libraries, "
        "in Dask, in most of the standard library, or in a person's own functions three deep."
    ),
    cost="Half of that time, over all threads: whole columns take a tenth of it or less.",
    url=_PERFORMANCE,
    advice="Whole columns and arrays, dictionaries for `map`, compiled functions.",
    find=_row_by_row,
)
