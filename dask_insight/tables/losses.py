"""What is known to be lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import words
from ..lookup import is_any
from .facts import from_json


class Loss(NamedTuple):
    """So many things were lost; what is said of one, and of many. The detail of an event of kind ``lost``."""

    #: 0 where nobody counted: then `many` is all that is said.
    number: int
    one: str
    many: str

    def __str__(self) -> str:
        return words.count(*self) if self.number else self.many


def losses(events: Mapping[str, Any], *, on_purpose: bool = True) -> list[str]:
    """What the table `events` tells to be lost, in words: each once, what was counted summed up.

    Parameters
    ----------
    on_purpose
        With what was left out because somebody, or a bound, wants it so.
    """
    lost = is_any(events["kind"], ("lost",))
    if not on_purpose:
        lost = lost & ~is_any(events["level"], ("info",))
    numbers: Counter[tuple[str, str]] = Counter()
    for row in np.flatnonzero(lost).tolist():
        number, one, many = _counted(events["detail"][row]) or Loss(0, "", events["message"][row])
        numbers[one, many] += number
    return [told for said, number in numbers.items() if (told := str(Loss(number, *said)))]


def _counted(detail: str) -> Loss | None:
    """What an event tells to be lost, if it tells how much."""
    try:
        loss = Loss(**from_json(detail or "null"))
    except (TypeError, ValueError):
        return None
    return loss if [*map(type, loss)] == [int, str, str] and loss.number > 0 else None
