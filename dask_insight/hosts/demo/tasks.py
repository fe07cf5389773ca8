"""The functions of the demo's tasks, in a module of their own so that workers can import them."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_PRODUCTS = 200
_PASSES = 50
_SLOWER = 10


def load(number: int) -> list[float]:
    """Pretend to read a file."""
    time.sleep(0.03)
    source = random.Random(number)
    return [source.random() for _ in range(40_000)]


def clean(values: list[float]) -> list[float]:
    """Leave out what is far from the middle."""
    return [value for value in values if 0.02 < value < 0.98]


def score(values: list[float], slow: bool = False) -> float:
    """A loop in pure Python: the widest function of the flame graph."""
    passes = _PASSES * (_SLOWER if slow else 1)
    return max(_polynomial(values, shift / passes) for shift in range(passes))


def _polynomial(values: list[float], shift: float) -> float:
    total = 0.0
    for value in values:
        total += ((0.7 * value - 1.3) * value + 0.2) * value + shift
    return total / len(values)


def best(scores: list[float]) -> float:
    """The highest score."""
    return max(scores)


class Unavailable(ConnectionError):
    """What an unreliable service answers."""


_asked: set[int] = set()


def unreliable(number: int) -> int:
    """Ask a service that does not answer at first when the number is even."""
    time.sleep(0.1)
    if number % 2 == 0 and number not in _asked:
        _asked.add(number)
        raise Unavailable(f"service {number} did not answer")
    return number


def combine(answers: list[int]) -> int:
    """Sum of all answers."""
    return sum(answers)


def orders(number: int) -> pd.DataFrame:
    """One month of orders."""
    import numpy as np
    import pandas as pd

    source = np.random.default_rng(number)
    rows = 60_000
    return pd.DataFrame(
        {
            "customer": source.integers(0, 5_000, rows),
            "product": source.integers(0, _PRODUCTS, rows),
            "amount": source.gamma(2.0, 20.0, rows),
        }
    )


def products(number: int) -> pd.DataFrame:
    """All products and their categories."""
    import numpy as np
    import pandas as pd

    return pd.DataFrame(
        {"product": np.arange(_PRODUCTS), "category": [f"category {one % 12}" for one in range(_PRODUCTS)]}
    )


def best_customers(part: pd.DataFrame) -> Any:
    """The customers of a partition who spent most."""
    return part.groupby("customer").amount.sum().nlargest(20)


def best_customers_meta() -> Any:
    """Type of what `best_customers` returns."""
    import pandas as pd

    return pd.Series([], dtype="float64", name="amount", index=pd.Index([], dtype="int64", name="customer"))
