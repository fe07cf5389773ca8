"""How long tasks held threads while they waited for others: for results, an actor, a queue or an event."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .seen_in import below, share_in

if TYPE_CHECKING:
    from .facts import Facts


class Kind(NamedTuple):
    """What a task waits for, and in which functions it does."""

    what: str
    file: re.Pattern[str]
    function: re.Pattern[str]
    advice: str


def _in(module: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|[\\/])distributed[\\/]{module}\.py$")


_ANY = re.compile("")
CALLS = "calls of an actor"
RESULTS = Kind(
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
    RESULTS,
    Kind(
        CALLS,
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


class WaitsForOthers(NamedTuple):
    """How long tasks of each name waited so."""

    #: Share of the samples' time of each name, by code: of each kind.
    by_kind: np.ndarray
    #: Thread-seconds of each name, and their share of the time for which it held threads.
    seconds: np.ndarray
    share: np.ndarray


def waits_for_others(facts: Facts) -> WaitsForOthers:
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
        return WaitsForOthers(shares, none, none)
    known, codes = facts.attempts, facts.prefix.codes
    ran = np.flatnonzero(known.ran)
    whole = np.bincount(codes[ran], known.at("stop", ran) - known.at("start", ran), len(facts.names))
    held = np.bincount(codes, facts.length, len(facts.names))
    # Who had given its thread back waited, and held none.
    waited = np.minimum(shares.sum(axis=0), 1.0) * whole - np.maximum(whole - held, 0.0)
    seconds = np.clip(waited, 0.0, held)
    share = np.divide(seconds, held, out=np.zeros(len(held)), where=held > 0)
    return WaitsForOthers(shares, seconds, share)
