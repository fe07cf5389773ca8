"""Every table as JSON: an object of tables, each an object of columns; missing numbers are null."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .files import replaced
from .progress import Steps, Told, silent
from .tabular import expected, filled

if TYPE_CHECKING:
    from ..recording import Recording


def write(recording: Recording, path: Path, told: Told = silent) -> None:
    """Write the tables."""
    steps = Steps(told, expected(recording))
    with replaced(path) as file:
        file.write(b"{")
        for number, table in enumerate(filled(recording)):
            file.write((",\n" if number else "\n").encode() + f'"{table.name}":{{'.encode())
            for place, column in enumerate(table.columns):
                file.write((b',"' if place else b'"') + column.encode() + b'":[')
                for later, block in enumerate(table.blocks(column)):
                    text: str = block[column].to_json(orient="values", double_precision=9)
                    file.write((b"," if later else b"") + text[1:-1].encode("utf-8", "replace"))
                file.write(b"]")
            file.write(b"}")
            steps.add(len(table))
        file.write(b"\n}\n")
