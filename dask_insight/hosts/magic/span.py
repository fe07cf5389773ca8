"""A Dask span around a cell that leaves the cell's graphs as they would be without it."""

from __future__ import annotations

import re
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask


class _Annotations(dict[str, Any]):
    """Annotations that go with a submission, and of which new layers of a graph take no copy.

    Dask does not fuse layers that are annotated with layers that are not: a
    plain annotation would change the graph of every cell that goes on with an
    array of an earlier cell.
    """

    def __init__(self, before: dict[str, Any], span: dict[str, Any]) -> None:
        super().__init__(before)
        self._before, self._span = dict(before), span
        self["span"] = span

    def copy(self) -> dict[str, Any]:
        """What a new layer of a graph takes."""
        if self.get("span") is not self._span:
            return dict(self)
        rest = {name: value for name, value in self.items() if name != "span"}
        return rest | {name: value for name, value in self._before.items() if name == "span"}


@contextmanager
def quiet_span(name: str) -> Iterator[str]:
    """Tasks that are submitted within belong to a Dask span of this name; gives the span's id."""
    before = dask.get_annotations()
    outer = before.get("span") or {"name": (), "ids": ()}
    identity = str(uuid.uuid4())
    span = {"name": (*outer["name"], name), "ids": (*outer["ids"], identity)}
    variable = getattr(dask.base, "_annotations", None)
    with _unwarned(span):
        if variable is None:
            with dask.annotate(span=span):
                yield identity
            return
        token = variable.set(_Annotations(before, span))
        try:
            yield identity
        finally:
            variable.reset(token)


@contextmanager
def _unwarned(span: dict[str, Any]) -> Iterator[None]:
    """Without the warning by which dask.dataframe says that it ignores our annotation."""
    start = re.escape(str({"span": span})[: len("{'span': {'name': (")] + repr(span["name"][0]))
    warnings.filterwarnings("ignore", rf"Dask annotations {start}")
    # Where warnings are a context's own, from Python 3.14 on, so are the filters.
    filters: Any = getattr(warnings, "_get_filters", lambda: warnings.filters)()
    ours = filters[0]
    try:
        yield
    finally:
        if ours in filters:
            filters.remove(ours)
