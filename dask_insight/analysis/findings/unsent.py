"""Results that could not be pickled, so that nobody else could have them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ... import words
from ...columns import forget
from ...lookup import Lookup, is_any
from .facts import Facts
from .finding import Fact, Finding
from .names import most, quoted
from .rule import Rule
from .thresholds import Limits

#: What a process logs that could not pickle something.
_FAILED = re.compile(r"^distributed\.(?:protocol\.pickle: Failed to serialize|worker: Could not serialize) ")
#: How it names the type, of the whole or of a part.
_TYPE = re.compile(r"object of type ([\w.]+)|cannot pickle '([\w.]+)'")
_LONGEST = 120


def _unsent(facts: Facts, limits: Limits) -> Iterator[Finding]:
    events = facts.read("events")
    logged = is_any(events["kind"], ("log",)) & is_any(events["source"], facts.workers)
    rows = [row for row in np.flatnonzero(logged).tolist() if _FAILED.match(events["message"][row])]
    if not rows:
        return
    messages = [str(events["message"][row]) for row in rows]
    where = sorted({events["source"].names[events["source"].codes[row]] for row in rows})
    results = _results(
        facts, {kind for each in messages for found in _TYPE.findall(each) for kind in found if kind}
    )
    waited = _waited(facts, results)
    names = most(facts, results)
    reason = words.short(words.in_a_line(messages[-1].splitlines()[-1].strip()), _LONGEST)
    whose = f"Results of {quoted(names)}" if names else "Some results, or errors,"
    yield Finding(
        code="unsent-results",
        severity="critical" if len(waited) else "warning",
        title=f"{whose} could not be sent: {reason}",
        tasks=names,
        workers=tuple(where),
        start=facts.since(min(events["time"][rows])),
        stop=facts.since(max(events["time"][rows])),
        cost_seconds=0.0,
        is_told=True,
        is_risk=True,
        evidence=(
            Fact("times that sending failed", len(rows), "count"),
            *([Fact("tasks that needed them and never ran", len(waited), "count")] if len(waited) else []),
        ),
        why=(
            "The function worked, but what it returned cannot leave the process that made it: a client that "
            "asks for it gets an error, and a task on another worker that needs it waits, without one."
            f"{_wait(facts, waited)}"
        ),
        advice=(
            "Return what can be pickled: numbers, arrays, frames, lists of these. Locks, generators, open "
            "files and connections cannot: make them where they are used, or turn them into data.\n\n"
            "    return list(generator)           # instead of the generator\n"
            "    return path                      # instead of the open file\n"
            "    pickle.loads(pickle.dumps(f(x)))   # tries here what a cluster has to do"
        ),
        url=UNSENT_RESULTS.url,
    )


def _results(facts: Facts, kinds: set[str]) -> np.ndarray:
    """Attempts whose results are of such types, by their whole names or the last part."""
    table, known = facts.read("attempts"), facts.attempts
    names = [name for name in table["typename"].names if {name, name.rpartition(".")[2]} & kinds]
    mine = table["run"][is_any(table["typename"], names)]
    return np.flatnonzero(known.ok & np.isin(known.run, mine))


def _waited(facts: Facts, results: np.ndarray) -> np.ndarray:
    """Tasks that needed some results and never ran."""
    known, edges = facts.attempts, facts.read("edges")
    needs = np.unique(edges["task"][np.isin(edges["dependency"], known.task[results])])
    forget(edges)
    return needs[~np.isin(needs, known.task[known.ran])]


def _wait(facts: Facts, tasks: np.ndarray) -> str:
    if not len(tasks):
        return ""
    rows = Lookup(facts.read("graph")["task"]).rows(tasks)
    prefix = facts.prefix_of(rows[rows >= 0])
    names = tuple(dict.fromkeys(prefix.names[code] for code in prefix.codes.tolist()))
    return f" So did {words.count(len(tasks), 'task')} of {quoted(names)}, to the end."


UNSENT_RESULTS = Rule(
    code="unsent-results",
    says="Results could not be pickled: neither clients nor other workers could have them.",
    formula=(
        "Errors that workers logged as they pickled results, which are told by the types that these name. "
        "Critical where a task that needed one never ran."
    ),
    cost="None: what is lost are the results.",
    url="https://distributed.dask.org/en/stable/serialization.html",
    advice="Return data; make locks, connections and open files where they are used.",
    find=_unsent,
)
