"""Tasks that no worker may run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ... import words
from ...tables.facts import from_json
from .facts import Facts, is_any
from .finding import Fact, Finding
from .names import quoted, resources_option
from .rule import Rule
from .thresholds import Limits


class _Stay(NamedTuple):
    """Tasks that no worker might run; times in seconds since the epoch."""

    start: float
    #: When there were none any more; inf if that did not come.
    stop: float
    #: The last that is told of it while it lasted.
    seen: float
    #: Most of them, and what they asked for.
    tasks: int
    told: dict[str, Any]


def _stays(facts: Facts) -> list[_Stay]:
    events = facts.read("events")
    found: list[_Stay] = []
    rows = np.flatnonzero(is_any(events["kind"], ("no-worker",)))
    for row in rows[np.argsort(events["time"][rows], kind="stable")].tolist():
        try:
            told = from_json(events["detail"][row])
            tasks, seconds = int(told["tasks"]), float(told.get("seconds", 0.0))
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
        when = float(events["time"][row])
        last = found[-1] if found and found[-1].stop == np.inf else None
        if tasks == 0:
            if last:
                found[-1] = last._replace(stop=when)
        elif last and when - seconds <= last.seen:
            found[-1] = last._replace(seen=when, tasks=max(last.tasks, tasks), told=told)
        else:
            found.append(_Stay(when - seconds, np.inf, when, tasks, told))
    return found


def _no_worker(facts: Facts, limits: Limits) -> Iterator[Finding]:
    for stay in _stays(facts):
        lasts = stay.stop == np.inf
        # A cluster without workers is waited for; see cold-start.
        if not lasts and not stay.told.get("workers"):
            continue
        seconds = max(stay.seen, facts.stop) - stay.start if lasts else stay.stop - stay.start
        names = tuple(words.in_a_line(str(name)) for name in stay.told.get("names") or ())
        wanted, why, advice = _wanted(stay.told)
        count = f"{words.count(stay.tasks)} {quoted(names, 1)}" if names else words.count(stay.tasks, "task")
        yield Finding(
            code="no-worker",
            severity=_severity(stay) if lasts else "",
            title=(
                f"{count} {'waits' if stay.tasks == 1 else 'wait'} for {wanted}, "
                f"for {words.duration(seconds)} so far"
                if lasts
                else f"{count} waited {words.duration(seconds)} for {wanted}"
            ),
            tasks=names,
            start=facts.since(stay.start),
            stop=facts.since(stay.stop if not lasts else max(stay.seen, facts.stop)),
            cost_seconds=np.nan if lasts else seconds,
            evidence=(
                Fact("tasks that no worker might run", stay.tasks, "count"),
                Fact("for", seconds, "s"),
                Fact("workers that were there", float(stay.told.get("workers") or 0), "count"),
            ),
            why=why,
            advice=advice,
            url=NO_WORKER.url,
        )


def _severity(stay: _Stay) -> str:
    """Workers that are not there may be on their way."""
    return "critical" if stay.told.get("workers") else "warning"


def _wanted(told: dict[str, Any]) -> tuple[str, str, str]:
    """What such tasks wait for, why they do, and what helps."""
    resources, bound = told.get("resources") or {}, told.get("bound") or []
    if not told.get("workers"):
        return "any worker", _EMPTY, _START
    if resources:
        asked = words.listing(
            f"`{words.in_a_line(name)}={amount:.15g}`" for name, amount in resources.items()
        )
        return (
            f"a worker that has {asked}",
            f"They were submitted with `resources=`, and no worker that was there has {asked}. Dask does not "
            "say so: they wait until such a worker joins.",
            "Start workers that have it, under the same name, or leave `resources=` out:\n\n"
            f"    # dask worker ADDRESS {resources_option(resources)}\n"
            f"    cluster = LocalCluster(resources={resources!r})",
        )
    if bound:
        places = words.listing(f"`{words.in_a_line(str(each))}`" for each in bound[:2])
        return (
            f"{places}{' or others' if len(bound) > 2 else ''}",
            "They may run on these workers or hosts only (`workers=`), and none of them is there any more, "
            "or none has that name.",
            "Let them run elsewhere, too, or name workers that are there:\n\n"
            "    client.submit(f, x, workers=[address], allow_other_workers=True)\n"
            "    list(client.scheduler_info(n_workers=-1)['workers'])",
        )
    return "a worker that may run them", _PAUSED, _START


_EMPTY = "There was no worker in the cluster."
_PAUSED = "Workers were there, but none that took tasks: they were paused or about to leave."
_START = (
    "Look whether workers start, and why they do not, in their logs or those of the job system:\n\n"
    "    client.wait_for_workers(1, timeout=60)\n"
    "    cluster.get_logs()   # Gateway, YARN, queues: the logs of their pods, containers or jobs"
)

NO_WORKER = Rule(
    code="no-worker",
    says="Tasks waited for a worker that may run them: none had the resources or the name asked for.",
    formula=(
        "Tasks that the scheduler holds as `no-worker` for 2 s or more, or any while there is no worker. "
        "Critical where they still waited at the end beside workers, else a warning. Where there was no "
        "worker at all and some came, `cold-start` tells."
    ),
    cost="The time until one might run; a risk where none did.",
    url="https://distributed.dask.org/en/stable/resources.html",
    advice="Workers with the resources and names that tasks ask for, or tasks that ask for less.",
    find=_no_worker,
)
