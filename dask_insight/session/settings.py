"""What a person writes about rates and bounds, as `Options`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..options import Options

_DURATIONS = ("profile_interval", "resources", "poll", "stop_timeout")


def options_of(profile: bool | str | float, resources: str | float, others: Mapping[str, Any]) -> Options:
    """Read durations in Dask's way: ``"200ms"``, ``"1s"``, or a number of seconds.

    Raises
    ------
    TypeError
        If there is no such option.
    ValueError
        If a duration cannot be read, or is not above zero; if the budget is no share of a core.
    """
    known = [field.name for field in fields(Options)]
    if unknown := [name for name in others if name not in known]:
        raise TypeError(f"no option {', '.join(unknown)}; there are {', '.join(known)}")
    given: dict[str, Any] = {"profile": profile is not False, "resources": resources, **others}
    if not isinstance(profile, bool):
        given["profile_interval"] = profile
    given |= {name: _seconds(name, given[name]) for name in _DURATIONS if name in given}
    options = Options(**given)
    if not 0 < options.profile_budget <= 1:
        raise ValueError(
            f"profile_budget={options.profile_budget!r} must be a share of a core above 0, at most 1; "
            "profile=False takes no stacks"
        )
    return options


def _seconds(name: str, value: Any) -> float:
    from dask.utils import parse_timedelta

    try:
        seconds = float(parse_timedelta(value))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{name}={value!r} is no duration; write for example '200ms' or 0.2") from error
    if not seconds > 0:
        raise ValueError(f"{name}={value!r} must be longer than nothing")
    return seconds
