"""How long tasks held threads while they waited for others: for results, an actor, a queue or an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...lookup import ratio
from ...tables.waits import CALLS, KINDS, RESULTS, Kind, in_kind
from .seen_in import share_in

if TYPE_CHECKING:
    from .facts import Facts


_GIVEN = (
    "Start tasks once there is something for them to do, by handing results over as arguments; or give the "
    "thread back before they wait:\n\n"
    "    distributed.secede()\n"
    "    item = queue.get()"
)
_ADVICE = {
    RESULTS: "Hand results over as arguments: then Dask runs a task once they are there. Where a task has to "
    "start others, give its thread back meanwhile; without that, all threads can come to wait for tasks that "
    "have none left to run on, and nothing ever ends:\n\n"
    "    total = client.submit(combine, *parts)        # parts are futures, combine gets their results\n"
    "    with distributed.worker_client() as client:   # in a task: gives the thread back\n"
    "        parts = client.gather(client.map(load, names))",
    CALLS: "An actor runs one call at a time, on one worker. Make calls shorter and fewer, several of them "
    "in one; have several actors, each for a part; or go on meanwhile and ask for the result later:\n\n"
    "    made = [client.submit(Counter, actor=True, pure=False) for _ in range(4)]\n"
    "    counters = client.gather(made)\n"
    "    # one call for many items\n"
    "    calls = [counter.add_all(part) for counter, part in zip(counters, parts)]\n"
    "    results = [call.result() for call in calls]",
}


def advice_on(kind: Kind) -> str:
    """What to do about waits for such a thing."""
    return _ADVICE.get(kind, _GIVEN)


class WaitsForOthers(NamedTuple):
    """How long tasks of each name waited so."""

    #: Share of the samples' time of each name, by code: of each kind.
    by_kind: np.ndarray
    #: Thread-seconds of each name, and their share of the time for which it held threads.
    seconds: np.ndarray
    share: np.ndarray


def waits_for_others(facts: Facts) -> WaitsForOthers:
    """Which task names waited for others, by their call stacks."""
    shares = np.array([share_in(facts, in_kind(facts.read, kind)) for kind in KINDS])
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
    return WaitsForOthers(shares, seconds, ratio(seconds, held))
