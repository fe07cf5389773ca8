"""What the logs in a cluster dump tell of attempts: the scheduler's transitions and the workers' stories."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import accumulate
from typing import Any, NamedTuple

from .keys import text_of
from .told import listed, number

_NAN = math.nan
#: States of a worker's task in which a thread has it.
_ON_THREAD = ("executing", "long-running")
#: States of one whose result is not wanted any more; its thread goes on.
_ABANDONED = ("cancelled", "resumed")
#: How an attempt ended, by the state that followed.
_ENDS = {"memory": "ok", "error": "erred", "rescheduled": "rescheduled", "released": "cancelled"}
#: Seconds by which the scheduler's and a worker's times of one thing may differ.
_CLOCKS = 0.2
#: Seconds by which Dask's correction of a worker's clock may be wrong.
_CORRECTION = 1.0


class Transition(NamedTuple):
    """A task came from one state to another on the scheduler."""

    key: str
    start: str
    finish: str
    #: What caused it.
    stimulus: str
    when: float


class Span(NamedTuple):
    """A thread of a worker had a task; seconds since the epoch, the stop NaN while it still has it."""

    key: str
    status: str
    start: float
    stop: float

    @property
    def ended(self) -> bool:
        """Whether it did not run any more when the dump was made."""
        return not math.isnan(self.stop)

    def is_of(self, other: Span) -> bool:
        """Whether this is the same attempt at the same task, as another account has it."""
        ends, others = (math.inf if math.isnan(each.stop) else each.stop for each in (self, other))
        return self.start <= others + _CORRECTION and other.start <= ends + _CORRECTION


class Seen:
    """Attempts at a task on a worker that another dump told of."""

    def __init__(self, told: Iterable[Span]) -> None:
        found = sorted(told, key=lambda each: each.start)
        self._starts = [each.start for each in found]
        #: The latest end up to each: of those that have ended, and of all.
        self._ended, self._any = (
            list(accumulate((each.stop if each.ended else running for each in found), max))
            for running in (-math.inf, math.inf)
        )

    def has(self, span: Span) -> bool:
        """Whether an attempt is among them; what ran then may have ended since."""
        count = bisect_right(self._starts, (span.stop if span.ended else math.inf) + _CORRECTION)
        latest = self._ended if span.ended else self._any
        return count > 0 and span.start <= latest[count - 1] + _CORRECTION


class Held(NamedTuple):
    """What a worker still knows of the last attempts at a task that it has."""

    #: When their functions ran.
    functions: list[Span]
    #: What was done around them: action, start and stop.
    around: list[tuple[str, float, float]]

    @classmethod
    def of(cls, key: str, told: Mapping[str, Any]) -> Held:
        """What a worker's dump tells of a task."""
        found = Held([], [])
        status = "erred" if told.get("state") == "error" else "ok"
        for each in listed(told.get("startstops")):
            if isinstance(each, dict) and number(each.get("start")) <= number(each.get("stop")):
                action, start, stop = str(each.get("action")), number(each["start"]), number(each["stop"])
                if action == "compute":
                    found.functions.append(Span(key, status, start, stop))
                else:
                    found.around.append((action, start, stop))
        return found


class Moments:
    """When the scheduler's log says that things happened, by key, in the order of time."""

    def __init__(self, transitions: Iterable[Transition]) -> None:
        self.wanted: defaultdict[str, list[float]] = defaultdict(list)
        self.ready: defaultdict[str, list[float]] = defaultdict(list)
        self.sent: defaultdict[str, list[float]] = defaultdict(list)
        self.ended: defaultdict[str, list[float]] = defaultdict(list)
        #: When a graph came and its keys, by what the scheduler calls that.
        self.graphs: dict[str, tuple[float, list[str]]] = {}
        for key, start, finish, stimulus, when in transitions:
            if stimulus.startswith("update-graph") and start == "released":
                self.wanted[key].append(when)
                self.graphs.setdefault(stimulus, (when, []))[1].append(key)
            if start == "waiting":
                self.ready[key].append(when)
            if finish == "processing":
                self.sent[key].append(when)
            elif start == "processing":
                self.ended[key].append(when)
        for told in (self.wanted, self.ready, self.sent, self.ended):
            for moments in told.values():
                moments.sort()


