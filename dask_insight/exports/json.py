"""Every table as JSON: an object of tables, each an object of columns; missing numbers are null."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .files import replaced
from .tabular import filled

if TYPE_CHECKING:
    from ..recording import Recording


def write(recording: Recording, path: Path) -> None:
    """Write the tables."""
    with replaced(path) as file:
        file.write(b"{")
        for number, (name, table) in enumerate(filled(recording)):
            columns = (
                f'"{column}":' + table[column].to_json(orient="values", double_precision=9)
                for column in table.columns
            )
            file.write((",\n" if number else "\n").encode() + f'"{name}":{{'.encode())
            for place, text in enumerate(columns):
                file.write((b"," if place else b"") + text.encode("utf-8", "replace"))
            file.write(b"}")
        file.write(b"\n}\n")
