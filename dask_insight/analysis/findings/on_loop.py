"""Functions seen on an event loop that are no part of Dask: plugins, preloads, coroutines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...tables.stacks import imported, outermost
from ...timeline import Moments
from .building import intake
from .facts import Facts, function_at
from .imports_on_loop import sampled
from .thresholds import Limits

#: Share of the first function's time from which another is named, and how many are.
_LEAST, _MOST = 0.2, 2
#: Share of what is lost from which such functions are to blame.
HELD_UP = 0.5
OFF_THE_LOOP = (
    "Have it only note down what there is to do, and do that on a thread of its own, in a process, or less "
    "often; or do without it. It is a plugin, a preload, what `client.run_on_scheduler` was given, or a "
    "coroutine of a program in whose event loop the scheduler runs (`asynchronous=True`).\n\n"
    "    self.todo.put(key)   # a queue.SimpleQueue, from which a thread of the plugin takes\n"
    "    client.unregister_scheduler_plugin(name)\n"
    "    await asyncio.to_thread(compute, result)   # in a coroutine"
)


class OnLoop(NamedTuple):
    """What was seen on an event loop that is no part of Dask."""

    #: When.
    when: Moments
    #: Share of the loop's time in which it was, 0 to 1.
    share: float
    #: The first of its functions, most seen first, each with its file and the line that ran for longest.
    functions: tuple[str, ...]


def on_loop(facts: Facts, process: str, within: Moments) -> OnLoop:
    """What no part of Dask did at some moments on the event loop of a process, as far as it was sampled."""
    stacks, seen = facts.read("stacks"), sampled(facts, process, within)
    start, stop, seconds = seen.start, seen.stop, seen.seconds
    # What modules do when they are imported is told of the import.
    frames = np.where(imported(stacks) < 0, outermost(stacks, on_loop=True), -1)
    first = np.append(frames, -1)[seen.row]
    own = first >= 0
    if not own.any():
        return OnLoop(Moments.of(start[:0], stop[:0]), 0.0, ())
    spent: dict[tuple[str, str], dict[int, float]] = {}
    for row in np.unique(first[own]).tolist():
        name, file = (stacks[column].names[stacks[column].codes[row]] for column in ("function", "file"))
        lines, line = spent.setdefault((name, file), {}), int(stacks["line"][row])
        lines[line] = lines.get(line, 0.0) + float(seconds[first == row].sum())
    whole = {function: sum(lines.values()) for function, lines in spent.items()}
    most = sorted(whole, key=lambda function: -whole[function])
    named = [function for function in most[:_MOST] if whole[function] >= _LEAST * whole[most[0]]]
    return OnLoop(
        Moments.of(start[own], stop[own]).both(within),
        float(seconds[own].sum() / seconds.sum()),
        tuple(
            function_at(name, file, max(lines, key=lambda line: lines[line]))
            for (name, file), lines in ((function, spent[function]) for function in named)
        ),
    )


def holds_up_tasks(facts: Facts, limits: Limits) -> bool:
    """Whether tasks waited for the scheduler mostly for such functions; see `scheduler-bound`."""
    waited = facts.pieces("scheduler")
    held = facts.within(waited, on_loop(facts, "scheduler", facts.whole).when.without(intake(facts)))
    share, much = limits["scheduler-bound.share"] * facts.offered, HELD_UP * facts.spent("scheduler")
    return held > 0 and held >= max(share, much)
