"""What the demo computes: five steps, each a span in the recording."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple

from . import tasks


class Step(NamedTuple):
    """One part of the demo."""

    #: Name of its span.
    name: str
    #: What a person will see in it.
    about: str
    #: Computes it on the default client.
    compute: Callable[[], object]
    #: Packages it needs beside dask.
    needs: tuple[str, ...] = ()

    @property
    def possible(self) -> bool:
        """Whether all it needs is installed."""
        return all(find_spec(name) is not None for name in self.needs)


def _statistics() -> object:
    import dask.array as da

    x = da.random.default_rng(1).normal(size=(6000, 4000), chunks=(750, 2000))
    return da.sqrt(((x - x.mean(axis=0)) ** 2).mean(axis=0)).compute()


def _spectrum() -> object:
    import dask.array as da

    x = da.random.default_rng(2).random(size=(6000, 5000), chunks=(1000, 2500)).persist()
    return abs(da.fft.rfft(x.rechunk((6000, 500)), axis=0)).max(axis=0).compute()


def _orders() -> object:
    import dask
    import dask.dataframe as dd

    orders = dd.from_map(tasks.orders, range(12))
    joined = orders.merge(dd.from_map(tasks.products, [_PRODUCT_TABLE]), on="product")
    customers = orders.shuffle("customer").map_partitions(
        tasks.best_customers, meta=tasks.best_customers_meta()
    )
    return dask.compute(joined.groupby("category").amount.agg(["mean", "sum", "count"]), customers)


def _models() -> object:
    from dask import delayed

    clean = [delayed(tasks.clean)(delayed(tasks.load)(number)) for number in range(24)]
    scores = [delayed(tasks.score)(part, slow=number == _STRAGGLER) for number, part in enumerate(clean)]
    return delayed(tasks.best)(scores).compute()


def _retries() -> object:
    from dask import delayed

    return delayed(tasks.combine)([delayed(tasks.unreliable)(number) for number in range(8)]).compute(
        retries=4
    )


_PRODUCT_TABLE = 0
_STRAGGLER = 17

STEPS: tuple[Step, ...] = (
    Step("statistics", "an array, reduced block by block", _statistics, ("numpy",)),
    Step("spectrum", "an array cut the other way: every block goes to every worker", _spectrum, ("numpy",)),
    Step("orders", "tables joined, grouped and shuffled", _orders, ("numpy", "pandas", "pyarrow")),
    Step("models", "a slow function, and one task slower than all others", _models),
    Step("retries", "tasks that fail and are tried again", _retries),
)
