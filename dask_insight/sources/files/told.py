"""What a recording of another tool's file says of itself: whence it came, and what is not in that file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ...batch import encode

_NAN = math.nan


def facts(about: Mapping[str, Any], lacks: Mapping[str, str]) -> bytes:
    """A batch of `about`.

    Parameters
    ----------
    about
        Facts by name; what JSON has no value for stands as text.
    lacks
        Table to a sentence: why a file of this format has nothing for it. Panels say so.
    """
    told = {**about, **({"lacks": dict(lacks)} if lacks else {})}
    values = [json.dumps(_finite(value), default=str) for value in told.values()]
    return encode("about", {"name": list(told), "value": values})


def number(value: Any, missing: float = _NAN) -> float:
    """A figure of a file as a finite number, or what stands for a missing one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return missing
    try:
        figure = float(value)
    except OverflowError:
        return missing
    return figure if math.isfinite(figure) else missing


def whole(value: Any, most: int = 2**32 - 2) -> int:
    """A count of a file; 0 where there is none that makes sense."""
    figure = number(value, 0.0)
    return int(figure) if 0 <= figure <= most else 0


def mapping(value: Any) -> Mapping[Any, Any]:
    """A value of a file that should be a mapping; an empty one where it is none."""
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> list[Any]:
    """A value of a file that should be a list; an empty one where it is none."""
    return value if isinstance(value, list) else []


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
