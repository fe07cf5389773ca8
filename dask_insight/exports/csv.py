"""A folder with every table as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .files import replaced_folder
from .tabular import filled

if TYPE_CHECKING:
    from ..recording import Recording


def write(recording: Recording, path: Path) -> None:
    """Write ``tasks.csv``, ``transfers.csv`` … and ``describe.csv``, what their columns mean."""
    with replaced_folder(path) as folder:
        for name, table in filled(recording):
            table.to_csv(folder / f"{name}.csv", index=False)
        recording.describe().to_csv(folder / "describe.csv")
