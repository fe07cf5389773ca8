"""Every table of a recording that has rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from ..recording import Recording


def filled(recording: Recording) -> Iterator[tuple[str, pd.DataFrame]]:
    """Names and tables; moments are seconds since the recording's start, named in ``about``."""
    from ..tables import FIELDS

    for name in FIELDS:
        table = recording.table(name)
        if len(table):
            yield name, table
