"""What workers import before a recording begins."""

from __future__ import annotations


def all_of_them(address: str) -> str:
    """Import every module of workloads, and what dataframes load when they are first used."""
    import dask.array
    import dask.bag
    import dask.dataframe
    import numpy as np
    import pandas as pd

    import faults  # noqa: F401

    dask.array.ones(10, chunks=5).sum().compute(scheduler="sync")
    dask.bag.from_sequence("ab", npartitions=1).frequencies().compute(scheduler="sync")
    frame = pd.DataFrame({"key": np.arange(10) % 3, "value": np.ones(10), "text": list("abcdefghij")})
    frame.groupby("key").sum(numeric_only=True).merge(frame, on="key").sort_values("text")
    dask.dataframe.from_pandas(frame, npartitions=2).groupby("key").value.mean().compute(scheduler="sync")
    return address
