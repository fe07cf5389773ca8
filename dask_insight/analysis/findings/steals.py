"""Tasks that were moved to idle workers, where their data took longer to come than they took to compute."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...timeline import Moments
from .facts import Facts, is_any
from .failures import ended_as
from .finding import Fact, Finding
from .names import by_code, most, quoted, workers_of
from .rule import Rule
from .thresholds import Limits

#: What Dask takes tasks of a name to last of which none has ended.
_DURATIONS = "distributed.scheduler.default-task-durations."


def _stealing(facts: Facts, limits: Limits) -> Iterator[Finding]:
    known = facts.attempts
    after = _after(facts, np.flatnonzero(ended_as(facts, "stolen")))
    if len(after) < limits["stealing.count"]:
        return
    waited = np.nan_to_num(known.at("inputs", after) - known.at("received", after))
    harmed = waited > facts.length[after]
    share = float(harmed.mean())
    if share < limits["stealing.share"] or int(harmed.sum()) < limits["stealing.count"]:
        return
    rows = after[harmed]
    seconds = _lost(facts, rows, (waited - facts.length[after])[harmed])
    names = most(facts, rows, waited[harmed])
    yield Finding(
        code="stealing",
        title=f"{len(rows):,} moved tasks of {quoted(names)} waited longer for data than they computed",
        tasks=names,
        workers=workers_of(facts, rows),
        start=facts.since(known.at("received", rows).min()),
        stop=facts.since(known.at("done", rows).max()),
        cost_thread_seconds=seconds,
        cost_seconds=facts.spread(seconds),
        evidence=(
            Fact("tasks that were moved and ran", len(after), "count", limits["stealing.count"]),
            Fact("of these, waited longer than they computed", share, "share", limits["stealing.share"]),
            Fact("time that they waited", float(waited[harmed].sum()), "s"),
            Fact("beyond computing, with idle threads beside them", seconds, "s"),
        ),
        why=(
            "Dask moves tasks from busy workers to idle ones, where it expects that to be sooner. Here it "
            f"took {words.duration(float(np.median(waited[harmed])))} to bring a task's data, and "
            f"{words.duration(float(np.median(facts.length[rows])))} to compute it: sizes of results or "
            "times of tasks are not what Dask believes."
        ),
        advice=(
            "Tell Dask what it cannot know: how large results of your own types are, how long tasks of a "
            "name take before the first has ended; keep tasks where their data are; or turn stealing off.\n\n"
            "    def __sizeof__(self): return self.values.nbytes   # in classes of your own\n"
            "    client.submit(f, x, workers=[address])\n"
            "    # before there is a cluster\n"
            f"    dask.config.set({_duration(facts, rows, names[:1])})\n"
            "    dask.config.set({'distributed.scheduler.work-stealing': False})"
        ),
        url=STEALING.url,
    )


def _duration(facts: Facts, rows: np.ndarray, names: tuple[str, ...]) -> dict[str, str]:
    """The setting of how long tasks of a name take, by some attempts."""
    mine = rows[is_any(facts.prefix, names)[rows]] if names else rows
    usual = round(1000 * float(np.median(facts.length[mine])))
    # A dot ends the name of a setting.
    name = names[0] if names and "." not in names[0] else "NAME"
    return {f"{_DURATIONS}{name}": f"{max(1, usual)} ms"}


def _after(facts: Facts, stolen: np.ndarray) -> np.ndarray:
    """The attempt that ran after each that was moved, on another worker."""
    known = facts.attempts
    order = np.lexsort((known.done, known.task))
    place = np.empty(len(order), "i8")
    place[order] = np.arange(len(order))
    following = place[stolen] + 1
    stolen, following = stolen[following < len(order)], following[following < len(order)]
    rows = order[following]
    fits = (known.task[rows] == known.task[stolen]) & facts.good[rows]
    fits &= known.worker.codes[rows] != known.worker.codes[stolen]
    return np.unique(rows[fits])


def _lost(facts: Facts, rows: np.ndarray, beyond: np.ndarray) -> float:
    """Seconds of some attempts' waits, or of their workers' threads that were idle meanwhile, if less.

    What is fetched while the threads compute something else keeps none of them.
    """
    known, idle = facts.attempts, facts.budget.part("data")
    idle_on = by_code(facts.lanes.worker[idle.lane])
    lost = 0.0
    for code, those in by_code(known.worker.codes[rows]).items():
        threads = idle_on.get(facts.code_of.get(known.worker.names[code], -1), those[:0])
        waits = Moments.of(known.at("received", rows[those]), known.at("inputs", rows[those]))
        lost += min(float(beyond[those].sum()), facts.within([idle.take(threads)], waits))
    return lost


STEALING = Rule(
    code="stealing",
    says="Tasks were moved to idle workers, and waited there for their data longer than they computed.",
    formula=(
        "Attempts after one that was stolen, on another worker, whose inputs took longer to arrive than the "
        "function ran: `stealing.count` or more, and `stealing.share` of all that were moved and ran."
    ),
    cost=(
        "Time by which they waited longer than they computed, no more than threads of their workers were "
        "idle for data meanwhile, over all threads."
    ),
    url="https://distributed.dask.org/en/stable/work-stealing.html",
    advice="Right sizes of results, tasks bound to their data, or no stealing.",
    find=_stealing,
)
