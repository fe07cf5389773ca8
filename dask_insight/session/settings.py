"""What a person writes about rates and bounds, as `Options`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from threading import TIMEOUT_MAX
from typing import Any

from ..arguments import flag, number, seconds, text, whole
from ..options import Options
from ..probe.logs import LEVELS


def _span(name: str, value: Any) -> float:
    """A duration for which a thread can wait."""
    found = seconds(name, value)
    if found > TIMEOUT_MAX:
        raise ValueError(f"{name}={value!r} is longer than can be waited for; give {TIMEOUT_MAX:g} s at most")
    return found


def _level(name: str, value: Any) -> str:
    """A level of the log, in any case."""
    level = text(name, value, "the least level that is kept, as 'info'").lower()
    if level not in LEVELS:
        raise ValueError(f"{name}={value!r} is no level; give one of {', '.join(map(repr, LEVELS))}")
    return level


#: How each option is read that is given as something else, or that may be wrong.
_READ: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("profile_interval", "resources", "poll", "stop_timeout"), _span),
    "ring": whole,
    "logs": _level,
    "source": flag,
}

#: What `record` takes beside options.
BESIDE = ("path", "client", "name", "local", "clusters")


def options_of(profile: bool | str | float, resources: str | float, others: Mapping[str, Any]) -> Options:
    """Read durations in Dask's way: ``"200ms"``, ``"1s"``, or a number of seconds.

    Raises
    ------
    TypeError
        If there is no such option, or it is of another type.
    ValueError
        If a duration cannot be read, or is not above zero; if the budget is no share of a core; if there is
        no such level of the log.
    """
    known = [field.name for field in fields(Options)]
    if unknown := [name for name in others if name not in known]:
        raise TypeError(f"no option {', '.join(unknown)}; there are {', '.join([*known, *BESIDE])}")
    given: dict[str, Any] = {"profile": profile is not False, "resources": resources, **others}
    if not isinstance(profile, bool):
        given["profile_interval"] = _interval(profile)
    given |= {name: read(name, given[name]) for name, read in _READ.items() if name in given}
    options = Options(**given)
    if options.ring < 1:
        raise ValueError(f"ring={options.ring} must be 1 row at least")
    if not (options.cache_metric is None or callable(options.cache_metric)):
        raise TypeError(f"cache_metric={options.cache_metric!r} is no function of a result")
    if not 0 < number("profile_budget", options.profile_budget, "a share of a core") <= 1:
        raise ValueError(
            f"profile_budget={options.profile_budget!r} must be a share of a core above 0, at most 1; "
            "profile=False takes no stacks"
        )
    return options


def _interval(profile: str | float) -> float:
    """Seconds from one stack to the next."""
    try:
        return _span("profile", profile)
    except ValueError as error:
        raise ValueError(f"{error}; profile=False takes no stacks") from None


def name_of(name: Any) -> str | None:
    """What a person calls a recording.

    Raises
    ------
    TypeError
        If it is no text.
    """
    return None if name is None else text("name", name, "what to call the recording")


def client_of(client: Any) -> Any:
    """A client, or None for all there are.

    Raises
    ------
    TypeError
        If it is something else.
    """
    # Where distributed has not been imported, nobody has one.
    made = sys.modules.get("distributed.client")
    if client is None or (made is not None and isinstance(client, made.Client)):
        return client
    raise TypeError(
        f"client={client!r} is no client: give a distributed.Client, e.g. Client('tcp://…') or "
        "Client(cluster); a recording's name is given as name="
    )
