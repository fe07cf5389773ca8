"""What one column of a table holds."""

from __future__ import annotations

from typing import NamedTuple


class Field(NamedTuple):
    """A column of a pandas table."""

    name: str
    #: "s", "bytes", "MiB" …; "time" for moments; "" for text, ids and counts.
    unit: str
    doc: str
