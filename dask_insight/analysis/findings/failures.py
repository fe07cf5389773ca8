"""Tasks that raised: for good, or until another attempt worked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...lookup import sorted_set
from ...tables.named import errors_in_time
from .facts import Facts, is_any
from .finding import Fact, Finding
from .names import most, named, quoted, workers_of
from .rule import Rule
from .thresholds import Limits

#: What Dask says of a task that workers died of.
_KILLED = "KilledWorker"
_TEXT = 300


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
    mine = named(facts, names[0]) if names else np.zeros(len(bad), bool)
    share = int(mine[tasks].sum()) / max(1, len(sorted_set(known.task[mine])))
    seconds = float(facts.length[rows].sum())
    text = errors.get(int(known.task[tasks[np.argmin(known.at("done", tasks))]]), "")
    # Whoever runs here what killed workers loses his own process.
    deadly = bool(np.isin(known.task[tasks], list(_killing(errors))).all())
    yield Finding(
        code="failed-tasks",
        severity="critical" if share >= limits["failed-tasks.share"] else "warning",
        title=f"{words.count(len(tasks), 'task')} of {quoted(names)} failed for good",
        tasks=names,
        workers=workers_of(facts, rows),
        start=facts.since(known.at("start", rows).min()),
        stop=facts.since(known.at("done", rows).max()),
        cost_thread_seconds=seconds,
        cost_seconds=facts.spread(seconds),
        is_risk=True,
        evidence=(
            Fact("tasks without a result", len(tasks), "count", limits["failed-tasks.count"]),
            Fact(
                f"share of all {names[0] if names else 'tasks'}", share, "share", limits["failed-tasks.share"]
            ),
            Fact("time in them", seconds, "s"),
        ),
        why=(
            "Their function raised, or every worker that tried them died, and no attempt worked; what "
            f"needs them has no result either. {_first(text)}"
        ).strip(),
        advice=_DEADLY if deadly else _RAISED_HERE if known.local[tasks].all() else _RAISED,
        url=FAILED_TASKS.url,
    )


def _retried_work(facts: Facts, limits: Limits) -> Iterator[Finding]:
    known = facts.attempts
    # When a task fails for good, others of its graph are let go of, and look the same to the scheduler.
    raised = np.isin(known.run, facts.read("errors")["run"])
    rows = np.flatnonzero(ended_as(facts, "retried") & raised)
    if not len(rows):
        return
    length = facts.length
    seconds = float(length[rows].sum())
    names = most(facts, rows, length[rows] + 1e-3)
    mine = named(facts, names[0]) if names else np.zeros(len(known.run), bool)
    share = int(mine[rows].sum()) / max(1, int(mine.sum()))
    lost = seconds / max(float(length.sum()), 1e-9)
    errors = _errors(facts)
    tasks = set(known.task[rows].tolist())
    text = next((text for task, text in errors.items() if task in tasks), "")
    much = share >= limits["retried-work.share"] or lost >= limits["retried-work.time"]
    cost = facts.spread(seconds)
    yield Finding(
        code="retried-work",
        severity=("critical" if lost >= limits["retried-work.critical"] else "warning") if much else "info",
        title=f"{words.count(len(rows), 'attempt')} at {quoted(names)} had to be made again",
        tasks=names,
        workers=workers_of(facts, rows),
        start=facts.since(known.at("start", rows).min()),
        stop=facts.since(known.at("done", rows).max()),
        cost_thread_seconds=seconds,
        cost_seconds=cost,
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
        why=(
            f"They raised, and Dask tried again as it was told to: {words.duration(seconds)} of thread time "
            f"gave nothing. {_first(text)}"
        ).strip(),
        advice=(
            "Find out why they raise: `run.errors` has the traceback of every attempt. Try again only what "
            "failed, inside the function, and not the whole task, or cut the task so that little is "
            "lost:\n\n"
            "    for wait in (0.1, 1, 10):\n"
            "        try:\n"
            "            return send(part)\n"
            "        except ConnectionError:\n"
            "            time.sleep(wait)"
        ),
        url=RETRIED_WORK.url,
    )


def ended_as(facts: Facts, *statuses: str) -> np.ndarray:
    """Which attempts ended in one of these ways; a running one did in none."""
    return is_any(facts.attempts.status, statuses)


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


def _first(text: str) -> str:
    lines = text.strip().splitlines()
    if not lines:
        return ""
    line = lines[0] if len(lines[0]) <= _TEXT else lines[0][: _TEXT - 1] + "…"
    return f"The first of them: {line}"


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
_DEADLY = (
    "Workers died with these tasks: there is no traceback. Read what the workers said last, and how much "
    "memory they had; give such a task more memory, or less to do:\n\n"
    "    run.workers[['worker', 'left', 'memory_limit']]\n"
    "    client.get_worker_logs(nanny=True)\n"
    "    dask.config.set({'distributed.scheduler.allowed-failures': 3})   # workers that one may take along"
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
    says="Tasks raised, and were run again.",
    formula=(
        "Attempts that raised and were retried: `retried-work.share` of all attempts at a task name, or "
        "`retried-work.time` of the time in functions; critical from `retried-work.critical` of that time."
    ),
    cost="Their thread-seconds / threads.",
    url="https://distributed.dask.org/en/stable/resilience.html",
    advice="Try again inside of the function, and only what failed.",
    find=_retried_work,
)
