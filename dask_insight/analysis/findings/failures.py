"""Tasks that raised: for good, or until another attempt worked; and those that were rescheduled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...lookup import sorted_set
from ...tables.errors import kind_of, raised_in
from ...tables.named import errors_in_time
from ...timeline import submitted_by_others
from .exits import Exits
from .facts import Facts, is_any
from .finding import Fact, Finding
from .losses import kills_of
from .names import most, quoted, workers_of
from .p2p_ends import Ends, ends_of_p2p
from .rule import Rule
from .suspects import EQUAL_PARTS, larger_inputs
from .thresholds import Limits

#: What Dask says of a task that workers died of.
_KILLED = "KilledWorker"
#: And what is told of one whose inputs no worker has room for.
_NO_ROOM = "larger than the memory limit of the worker"
#: Seconds before its end of which a worker may not have come to tell.
_LAST_WORDS = 2.0
#: Seconds before the end of a run in which a client that leaves has its tasks cancelled.
_LEAVING = 1.0
#: Characters of an exception, and kinds of them, that are told.
_TEXT, _KINDS = 300, 5


def _failed_tasks(facts: Facts, limits: Limits) -> Iterator[Finding]:
    known = facts.attempts
    errors = _errors(facts)
    given_up = np.isin(known.task, list(_killing(errors)))
    bad = (ended_as(facts, "erred") | (known.killed & given_up)) & ~np.isin(known.task, known.task[known.ok])
    rows = np.flatnonzero(bad)
    _, first = np.unique(known.task[rows], return_index=True)
    tasks = rows[first]
    if len(tasks) < limits["failed-tasks.count"]:
        return
    names = most(facts, tasks)
    mine = is_any(facts.prefix, names[:1])
    share = int(mine[tasks].sum()) / max(1, len(sorted_set(known.task[mine])))
    seconds = float(facts.inside[rows].sum())
    # Whoever runs here what killed workers loses his own process.
    theirs = int(np.isin(known.task[tasks], submitted_by_others(facts.read)[0]).sum())
    deadly = bool(np.isin(known.task[tasks], list(_killing(errors))).all())
    too_large = not deadly and all(_NO_ROOM in errors.get(task, "") for task in known.task[tasks].tolist())
    larger = larger_inputs(facts, tasks) if deadly else _inputs(facts, tasks) if too_large else ""
    advice = _TOO_LARGE if too_large else _RAISED_HERE if known.local[tasks].all() else _RAISED
    exits = _exits(facts, rows[known.killed[rows]] if deadly else rows[:0])
    if deadly:
        advice = exits.advice or _DEADLY.format("" if exits.why() else _HOW)
        advice = f"{EQUAL_PARTS}\n\n{advice}" if larger else advice
    yield Finding(
        code="failed-tasks",
        severity=(
            "info"
            if theirs == len(tasks)
            else "critical"
            if share >= limits["failed-tasks.share"]
            else "warning"
        ),
        title=f"{words.count(len(tasks), 'task')} of {quoted(names)} failed for good",
        tasks=names,
        workers=workers_of(facts, rows),
        start=facts.since(known.at("start", rows).min()),
        stop=facts.since(known.at("done", rows).max()),
        cost_thread_seconds=seconds,
        cost_seconds=facts.spread_attempts(rows),
        is_risk=True,
        evidence=(
            Fact("tasks without a result", len(tasks), "count", limits["failed-tasks.count"]),
            Fact(
                f"share of all {names[0] if names else 'tasks'}", share, "share", limits["failed-tasks.share"]
            ),
            Fact("time in them", seconds, "s"),
            *([Fact("of them, submitted by other clients", theirs, "count")] if theirs else []),
            *exits.facts(),
        ),
        why=(
            f"{_NEVER_BEGAN if too_large else _NONE_WORKED} What needs them has no result either."
            f"{exits.why() and f' {exits.why().strip()}'}"
            f"{larger and f' {larger}'}"
            f"{_raised(facts, 'task', known.task[tasks])}"
        ),
        advice=advice,
        url=FAILED_TASKS.url,
    )


def _exits(facts: Facts, rows: np.ndarray) -> Exits:
    """How the workers of killed attempts ended; of those all ended for their memory another finding tells."""
    worker = facts.attempts.worker
    names = [worker.names[code] for code in np.unique(worker.codes[rows]).tolist()]
    for_memory = {kill.worker for kill in kills_of(facts)} if names else set()
    return Exits(facts, () if for_memory.issuperset(names) else names, for_memory)


def _retried_work(facts: Facts, limits: Limits) -> Iterator[Finding]:
    known = facts.attempts
    # When a task fails for good, others of its graph are let go of, and look the same to the scheduler.
    raised = np.flatnonzero(ended_as(facts, "retried") & np.isin(known.run, facts.read("errors")["run"]))
    if len(raised):
        yield _made_again(facts, limits, raised).but(
            title=f"{_attempts(facts, raised)} had to be made again",
            why=(
                "They raised, and Dask tried again as it was told to: "
                f"{_lost(facts, raised)}.{_raised(facts, 'run', known.run[raised])}"
            ),
        )
    sent = np.flatnonzero(ended_as(facts, "rescheduled"))
    # Those that lost what they need before they ran wait for it again, and have cost nothing.
    sent = sent[known.ran[sent]]
    p2p = ends_of_p2p(facts) if len(sent) else Ends(sent, sent)
    first, last = (np.isin(known.task[sent], tasks) for tasks in p2p)
    taken = _taken_back(facts, sent) | (first & ~last)
    placed = last & ~taken
    if len(by_tasks := sent[~taken & ~placed]):
        yield _made_again(facts, limits, by_tasks).but(
            title=_rescheduled(facts, by_tasks),
            why=(
                "They raised `Reschedule`, and Dask ran the tasks again, on any worker: "
                f"{_lost(facts, by_tasks)}."
            ),
            advice=_RESCHEDULED,
        )
    if len(by_loss := sent[taken]):
        # What a lost worker costs is told of it.
        yield _made_again(facts, limits, by_loss).but(
            title=f"{_attempts(facts, by_loss)} {_was(by_loss)} taken back as something they need was lost",
            why=(
                "What they need had gone with a worker, or the P2P shuffle or rechunk that they are part of "
                "began anew, as it does when a worker leaves that takes part. Dask let go of them while they "
                f"ran, and ran them again: {_lost(facts, by_loss)}."
            ),
            advice=_TAKEN_BACK,
            severity="info",
            is_told=False,
        )
    if len(by_dask := sent[placed]):
        # Each output is rescheduled once at most: that there are many says nothing.
        yield _made_again(facts, limits, by_dask).but(
            title=f"{_rescheduled(facts, by_dask)} to place the outputs of P2P",
            why=(
                "A P2P shuffle or rechunk begins each output on any worker; one that belongs on another asks "
                f"the scheduler to be run there, and ends: {_lost(facts, by_dask)}."
            ),
            advice=_PLACED,
            severity="",
            is_told=False,
        )


def _made_again(facts: Facts, limits: Limits, rows: np.ndarray) -> Finding:
    """What attempts cost whose tasks had to run again; with the advice for those that raised."""
    known, length = facts.attempts, facts.inside
    seconds = float(length[rows].sum())
    names = _names_of(facts, rows)
    mine = is_any(facts.prefix, names[:1])
    share = int(mine[rows].sum()) / max(1, int(mine.sum()))
    lost = seconds / max(float(length.sum()), 1e-9)
    much = share >= limits["retried-work.share"] or lost >= limits["retried-work.time"]
    return Finding(
        code="retried-work",
        severity=("critical" if lost >= limits["retried-work.critical"] else "warning") if much else "info",
        title="",
        tasks=names,
        workers=workers_of(facts, rows),
        start=facts.since(known.at("start", rows).min()),
        stop=facts.since(known.at("done", rows).max()),
        cost_thread_seconds=seconds,
        cost_seconds=facts.spread_attempts(rows),
        is_told=much,
        evidence=(
            Fact("attempts made again", len(rows), "count"),
            Fact(
                f"share of attempts at {names[0] if names else 'tasks'}",
                share,
                "share",
                limits["retried-work.share"],
            ),
            Fact("share of the time in functions", lost, "share", limits["retried-work.time"]),
        ),
        why="",
        advice=_RETRIED,
        url=RETRIED_WORK.url,
    )


def _names_of(facts: Facts, rows: np.ndarray) -> tuple[str, ...]:
    return most(facts, rows, facts.inside[rows] + 1e-3)


def _attempts(facts: Facts, rows: np.ndarray) -> str:
    return f"{words.count(len(rows), 'attempt')} at {quoted(_names_of(facts, rows))}"


def _was(rows: np.ndarray) -> str:
    return "was" if len(rows) == 1 else "were"


def _rescheduled(facts: Facts, rows: np.ndarray) -> str:
    return f"{_attempts(facts, rows)} {_was(rows)} rescheduled"


def _lost(facts: Facts, rows: np.ndarray) -> str:
    return f"{words.duration(float(facts.inside[rows].sum()))} of thread time gave nothing"


def _taken_back(facts: Facts, rows: np.ndarray) -> np.ndarray:
    """Which of some attempts did not ask to run again, as their workers tell: Dask let go of them.

    A worker that left soon after may not have come to tell.
    """
    known, executions = facts.attempts, facts.read("executions")
    ends, left = executions["status"], np.array([facts.left(name) for name in known.worker.names] or [np.inf])
    otherwise = executions["run"][~is_any(ends, ("", "rescheduled"))]
    untold = ~np.isin(known.run[rows], executions["run"]) & bool({*ends.names} - {""})
    untold &= left[known.worker.codes[rows]] - known.at("done", rows) < _LAST_WORDS
    return np.asarray(np.isin(known.run[rows], otherwise) | untold)


def ended_as(facts: Facts, *statuses: str) -> np.ndarray:
    """Which attempts ended in one of these ways; a running one did in none."""
    return is_any(facts.attempts.status, statuses)


def left_waiting(facts: Facts) -> np.ndarray:
    """Which attempts were cancelled as the run ended: by a client that left, as they still ran or waited."""
    return ended_as(facts, "cancelled") & (facts.attempts.done >= facts.stop - _LEAVING)


def _errors(facts: Facts) -> dict[int, str]:
    """The first exception of each task, that which came first before the others."""
    columns = facts.read("errors")
    found: dict[int, str] = {}
    for row in errors_in_time(facts.read).tolist():
        task = int(columns["task"][row])
        if task not in found:
            found[task] = columns["exception"][row]
    return found


def _killing(errors: dict[int, str]) -> set[int]:
    """Tasks that Dask gave up as too many workers died with them."""
    return {task for task, text in errors.items() if _KILLED in text}


def _inputs(facts: Facts, rows: np.ndarray) -> str:
    """How large the inputs of the tasks of some attempts are, in a sentence; '' if nobody knows."""
    nbytes = float(np.nan_to_num(facts.input_bytes()[rows]).max(initial=0.0))
    return f"It needs {words.size(nbytes)} at once." if nbytes else ""


def _raised(facts: Facts, column: str, ids: np.ndarray) -> str:
    """What tasks or attempts with these ids raised, of each the first, by kind; '' if nobody knows."""
    errors = facts.read("errors")
    trace = errors["traceback"]
    known, wanted = errors[column], set(ids.tolist())
    kinds: dict[str, list[tuple[str, str]]] = {}
    for row in errors_in_time(facts.read).tolist():
        if (each := int(known[row])) in wanted and (text := errors["exception"][row].strip()):
            wanted.remove(each)
            told = text, trace.names[trace.codes[row]]
            kinds.setdefault(kind_of(*told) or text.splitlines()[0], []).append(told)
    common = sorted(kinds.items(), key=lambda each: -len(each[1]))
    if len(common) < 2:
        return "".join(f" The first of them: {_shown(kind, *told[0])}" for kind, told in common)
    lines = [f"{len(told):,} {words.TIMES} {_shown(kind, *told[0])}" for kind, told in common[:_KINDS]]
    rest = len(common) - _KINDS
    more = [f"{words.count(rest, 'more kind')}; `run.errors` has all."] if rest > 0 else []
    return "\n\n".join((" By kind, with the first of each:", *lines, *more))


def _shown(kind: str, text: str, traceback: str) -> str:
    """An exception in a line, and where it was raised."""
    line = text.splitlines()[0]
    line = line if kind in line else f"{kind}: {line}"
    short = line if len(line) <= _TEXT else line[: _TEXT - 1] + "…"
    return ", ".join(filter(None, (short, raised_in(traceback))))


_RAISED = (
    "Read the traceback, and run the task here, in a debugger:\n\n"
    "    run.errors[['key', 'exception', 'traceback']]\n"
    "    client.recreate_error_locally(future)\n\n"
    "Where single failures are to be expected, catch them in the function and return what tells of "
    "them, or have Dask try again: `client.submit(f, x, retries=2)`."
)
_RAISED_HERE = (
    "Read the traceback, and run it in one thread, where debuggers follow:\n\n"
    "    run.errors[['key', 'exception', 'traceback']]\n"
    "    x.compute(scheduler='sync')   # in `python -m pdb program.py`, or before `%debug` in a notebook\n\n"
    "Where single failures are to be expected, catch them in the function and return what tells of them."
)
_TOO_LARGE = (
    "Do not ask for a whole collection in one piece, as `x.compute()` does: reduce it on the workers, have "
    "them write it, fetch a part; or have one worker with enough memory.\n\n"
    "    x.mean(axis=0).compute()            # instead of x.compute().mean(axis=0)\n"
    "    x.to_zarr(url); df.to_parquet(url)"
)
_NEVER_BEGAN = (
    "Dask did not run them: the inputs of one, which have to be on one worker together, are larger than the "
    "memory of the worker that it was to run on."
)
_NONE_WORKED = "Their function raised, or every worker that tried them died, and no attempt worked."
_DEADLY = (
    "Workers died with these tasks: there is no traceback. Read what the workers said last, and how much "
    "memory they had; give such a task more memory, or less to do:\n\n"
    "    run.workers[['worker', 'left', 'memory_limit']]\n"
    "{}"
    "    # workers that one may take along, before there is a scheduler: 1 gives such a task up sooner\n"
    "    dask.config.set({{'distributed.scheduler.allowed-failures': 1}})"
)
_HOW = "    client.get_worker_logs(nanny=True)   # how they ended\n"
_RETRIED = (
    "Find out why they raise: `run.errors` has the traceback of every attempt. Try again only what "
    "failed, inside the function, and not the whole task, or cut the task so that little is "
    "lost:\n\n"
    "    for wait in (0.1, 1, 10):\n"
    "        try:\n"
    "            return send(part)\n"
    "        except ConnectionError:\n"
    "            time.sleep(wait)"
)
_RESCHEDULED = (
    "Raise `Reschedule` before the work begins and not after it, or say beforehand where a task can run, so "
    "that it is sent there at once:\n\n"
    "    client.submit(f, x, workers=[address])\n"
    "    client.submit(f, x, resources={'GPU': 1})"
)
_TAKEN_BACK = (
    "Find out why workers left, see `memory-pressure` and `worker-lost`. P2P moves all its data again then."
)
_PLACED = (
    "That is how P2P works. Ask for fewer and larger chunks or partitions where it costs much: each is "
    "placed once.\n\n"
    "    dask.config.set({'array.chunk-size': '256MiB'})\n"
    "    df = df.shuffle('key', npartitions=100)"
)

FAILED_TASKS = Rule(
    code="failed-tasks",
    says="Tasks ended without a result.",
    formula=(
        "`failed-tasks.count` tasks or more whose last attempt raised, or that Dask gave up as their "
        "workers died. Critical if that is `failed-tasks.share` of a task name or more."
    ),
    cost="Thread-seconds in the attempts / threads; told whatever that is.",
    url="https://docs.dask.org/en/stable/how-to/debug.html",
    advice="Read the traceback in `run.errors`, mend the function, or catch what may be left out.",
    find=_failed_tasks,
)
RETRIED_WORK = Rule(
    code="retried-work",
    says="Tasks raised, or asked to be rescheduled, and were run again.",
    formula=(
        "Attempts that raised and were retried, or that raised `Reschedule`: `retried-work.share` of all "
        "attempts at a task name, or `retried-work.time` of the time in functions; critical from "
        "`retried-work.critical` of that time. P2P reschedules outputs to place them: of these only their "
        "cost counts. What Dask takes back as something it needs was lost is told of the lost worker."
    ),
    cost="Their thread-seconds / threads.",
    url="https://distributed.dask.org/en/stable/resilience.html",
    advice="Try again inside of the function, and only what failed.",
    find=_retried_work,
)
