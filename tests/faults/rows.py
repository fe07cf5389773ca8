"""Faults in how tasks go through their data."""

from __future__ import annotations

from typing import Any

import numpy as np

from .planting import Work, plant


def _rate(row: Any) -> float:
    if row.amount <= 0.5:
        return 0.0
    paid = row.price * row.amount
    return paid - row.price / 10


@plant("row-by-row", "apply", says="rows.py:")
def a_frame_row_by_row(client: Any) -> Work:
    import dask.dataframe as dd
    import pandas as pd

    numbers = np.random.default_rng(0).random((500_000, 2))
    table = dd.from_pandas(pd.DataFrame(numbers, columns=["price", "amount"]), npartitions=8).persist()
    table.apply(_rate, axis=1, meta=("rate", "f8")).head()
    yield
    table.apply(_rate, axis=1, meta=("rate", "f8")).sum().compute()
    yield
