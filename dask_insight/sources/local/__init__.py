"""Records computations of dask's local schedulers: threads, sync and processes."""

from .source import LocalSource

__all__ = ["LocalSource"]
