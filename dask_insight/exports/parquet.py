"""A folder with every table as Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .files import replaced_folder
from .progress import Steps, Told, silent
from .tabular import expected, files, filled

if TYPE_CHECKING:
    from ..recording import Recording


def write(recording: Recording, path: Path, told: Told = silent) -> None:
    """Write ``tasks.parquet``, ``transfers.parquet`` …

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ImportError("Parquet needs pyarrow: install it with `pip install pyarrow`") from None
    steps = Steps(told, expected(recording))
    with replaced_folder(path, files(".parquet")) as folder:
        for table in filled(recording):
            blocks = (pyarrow.Table.from_pandas(block, preserve_index=False) for block in table.blocks())
            first = next(blocks)
            with parquet.ParquetWriter(folder / f"{table.name}.parquet", first.schema) as file:
                file.write_table(first)
                steps.add(len(first))
                for block in blocks:
                    file.write_table(block)
                    steps.add(len(block))
        recording.describe().astype("str").to_parquet(folder / "describe.parquet", index=False)
