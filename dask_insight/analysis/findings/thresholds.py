"""All thresholds of the rules, in one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import NamedTuple


class Threshold(NamedTuple):
    """A number that a rule compares with."""

    #: The finding's code, a point, and what is compared; ``all.`` for what concerns every rule.
    name: str
    value: float
    #: s, bytes, bytes/s, count, share (0 to 1), times or ''.
    unit: str
    meaning: str
    #: Where the number comes from; "ours" where it was calibrated on our own runs.
    source: str


_EFFICIENCY = "Dask: https://distributed.dask.org/en/stable/efficiency.html"
_PRACTICES = "Dask: https://docs.dask.org/en/stable/best-practices.html"
_ELEPHANT = "dr-elephant's limits for skew"

TABLE = (
    Threshold("all.seconds", 0.5, "s", "Least wall time that a finding must cost to be told.", "ours"),
    Threshold("all.share", 0.02, "share", "Least share of the run that it must cost to be told.", "ours"),
    Threshold("all.warning", 0.08, "share", "Share of the run from which it is a warning.", "ours"),
    Threshold("all.critical", 0.35, "share", "Share of the run from which it is critical.", "ours"),
    Threshold("tiny-tasks.mean", 0.01, "s", "Mean time of tasks below which they are tiny.", _EFFICIENCY),
    Threshold("tiny-tasks.count", 500, "count", "Least number of such tasks.", "ours"),
    Threshold(
        "tiny-tasks.lost",
        0.2,
        "share",
        "Share of the threads' time around tiny tasks that is not spent in them.",
        "ours",
    ),
    Threshold(
        "straggler.times", 3, "times", "How many times the median of its name a task takes.", _ELEPHANT
    ),
    Threshold("straggler.count", 4, "count", "Least number of tasks of that name.", "ours"),
    Threshold(
        "client-gap.share",
        0.1,
        "share",
        "Share of the run in which the cluster had no task.",
        "after sparklens, whose driver time is the same",
    ),
)

DEFAULTS: Mapping[str, float] = {each.name: each.value for each in TABLE}


class Limits(Mapping[str, float]):
    """The thresholds in force.

    Parameters
    ----------
    changed
        Values that replace the defaults.

    Raises
    ------
    ValueError
        If there is no threshold of a name; the message lists those that are near.
    """

    def __init__(self, changed: Mapping[str, float] | None = None) -> None:
        self._values = dict(DEFAULTS)
        for name, value in (changed or {}).items():
            if name not in DEFAULTS:
                raise ValueError(f"there is no threshold {name!r}; {_near(name)}")
            self._values[name] = float(value)

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _near(name: str) -> str:
    code = name.partition(".")[0]
    near = get_close_matches(name, DEFAULTS, 5, 0.5)
    near += [each for each in DEFAULTS if each.startswith(f"{code}.") and each not in near]
    return f"near it: {', '.join(near)}" if near else f"there are {', '.join(DEFAULTS)}"