def transition(entry: Any) -> Transition | None:
    """An entry of the scheduler's log; None if it makes no sense."""
    key, start, finish, *_, stimulus, moment = entry
    when = number(moment)
    return (
        None if math.isnan(when) else Transition(text_of(key), str(start), str(finish), str(stimulus), when)
    )


def story(entry: Any) -> tuple[str, str, float] | None:
    """Key, state that it came to, and when, of an entry of a worker's log; None if it is no transition."""
    if len(entry) != 7:
        return None
    key, _, _, finish, _, _, moment = entry
    when = number(moment)
    return None if math.isnan(when) else (text_of(key), str(finish), when)


def before(moments: Sequence[float], moment: float) -> float:
    """The last of sorted moments that is not after one, as far as clocks can tell; NaN if there is none."""
    if len(moments) == 1:
        return moments[0]
    place = bisect_right(moments, moment + _CLOCKS)
    return moments[place - 1] if place else _NAN


def after(moments: Sequence[float], moment: float) -> float:
    """The first of sorted moments that is not before one, as far as clocks can tell; NaN if there is none."""
    if len(moments) == 1:
        return moments[0]
    place = bisect_left(moments, moment - _CLOCKS)
    return moments[place] if place < len(moments) else _NAN


def spans(held: Mapping[str, Held], log: Iterable[tuple[str, str, float]], moments: Moments) -> list[Span]:
    """What a worker's threads did.

    Parameters
    ----------
    held
        The worker's tasks by key. When their functions ran stands for what the log tells of them last.
    log
        Entries as `story` gives them.
    moments
        The scheduler's word, by which the worker's clock is set right.
    """
    found: list[Span] = []
    begun: dict[str, float] = {}
    for key, finish, moment in log:
        if finish in _ON_THREAD:
            begun.setdefault(key, moment)
        elif finish not in _ABANDONED and key in begun:
            begin = begun.pop(key)
            found.append(Span(key, _ENDS.get(finish, "cancelled"), begin, max(begin, moment)))
    found += [Span(key, "", begin, _NAN) for key, begin in begun.items()]
    shift = _shift(found, moments)
    found = [Span(key, status, start + shift, stop + shift) for key, status, start, stop in found]
    exact = {key: list(told.functions) for key, told in held.items()}
    # What is held is of the last attempt that ended, however far Dask's correction of the clock is off.
    for place in range(len(found) - 1, -1, -1):
        span = found[place]
        if span.status in ("ok", "erred") and exact.get(span.key):
            found[place] = exact[span.key].pop()
    return [*found, *(span for rest in exact.values() for span in rest)]


def _shift(found: Iterable[Span], moments: Moments) -> float:
    """Seconds by which a worker's clock contradicts the scheduler's: nothing starts before it was sent."""
    least, most = -math.inf, math.inf
    for span in found:
        sent, ended = moments.sent.get(span.key, ()), moments.ended.get(span.key, ())
        if len(sent) == 1:
            least = max(least, sent[0] - span.start)
        if len(ended) == 1 and span.ended:
            most = min(most, ended[0] - span.stop)
    if least > most:
        return 0.0
    return least if least > 0 else min(most, 0.0)


def lanes(spans: Iterable[Span]) -> dict[Span, str]:
    """A thread for each span, as dumps do not tell which: the lowest number that is free."""
    found: dict[Span, str] = {}
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    for span in sorted(spans, key=lambda each: each.start):
        # What ends and what begins next are logged one after the other; functions run 1 ms beside that.
        while busy and busy[0][0] <= span.start + 1e-3:
            heappush(free, heappop(busy)[1])
        lane = heappop(free) if free else len(busy)
        heappush(busy, (span.stop if span.ended else math.inf, lane))
        found[span] = str(lane + 1)
    return found
