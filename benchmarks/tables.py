"""How long the tables about a whole run take: bottlenecks, balance, and the time budget.

python -m benchmarks.tables [--quick] [--rounds 5]

122,391 tasks are the size of the trace in DASF's own tutorial, whose analyser needs about 7 s for its
table of functions and 11 s for that of tasks. Columns are read and packages imported before the clock runs.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from statistics import median

from dask_insight.analysis.time_budget import rows
from dask_insight.recording import Recording
from dask_insight.schema import TABLES

from .markdown import table
from .synthetic import Size, synthetic

#: Most seconds for each table, by number of tasks.
BARS = {122_391: 0.1, 1_000_000: 1.5}
#: What each table is, and whether a bar is set for it.
TABLES_ASKED: dict[str, tuple[Callable[[Recording], object], bool]] = {
    '`bottlenecks("function")`': (lambda run: run.bottlenecks("function"), True),
    '`bottlenecks("task")`': (lambda run: run.bottlenecks("task"), True),
    '`bottlenecks("group")`': (lambda run: run.bottlenecks("group"), True),
    '`bottlenecks("span")`': (lambda run: run.bottlenecks("span"), True),
    '`bottlenecks("worker")`': (lambda run: run.bottlenecks("worker"), True),
    "`balance()`": (lambda run: run.balance(), True),
    "`time_budget()`": (lambda run: run.time_budget(), False),
    '`time_budget(by="function")`': (lambda run: run.time_budget(by="function"), False),
    "rows of `budget`": (lambda run: rows(run.columns), False),
}


def measure(tasks: int, rounds: int) -> list[list[float]]:
    """Seconds of each round, for each table in `TABLES_ASKED`."""
    run = synthetic(Size(tasks=tasks, samples=1_000))
    for name in TABLES:
        run.columns(name)
    run.bottlenecks()
    found: list[list[float]] = [[] for _ in TABLES_ASKED]
    for _ in range(rounds):
        for seconds, (make, _) in zip(found, TABLES_ASKED.values(), strict=True):
            gc.collect()
            began = time.perf_counter()
            make(run)
            seconds.append(time.perf_counter() - began)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="20,000 tasks and one round")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    sizes, rounds = ([20_000], 1) if options.quick else (list(BARS), options.rounds)
    failed = False
    for tasks in sizes:
        found = measure(tasks, rounds)
        lines = []
        for (name, (_, barred)), seconds in zip(TABLES_ASKED.items(), found, strict=True):
            bar = BARS.get(tasks) if barred else None
            failed |= bar is not None and median(seconds) > bar
            shown = "" if bar is None else f"≤ {bar:g}"
            lines.append((name, f"{median(seconds):.3f}", f"{min(seconds):.3f}", shown))
        print(f"{tasks:,} tasks, {rounds} rounds.\n")
        print(table(["table", "median s", "least s", "bar"], lines), flush=True)
        print()
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
