"""Tasks that held threads while they waited for others: for results, an actor, a queue or an event."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ... import words
from .facts import Facts, is_any
from .finding import Fact, Finding
from .names import workers_of
from .rule import Rule
from .seen_in import below, share_in
from .thresholds import Limits


class Kind(NamedTuple):
    """What a task waits for, and in which functions it does."""

    what: str
    file: re.Pattern[str]
    function: re.Pattern[str]
    advice: str


def _in(module: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|[\\/])distributed[\\/]{module}\.py$")


_ANY = re.compile("")
_CALLS = "calls of an actor"
_RESULTS = Kind(
    "results of other tasks",
    _in("client"),
    re.compile(
        r"(?:^|\.)(?:Future\.(?:result|exception|traceback)|Client\.gather|wait|as_completed\.__next__)$"
    ),
    "Hand results over as arguments: then Dask runs a task once they are there. Where a task has to start "
    "others, give its thread back meanwhile; without that, all threads can come to wait for tasks that have "
    "none left to run on, and nothing ever ends:\n\n"
    "    total = client.submit(combine, *parts)        # parts are futures, combine gets their results\n"
    "    with distributed.worker_client() as client:   # in a task: gives the thread back\n"
    "        parts = client.gather(client.map(load, names))",
)
_GIVEN = (
    "Start tasks once there is something for them to do, by handing results over as arguments; or give the "
    "thread back before they wait:\n\n"
    "    distributed.secede()\n"
    "    item = queue.get()"
)
KINDS = (
    _RESULTS,
    Kind(
        _CALLS,
        _in("actor"),
        _ANY,
        "An actor runs one call at a time, on one worker. Make calls shorter and fewer, several of them in "
        "one; have several actors, each for a part; or go on meanwhile and ask for the result later:\n\n"
        "    counts = [client.submit(Counter, actor=True, pure=False) for _ in range(4)]\n"
        "    calls = [counter.add_all(items) for ...]   # one call for many items\n"
        "    results = [call.result() for call in calls]",
    ),
    Kind("a `Queue`", _in("queues"), _ANY, _GIVEN),
    Kind("an `Event`", _in("event"), _ANY, _GIVEN),
    Kind("the value of a `Variable`", _in("variable"), _ANY, _GIVEN),
    Kind("a message (`Pub`, `Sub`)", _in("pubsub"), _ANY, _GIVEN),
)


class HeldUp(NamedTuple):
    """How long tasks of each name waited so."""

    #: Share of the samples' time of each name, by code: of each kind.
    by_kind: np.ndarray
    #: Thread-seconds of each name, and their share of the time for which it held threads.
    seconds: np.ndarray
    share: np.ndarray
    #: Which names did for most of their time.
    mostly: np.ndarray


def held_up(facts: Facts, limits: Limits) -> HeldUp:
    """Which task names waited for others, by their call stacks."""
    stacks = facts.read("stacks")
    file, function = stacks["file"], stacks["function"]
    shares = np.zeros((len(KINDS), len(facts.names)))
    for row, kind in enumerate(KINDS):
        there = np.array([kind.file.search(name) is not None for name in file.names] or [False])
        if not there.any():
            continue
        called = np.array([kind.function.search(name) is not None for name in function.names] or [False])
        shares[row] = share_in(facts, below(stacks, there[file.codes] & called[function.codes]))
    if not shares.any():
        none = np.zeros(len(facts.names))
        return HeldUp(shares, none, none, none >= limits["held-up.share"])
    known, codes = facts.attempts, facts.prefix.codes
    ran = np.flatnonzero(known.ran)
    whole = np.bincount(codes[ran], known.at("stop", ran) - known.at("start", ran), len(facts.names))
    held = np.bincount(codes, facts.length, len(facts.names))
    # Who had given its thread back waited, and held none.
    waited = np.minimum(shares.sum(axis=0), 1.0) * whole - np.maximum(whole - held, 0.0)
    seconds = np.clip(waited, 0.0, held)
    share = np.divide(seconds, held, out=np.zeros(len(held)), where=held > 0)
    return HeldUp(shares, seconds, share, share >= limits["held-up.share"])


def _held_up(facts: Facts, limits: Limits) -> Iterator[Finding]:
    found = held_up(facts, limits)
    codes = facts.prefix.codes
    seconds = np.where(found.mostly, found.seconds, 0.0)
    total = float(seconds.sum())
    if total <= 0 or total < limits["held-up.time"] * facts.offered:
        return
    names = facts.worst(seconds, facts.names)
    code = facts.names.index(names[0])
    kind = KINDS[int(found.by_kind[:, code].argmax())]
    known = facts.attempts
    rows = np.flatnonzero(found.mostly[codes] & known.ran)
    inside = facts.backlog.within(known.at("start", rows), known.at("stop", rows)) * found.share[codes[rows]]
    others = min(float(inside.sum()), total)
    stuck = _stuck(facts, limits, rows) if kind is _RESULTS else 0.0
    share = float(found.share[code])
    title = f"`{names[0]}` waited for {kind.what} in {words.share(share)} of its time, and held threads"
    why = (
        f"{words.listing(f'`{name}`' for name in names[:3])} held threads for {words.duration(total)} "
        "without computing, until what they waited for was there. A thread that waits runs nothing else."
    )
    if stuck:
        title = f"All threads are held by `{names[0]}`, which waits for {kind.what} that none is left for"
        why += f" For the last {words.duration(stuck)} no task began or ended: this does not end by itself."
    yield Finding(
        code="held-up",
        severity="critical" if stuck else "",
        title=title,
        tasks=names,
        workers=workers_of(facts, rows),
        start=facts.since(known.at("start", rows).min()),
        stop=facts.since(known.at("stop", rows).max()),
        cost_thread_seconds=total,
        cost_seconds=stuck or facts.spread(others),
        is_told=True,
        evidence=(
            Fact("share of its samples in such a wait", share, "share", limits["held-up.share"]),
            Fact("threads held meanwhile", total, "s"),
            Fact("of it, while other tasks waited for a thread", others, "s"),
            *(_of_actors(facts) if kind.what == _CALLS else ()),
            *((Fact("since a task began or ended", stuck, "s", limits["held-up.stuck"]),) if stuck else ()),
        ),
        why=why,
        advice=kind.advice,
        url=HELD_UP.url,
    )


def _of_actors(facts: Facts) -> Iterator[Fact]:
    """How long calls of actors ran, and waited for one another, where that was recorded."""
    metrics = facts.read("metrics")
    mine = is_any(metrics["context"], ("actor",)) & is_any(metrics["unit"], ("seconds",))
    for activity, said in (
        ("call", "calls of actors ran"),
        ("waiting", "calls of actors waited for one another"),
    ):
        seconds = float(metrics["value"][mine & is_any(metrics["activity"], (activity,))].sum())
        if seconds > 0:
            yield Fact(said, seconds, "s")


def _stuck(facts: Facts, limits: Limits, rows: np.ndarray) -> float:
    """Seconds for which nothing has begun or ended, if such tasks hold all threads to the end; else 0."""
    known = facts.attempts
    running = rows[~known.ok[rows] & ~known.failed[rows]]
    if len(running) < max(1.0, float(facts.threads_by_worker.sum())):
        return 0.0
    over = known.ran & (known.ok | known.failed)
    last = max(float(known.start[known.ran].max()), float(known.stop[over].max(initial=0.0)))
    since = facts.stop - last
    return since if since >= limits["held-up.stuck"] else 0.0


HELD_UP = Rule(
    code="held-up",
    says="Tasks held threads while they waited for others: for results, an actor, a queue, an event.",
    formula=(
        "Task names whose call stacks are, for `held-up.share` of their time, in Dask's waits for results of "
        "other tasks, for calls of actors, or for a `Queue`, an `Event`, a `Variable` or a message; together "
        "`held-up.time` of all thread time. Tasks that had given their thread back hold none. Critical where "
        "such waits for results hold all threads and nothing has begun or ended for `held-up.stuck`: nothing "
        "will."
    ),
    cost=(
        "That time while other tasks waited for a thread, over all threads; where nothing goes on, the time "
        "since then."
    ),
    url="https://distributed.dask.org/en/stable/task-launch.html",
    advice="Hand futures over as arguments; `worker_client` or `secede` in tasks that wait.",
    find=_held_up,
)
