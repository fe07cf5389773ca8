"""A folder with every table as Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .files import replaced_folder
from .tabular import filled

if TYPE_CHECKING:
    from ..recording import Recording


def write(recording: Recording, path: Path) -> None:
    """Write ``tasks.parquet``, ``transfers.parquet`` …

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError("Parquet needs pyarrow: install it with `pip install pyarrow`") from None
    with replaced_folder(path) as folder:
        for name, table in filled(recording):
            table.to_parquet(folder / f"{name}.parquet", index=False)
        recording.describe().reset_index().astype("str").to_parquet(folder / "describe.parquet")
