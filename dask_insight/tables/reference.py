"""Writes the reference of all tables: ``python -m dask_insight.tables.reference``."""

from __future__ import annotations

from pathlib import Path

from . import FIELDS
from .field import Field

TARGET = Path(__file__).parents[2] / "docs" / "tables.md"

_HEAD = """\
# Tables

What `dask_insight.open(path)` and `dask_insight.record(...)` give has these as pandas DataFrames:
`run.tasks`, `run.transfers` … `run.about` is a dict, `run.findings()` and `run.what_if()` are methods; as
DataFrames these are `run.table("about")`, `run.table("findings")` and `run.table("what_if")`. Tables whose
names begin with `compared_` have rows in the `recording` of a comparison only. In the repository this page is
written by `python -m dask_insight.tables.reference`.

Columns of unit *time* are seconds since `run.started`; `run.table(name, timestamps=True)` gives them as UTC
timestamps. Ids and counts are `int64` but where they may be missing, other numbers `float64`. A missing
number is NaN, a missing text `''`. Texts that repeat are categories in the order of the recording, by which
pandas sorts and groups them: `.astype(str)` makes text of them, and `groupby(..., observed=True)` leaves out
those that no row has. Ids count within one recording; 4294967295 is "none". Of rows that replace earlier
ones, of the same worker or run of a cell, only the last is there. `run.describe(name)` shows the same as a
DataFrame.

As CSV (`run.export("tables", "csv")`) texts that begin with `=`, `+`, `-` or `@` are left as they are, and a
spreadsheet may take them for formulas: have it import the columns as text.
"""


def markdown() -> str:
    """The reference, as Markdown."""
    return "\n".join([_HEAD, *(_table(name, fields) for name, fields in FIELDS.items())])


def _table(name: str, fields: tuple[Field, ...]) -> str:
    rows = [f"| `{field.name}` | {field.unit} | {_cell(field.doc)} |" for field in fields]
    return "\n".join([f"## {name}", "", "| column | unit | meaning |", "|---|---|---|", *rows, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    TARGET.write_text(markdown(), encoding="utf-8")
