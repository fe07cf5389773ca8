"""What a comparison found."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import arguments
from ...answers import MADE
from ...batch import encode, table_of
from ...columns import length
from ...legible import printed
from ...recording import Recording
from ...schema import TABLES

if TYPE_CHECKING:
    import pandas as pd


class Comparison:
    """What differs between runs, and whether that is more than noise; made by `dask_insight.compare`.

    Its tables are DataFrames, one row for each thing and side, in the order of
    what matters. `frame` puts the sides beside each other.

    Attributes
    ----------
    recording : Recording
        The same as rows, to be saved, opened again and shown in panels.
    sides, runs, budget, names, memory, stacks, findings, settings : DataFrame
        Their columns, with units, are described where they are defined:
        ``help(Comparison.names)``.
    """

    if TYPE_CHECKING:
        sides: pd.DataFrame
        runs: pd.DataFrame
        budget: pd.DataFrame
        names: pd.DataFrame
        memory: pd.DataFrame
        stacks: pd.DataFrame
        findings: pd.DataFrame
        settings: pd.DataFrame

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    def verdict(self) -> str:
        """The answer: for each side whether it is slower or faster than the first, by how much, and why."""
        return self._said("text")

    def notes(self) -> str:
        """What else stands out: failed tasks, losses, most memory, cores that others had; '' for nothing."""
        return self._said("notes")

    def _said(self, column: str) -> str:
        columns: Any = self.recording.columns("compared_sides")
        return " ".join(text for text in columns[column].tolist() if text)

    def frame(self, table: str = "names") -> pd.DataFrame:
        """A table with the sides beside each other.

        Parameters
        ----------
        table
            ``'names'`` (a row a task name), ``'budget'`` (a row a part of the
            time budget) or ``'settings'`` (a row a setting that differs).

        Returns
        -------
        DataFrame
            Columns are pairs of a figure and the name of a side:
            ``frame["mean", "after"]``. Rows are in the order of what matters.

        Raises
        ------
        ValueError
            If the table has no such rows.
        """
        import pandas as pd

        keys = {"names": ["name"], "budget": ["kind", "part"], "settings": ["kind", "name"]}
        if table not in keys:
            raise ValueError(f"table={table!r} is none of {', '.join(keys)}")
        long = self.recording.table(f"compared_{table}")
        long = long.astype(dict.fromkeys(keys[table], object))
        sides = dict(enumerate(self.sides["name"]))
        key = keys[table][0] if len(keys[table]) == 1 else keys[table]
        order = long.drop_duplicates(key).set_index(key).index
        wide = long.pivot(index=key, columns="side").loc[order]
        figures = [name for name in long if name not in (*keys[table], "side")]
        # Without rows there are no columns either.
        pairs = pd.MultiIndex.from_product([figures, sides], names=wide.columns.names)
        made: pd.DataFrame = wide.reindex(columns=pairs).rename(columns=sides, level=1)
        return made

    def slower(self, limit: float = 0.0) -> list[str]:
        """Names of the sides that are slower than the baseline, beyond a limit and beyond the noise.

        Parameters
        ----------
        limit
            Share of the baseline's wall time: 0.1 for 10 %.

        Raises
        ------
        TypeError, ValueError
            If that is no number.
        """
        limit = arguments.number("limit", limit, "a share of the baseline's time, 0.1 for 10 %")
        sides = self.sides
        base = float(sides["seconds"].iloc[0])
        rows = (sides["verdict"] == "slower") & (sides["change"] > limit * base)
        return [str(name) for name in sides.loc[rows, "name"]]

    def broken(self) -> dict[str, str]:
        """Sides whose time says nothing, by name why: more of their tasks failed, or they did not end."""
        return dict(self.recording.about.get("broken", {}))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file that `dask_insight.open` and ``dask-insight report`` read."""
        self.recording.save(path)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write one self-contained HTML page that shows it; returns its path."""
        return self.recording.report(path, title=title)

    def widget(self) -> Any:
        """It as a panel in the output of a notebook cell; needs anywidget."""
        return self.recording.widget("compare")

    def beside(self, recording: Recording) -> Recording:
        """A recording with the rows of this comparison beside its own, for pages that show both."""
        made = Recording()
        for batch in recording.batches():
            if table_of(batch) not in MADE:
                made.append(batch)
        for table in MADE:
            if length(told := recording.answer(table)):
                made.append(encode(table, told))
        for batch in self.recording.batches():
            if table_of(batch) != "about":
                made.append(batch)
        return made

    def to_markdown(self) -> str:
        """It as Markdown, for a pull request: verdict, and tables of what differs."""
        text: str = _shown("markdown")(self)
        return text

    def to_json(self) -> str:
        """It as one JSON object: verdict and tables, without memory over time and call stacks."""
        text: str = _shown("to_json")(self)
        return text

    def __str__(self) -> str:
        return printed(_shown("text")(self))

    def __repr__(self) -> str:
        return printed(f"<Comparison of {', '.join(map(repr, self.sides['name']))}: {self.verdict()}>")

    def _repr_html_(self) -> str:
        # marimo asks for nothing else; IPython never asks for it.
        text: str = self._repr_mimebundle_().get("text/html") or _shown("html")(self)
        return text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        made: dict[str, str] = _shown("bundle", "comparison.output")(self)
        return made


def _shown(form: str, host: str = "comparison") -> Any:
    """A form that stands above comparisons, found by name when it is asked for."""
    return getattr(import_module(f"dask_insight.hosts.{host}"), form)


def _table(name: str) -> property:
    table = TABLES[f"compared_{name}"]
    lines = [
        f"    {column.name} [{column.unit}]: {column.doc}"
        if column.unit
        else f"    {column.name}: {column.doc}"
        for column in table.columns
    ]
    doc = "\n".join((table.doc, "", *lines))
    return property(lambda self: self.recording.table(f"compared_{name}"), doc=doc)


for _name in ("sides", "runs", "budget", "names", "memory", "stacks", "findings", "settings"):
    setattr(Comparison, _name, _table(_name))
