"""How workers came to leave with work: they died, or were asked to, or their time was over."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .facts import Facts, is_any


class End(NamedTuple):
    """What is to be said of workers that left in such a way."""

    #: What became of them: ``2 workers …``.
    title: str
    #: '' where their cost decides.
    severity: str
    why: str
    advice: str


DIED = End(
    "died",
    "critical",
    "The scheduler lost them, and nobody had asked them to leave: the process crashed, was killed "
    "(by its nanny or by the system, mostly for memory), or its machine went away. ",
    "Look into the worker's log, and at its memory before it died. If it was killed for memory, "
    "make chunks smaller or give a worker fewer threads; if a library crashes, run that task "
    "alone. Where machines may be taken away, have workers hand over their results first, and "
    "write what is dear to storage:\n\n"
    "    client.retire_workers([address])",
)
TOLD = End(
    "got a signal to end",
    "",
    "Their processes got a signal to end, as batch systems send at the end of a job's time, machines that "
    "are taken away, containers that are moved, and `Ctrl+C`. Dask then ends at once and hands "
    "nothing over. ",
    "Have workers leave of themselves before that, and one after another, or retire them by hand; write what "
    "is dear to storage:\n\n"
    "    # dask worker ADDRESS --lifetime 55m --lifetime-stagger 4m   # of a job that has an hour\n"
    "    client.retire_workers([address])",
)
CLOSED = End(
    "closed at once",
    "",
    "They were asked to close while they had work, as `cluster.scale` to fewer workers does, or a nanny that "
    "gives up on its worker; they ended at once and handed nothing over. ",
    "Have those that are to go hand over their results first, as an adaptive cluster does; where nobody "
    "scales, retire them, and their processes end. Do not call `scale` right after that: it may close others "
    "than have left.\n\n"
    "    cluster.adapt(minimum=2, maximum=2)   # in place of cluster.scale(2); whole jobs of a queue\n"
    "    client.retire_workers(target=2)       # where nobody scales: all but two",
)
LIFETIME = End(
    "came to the end of their lifetime",
    "",
    "Their lifetime (`--lifetime`, `distributed.worker.lifetime`) was over, and nobody could take what they "
    "had: no other worker was left, or those were short of memory or about to end as well. ",
    "Let them end far enough apart, with others that go on, and live longer than what you compute:\n\n"
    "    # dask worker ADDRESS --nworkers 4 --lifetime 55m --lifetime-stagger 15m --lifetime-restart\n"
    "    dask.config.set({'distributed.worker.lifetime.stagger': '15 minutes'})   # before workers start",
)

RESTARTED = End(
    "started anew on request",
    "",
    "They were asked to start anew while they had work, as `client.restart_workers` and plugins that install "
    "packages do; they ended at once and handed nothing over. ",
    "Restart workers before the work begins or when it is done, and register such plugins first:\n\n"
    "    client.register_plugin(PipInstall(packages, restart_workers=True))   # before you compute",
)
SILENT = End(
    "fell silent",
    "critical",
    "For longer than `distributed.scheduler.worker-ttl` they did not say that they were alive, so Dask gave "
    "them up: as where code holds Python's interpreter lock for minutes, a process stands still or swaps, or "
    "the network breaks. ",
    "Look at what ran on them then. Have such code release the lock or run it in a process of its own, give "
    "workers more memory if they swap, or allow more time where it cannot be helped:\n\n"
    "    dask.config.set({'distributed.scheduler.worker-ttl': '30 minutes'})   # before the scheduler starts",
)

#: Reasons of closing that workers and their nannies give where they were asked to.
_ASKED = ("nanny-close", "nanny-close-gracefully", "worker-close")
#: How others begin: of workers that are to start anew, and of those of which nothing is heard.
_TO_RESTART = ("client-restart-workers-", "nanny-restart", "nanny-plugin-")
_UNHEARD = ("worker-ttl-timed-out", "check-worker-ttl-")
#: What became of what they had, where others went on and where nobody did.
ANEW = "What ran there began anew elsewhere, and results that only they held were computed again. "
NOTHING_RAN = "Nothing ran after that: work was left, and no worker came in their place. "


def ends(facts: Facts) -> dict[str, End]:
    """How workers ended that said so, by name."""
    events = facts.read("events")
    found: dict[str, End] = {}
    for row in np.flatnonzero(is_any(events["kind"], ("worker-closing",))).tolist():
        reason = events["message"][row]
        if end := _end(reason):
            found.setdefault(events["source"].names[events["source"].codes[row]], end)
    return found


def _end(reason: str) -> End | None:
    if reason == "worker-lifetime-reached":
        return LIFETIME
    if reason in _ASKED:
        return CLOSED
    if reason.startswith(_TO_RESTART):
        return RESTARTED
    if reason.startswith(_UNHEARD):
        return SILENT
    return TOLD if "signal" in reason else None
