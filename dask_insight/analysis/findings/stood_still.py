"""Time in which the computer slept, which is nobody's fault in the program."""

from __future__ import annotations

from collections.abc import Iterator

from ... import words
from .facts import Facts
from .finding import Fact, Finding
from .rule import Rule
from .thresholds import Limits


def _stood_still(facts: Facts, _limits: Limits) -> Iterator[Finding]:
    lasted = facts.still.stop - facts.still.start
    if not len(lasted):
        return
    total, longest = facts.still.seconds, int(lasted.argmax())
    times = (Fact("times", float(len(lasted)), "count"),) if len(lasted) > 1 else ()
    yield Finding(
        code="stood-still",
        severity="info",
        title=f"Everything stood still for {words.duration(total)}",
        start=facts.since(facts.still.start[longest]),
        stop=facts.since(facts.still.stop[longest]),
        cost_seconds=total,
        evidence=(Fact("longest", float(lasted[longest]), "s"), *times),
        why=(
            "No process of this recording ran, and no task began or ended: the computer slept, a virtual "
            "machine was paused, or the processes were stopped, as Ctrl-Z does. All other findings leave "
            "this time out."
        ),
        advice=(
            "Keep the computer awake while it computes; on Linux, and on macOS:\n\n"
            "    systemd-inhibit python program.py\n"
            "    caffeinate -i python program.py"
        ),
        url=STOOD_STILL.url,
    )


STOOD_STILL = Rule(
    code="stood-still",
    says="No process ran for a while: the computer slept, or they were stopped.",
    formula=(
        "Time of 2 s or more, and five times the usual interval, of which there are no samples of any "
        "process that was there, in which each used less than a tenth of a core and no task began or ended. "
        "What other findings look at is without it."
    ),
    cost="That time.",
    url="https://www.freedesktop.org/software/systemd/man/latest/systemd-inhibit.html",
    advice="Keep the computer awake while it computes.",
    find=_stood_still,
)
