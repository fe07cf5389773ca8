"""A folder with every table as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .files import replaced_folder
from .progress import Steps, Told, silent
from .tabular import expected, filled

if TYPE_CHECKING:
    from ..recording import Recording


def write(recording: Recording, path: Path, told: Told = silent) -> None:
    """Write ``tasks.csv``, ``transfers.csv`` … and ``describe.csv``, what their columns mean."""
    steps = Steps(told, expected(recording))
    with replaced_folder(path, ".csv") as folder:
        for table in filled(recording):
            with (folder / f"{table.name}.csv").open("w", encoding="utf-8", newline="") as file:
                for number, block in enumerate(table.blocks()):
                    block.to_csv(file, index=False, header=not number)
                    steps.add(len(block))
        recording.describe().to_csv(folder / "describe.csv")
