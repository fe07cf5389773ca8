"""Workers that were retired while there was work: what they had is handed over, which takes its time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ... import words
from ...timeline import Moments
from .facts import Facts, is_any
from .finding import Fact, Finding
from .names import most, of_workers, quoted, split
from .p2p import began_anew

_RETIRING = "closing_gracefully"


class Retirement(NamedTuple):
    """A worker that was asked to leave, and left; times in seconds since the epoch."""

    worker: str
    asked: float
    left: float
    #: Attempts that it had been given and that never began; those that ran as it left.
    waited: np.ndarray
    cut: np.ndarray
    #: Attempts that made results again that had been lost.
    again: np.ndarray
    #: Thread-seconds that it was idle beside tasks that waited for a thread.
    idle: float
    #: Results that others fetched from it meanwhile: bytes, and seconds.
    moved: float
    moving: float


def retirements(facts: Facts, again: Callable[[str, float], np.ndarray]) -> list[Retirement]:
    """Every worker that was retired; `again` gives what was computed again after a worker had left."""
    retired = _retired(facts)
    if not retired:
        return []
    known, moved = facts.attempts, facts.read("transfers")
    waiting = Moments.together(known.in_blocks("ready", "executing"))
    killed = split(known.worker, np.flatnonzero(of_workers(facts, retired) & known.killed))
    fetched = split(moved["peer"], np.flatnonzero(is_any(moved["direction"], ("in",))))
    none = np.zeros(0, "i8")
    return [
        _retirement(
            facts,
            (worker, asked, left),
            waiting,
            killed.get(worker, none),
            fetched.get(worker, none),
            again(worker, left),
        )
        for worker, (asked, left) in retired.items()
    ]


def retiring(facts: Facts) -> Moments:
    """When workers had been asked to leave, and had not left yet."""
    return Moments.of(*np.array([*_retired(facts).values()], "f8").reshape(-1, 2).T)


def _retired(facts: Facts) -> dict[str, tuple[float, float]]:
    """When each worker that was retired was asked to leave, and had left."""
    events = facts.read("events")
    asked: dict[str, float] = {}
    rows = np.flatnonzero(is_any(events["kind"], ("worker-status",)))
    for row in rows[np.argsort(events["time"][rows], kind="stable")].tolist():
        worker, state = events["source"].names[events["source"].codes[row]], events["message"][row]
        if state.endswith(_RETIRING):
            asked[worker] = float(events["time"][row])
        elif state.startswith(_RETIRING) and not state.endswith(("closing", "closed")):
            # It could not hand over what it had, and went on.
            asked.pop(worker, None)
    return {
        worker: (when, facts.left(worker))
        for worker, when in asked.items()
        if when < facts.left(worker) < np.inf
    }


def _retirement(
    facts: Facts,
    who: tuple[str, float, float],
    waiting: Moments,
    killed: np.ndarray,
    fetched: np.ndarray,
    again: np.ndarray,
) -> Retirement:
    """Of a worker, when it was asked, and had left; with the attempts and the messages that are its own."""
    worker, asked, left = who
    known, lanes, moved = facts.attempts, facts.lanes, facts.read("transfers")
    killed = killed[known.at("done", killed) > asked]
    ran = known.place[killed] >= 0
    here = lanes.worker == (lanes.workers.index(worker) if worker in lanes.workers else -1)
    pieces = [each.take(np.flatnonzero(here[each.lane])) for each in facts.pieces("leaving")]
    start = moved["start"][fetched]
    fetched = fetched[(start >= asked) & (start < left)]
    start, stop = moved["start"][fetched], moved["stop"][fetched]
    return Retirement(
        worker,
        asked,
        left,
        killed[~ran],
        killed[ran],
        again,
        facts.within(pieces, Moments(np.array([asked]), np.array([left])).both(waiting)),
        float(np.nan_to_num(moved["nbytes"][fetched]).sum()),
        Moments.of(start, stop).seconds,
    )


def found(facts: Facts, all_of_them: list[Retirement], url: str) -> Iterator[Finding]:
    """What retiring workers cost, if it cost anything."""
    some = [
        each for each in all_of_them if each.idle > 0 or len(each.cut) or len(each.again) or len(each.waited)
    ]
    if not some:
        return
    cut, again, waited = (
        np.unique(np.concatenate([getattr(each, name) for each in some]))
        for name in ("cut", "again", "waited")
    )
    begun, redone = float(facts.inside[cut].sum()), float(facts.inside[again].sum())
    idle, moved = sum(each.idle for each in some), sum(each.moved for each in some)
    longest = max(some, key=lambda each: each.left - each.asked)
    names = most(facts, np.concatenate([waited, cut, again]))
    seconds = idle + begun + redone
    meanwhile = f"while {quoted(names)} waited there" if len(waited) else "beside tasks that waited"
    if begun + redone > idle:
        rows = np.concatenate([cut, again])
        names = most(facts, rows, facts.inside[rows])
        meanwhile = f"and {quoted(names)} ran again, for {words.duration(begun + redone)}"
    yield Finding(
        code="worker-lost",
        title=(
            f"{words.count(len(some), 'worker')} took {words.duration(longest.left - longest.asked)} to be "
            f"retired, {meanwhile}"
        ),
        tasks=names,
        workers=tuple(each.worker for each in some),
        start=facts.since(min(each.asked for each in some)),
        stop=facts.since(max(each.left for each in some)),
        cost_thread_seconds=seconds,
        cost_seconds=facts.spread(idle) + facts.spread_attempts(np.concatenate([cut, again])),
        evidence=(
            Fact("workers that were retired", len(some), "count"),
            Fact("until the slowest had left", longest.left - longest.asked, "s"),
            Fact("results that others fetched from them meanwhile", moved, "bytes"),
            Fact("time in which they did", sum(each.moving for each in some), "s"),
            Fact("their threads' idle time meanwhile, beside tasks that waited", idle, "s"),
            Fact("tasks that they had been given and never began", len(waited), "count"),
            Fact("tasks that still ran as a worker left, and began anew elsewhere", len(cut), "count"),
            Fact("work done again", begun + redone, "s"),
        ),
        why=_why(facts, some, waited, cut, again),
        advice=_ADVICE,
        url=url,
    )


def _why(facts: Facts, some: list[Retirement], waited: np.ndarray, cut: np.ndarray, again: np.ndarray) -> str:
    named = words.listing(f"`{facts.called(each.worker)}`" for each in some[:3])
    more = f" and {len(some) - 3} more" if len(some) > 3 else ""
    said = (
        f"Asked to leave, by `Client.retire_workers`, by an adaptive cluster or as their lifetime was over: "
        f"{named}{more}. From then on they began no task, and they left once others had what only they had "
        "had in memory."
    )
    if len(waited):
        said += (
            f" {words.count(len(waited), 'task')} that they had been given, and that no idle worker stole, "
            "waited there until then."
        )
    if len(cut):
        said += f" {words.count(len(cut), 'task')} that still ran began anew elsewhere."
    if len(again):
        said += f" {words.count(len(again), 'result')} had to be computed again."
    return f"{said} {began_anew(facts, (each.worker for each in some))}".rstrip()


_ADVICE = (
    "Retire workers between computations, or when they have little in memory and little to do: let go of "
    "results first, or reduce them. Have an adaptive cluster wait longer before it does:\n\n"
    "    del persisted   # what is let go of is not handed over\n"
    "    # looks before a worker may go, one a second where Dask itself decides:\n"
    "    dask.config.set({'distributed.adaptive.wait-count': 20})\n"
    "    cluster.adapt(minimum=2, maximum=20)"
)
