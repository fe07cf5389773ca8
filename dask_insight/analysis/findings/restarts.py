"""Times in which the cluster was started anew, since somebody asked for it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...timeline import Moments, is_local
from .facts import Facts, is_any
from .finding import Fact, Finding
from .rule import Rule
from .thresholds import Limits


def _restarted(facts: Facts, limits: Limits) -> Iterator[Finding]:
    away = restarts(facts).both(facts.whole)
    lengths = away.stop - away.start
    lost = float(lengths.sum())
    if not len(lengths) or lost < limits["restart.seconds"]:
        return
    most = int(np.argmax(lengths))
    several = f" {len(lengths):,} times" if len(lengths) > 1 else ""
    line = facts.line_after(float(away.stop[most]))
    yield Finding(
        code="restart",
        title=f"The cluster was restarted{several}, which took {words.duration(lost)}",
        start=facts.since(away.start[0]),
        stop=facts.since(away.stop[-1]),
        cost_seconds=lost,
        cost_thread_seconds=lost * facts.threads,
        evidence=(
            Fact("time without workers", lost, "s", limits["restart.seconds"]),
            Fact("restarts", len(lengths), "count"),
            Fact("longest", float(lengths[most]), "s"),
        ),
        why=(
            "A restart ends every worker's process and starts another: until the first was there again "
            "nothing could run, what was in memory is gone, and every module is imported anew"
            + (f". The next computation was asked for by `{line}`." if line else ".")
        ),
        advice=(
            "Keep the workers, and let go of results alone: they leave memory once no future names them.\n\n"
            "    del results  # or client.cancel(futures)\n"
            "    client.run(gc.collect)\n"
            "    # where one worker alone is to blame:\n"
            "    client.restart_workers([address])"
        ),
        url=RESTART.url,
    )


def restarts(facts: Facts) -> Moments:
    """From each restart of the cluster until a worker was there again."""
    events, lanes = facts.read("events"), facts.lanes
    asked = events["time"][is_any(events["kind"], ("restart",))]
    came = [
        joined
        for name, joined in zip(lanes.workers, lanes.joined.tolist(), strict=True)
        if not is_local(name)
    ]
    joined = np.append(np.sort(came), facts.stop)
    back = joined[np.minimum(np.searchsorted(joined, asked, side="right"), len(joined) - 1)]
    return Moments.of(asked, back)


RESTART = Rule(
    code="restart",
    says="The cluster was restarted, and nothing could run until workers were there again.",
    formula=(
        "From each restart that the scheduler tells of until the next worker joins, within the run; together "
        "at least `restart.seconds`."
    ),
    cost="That time: all threads were away.",
    url="https://distributed.dask.org/en/stable/api.html#distributed.Client.restart",
    advice="Let go of results with `del` or `client.cancel`; `client.restart_workers` for one worker.",
    find=_restarted,
)
