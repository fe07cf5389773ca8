"""Results that could not be pickled, so that nobody else could have them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ... import words
from ...columns import forget
from ...lookup import Lookup, is_any
from .facts import Facts
from .failures import left_waiting
from .finding import Fact, Finding
from .names import most, quoted
from .rule import Rule
from .thresholds import Limits

#: What a process logs that could not pickle something, before that as it writes itself.
_FAILED = "distributed.protocol.pickle: Failed to serialize "
#: What that tells of its type, or else of the part that could not be pickled.
_TYPE = re.compile(r"<(?:(?:un)?locked )?([\w.]+) object\b|([\w.]+)\(")
_PART = re.compile(r"cannot pickle '([\w.]+)' object")
_BRACKETS = {"{": "dict", "[": "list", "(": "tuple"}
#: Graphs are packed so, too, and types of results: their failures are told to who sent them, or harmless.
_OTHERS = ("LLGExpr(", "HLG", "<class ")
_ERROR = re.compile(r"[\w.]+(?:Error|Exception)\b")
#: Most messages that are read, and signs that are told of one.
_READ, _LONGEST = 1_000, 120


def _unsent(facts: Facts, limits: Limits) -> Iterator[Finding]:
    events = facts.read("events")
    logged = is_any(events["kind"], ("log",)) & is_any(events["level"], ("error",))
    rows = np.flatnonzero(logged & is_any(events["source"], facts.workers))[:_READ].tolist()
    kinds = {row: kind for row in rows if (kind := _kind(str(events["message"][row])))}
    results = _results(facts, {*kinds.values()})
    if not len(results):
        return
    mine = np.array([*kinds])
    names, reason = most(facts, results), _reason(str(events["message"][mine[0]]))
    waited = (
        _waited(facts, results) if facts.stop - events["time"][mine[0]] >= limits["held-up.stuck"] else ()
    )
    yield Finding(
        code="unsent-results",
        severity="critical" if len(waited) else "warning",
        title=f"Results of {quoted(names)} cannot be sent{reason and ': '}{reason}",
        tasks=names,
        workers=tuple(dict.fromkeys(events["source"].names[code] for code in events["source"].codes[mine])),
        start=facts.since(events["time"][mine].min()),
        stop=facts.since(facts.stop if len(waited) else events["time"][mine].max()),
        cost_seconds=0.0,
        is_risk=True,
        evidence=(
            Fact("times that pickling failed", len(mine), "count"),
            *([Fact("tasks that needed them and never ran", len(waited), "count")] if len(waited) else []),
        ),
        why=(
            "The function worked, but what it returned cannot leave the process that made it: a client that "
            "asks for it gets an error, and a task on another worker that needs it waits, without one. Nor "
            f"can it go to disk where memory is short.{_wait(facts, waited)}"
        ),
        advice=(
            "Return what can be pickled: numbers, arrays, frames, lists of these. Locks, generators, open "
            "files and connections cannot: make them where they are used, or turn them into data.\n\n"
            "    return list(generator)   # instead of the generator\n"
            "    return path              # instead of the open file\n"
            "    distributed.protocol.pickle.dumps(f(x))   # tries here what a cluster has to do"
        ),
        url=UNSENT_RESULTS.url,
    )


def _kind(message: str) -> str:
    """The type of what could not be pickled, or of its part that could not; '' if it is no result."""
    thing = message.removeprefix(_FAILED)
    if thing == message or thing.startswith(_OTHERS):
        return ""
    if found := _TYPE.match(thing):
        return found[1] or found[2]
    part = _PART.search(_reason(message))
    return _BRACKETS.get(thing[:1]) or (part[1] if part else "")


def _reason(message: str) -> str:
    """The error, in a line; '' if there is none."""
    lines = [line for line in map(words.in_a_line, message.splitlines()) if _ERROR.match(line)]
    return words.short(lines[-1], _LONGEST) if lines else ""


def _results(facts: Facts, kinds: set[str]) -> np.ndarray:
    """Attempts whose results are of such types, by their whole names or the last part."""
    table, known = facts.read("attempts"), facts.attempts
    names = [name for name in table["typename"].names if {name, name.rpartition(".")[2]} & kinds]
    mine = table["run"][is_any(table["typename"], names)]
    return np.flatnonzero(known.ok & np.isin(known.run, mine))


def _waited(facts: Facts, results: np.ndarray) -> np.ndarray:
    """Tasks that needed some results and waited to the end; none of a part that was cut out of a run."""
    known, edges = facts.attempts, facts.read("edges")
    if facts.part[1] < np.inf:
        return np.zeros(0, "u4")
    needs = np.unique(edges["task"][np.isin(edges["dependency"], known.task[results])])
    forget(edges)
    over = ((known.ok | known.failed) & ~left_waiting(facts)) | known.ran
    return needs[~np.isin(needs, known.task[over])]


def _wait(facts: Facts, tasks: np.ndarray | tuple[()]) -> str:
    if not len(tasks):
        return ""
    rows = Lookup(facts.read("graph")["task"]).rows(np.asarray(tasks))
    prefix = facts.prefix_of(rows[rows >= 0])
    names = tuple(dict.fromkeys(prefix.names[code] for code in prefix.codes.tolist()))
    return f" {words.count(len(tasks), 'task')} of {quoted(names)} waited for them to the end."


UNSENT_RESULTS = Rule(
    code="unsent-results",
    says="Results could not be pickled: neither clients nor other workers could have them.",
    formula=(
        "Errors that workers logged where they could not pickle something of a type that results are of. "
        "Critical where tasks that needed one waited for `held-up.stuck` after that, to the end of the run."
    ),
    cost="None: what is lost are the results.",
    url="https://distributed.dask.org/en/stable/serialization.html",
    advice="Return data; make locks, connections and open files where they are used.",
    find=_unsent,
)
