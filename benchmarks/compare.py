"""How long a comparison of two runs takes, besides what is worked out of each for itself.

python -m benchmarks.compare [--quick] [--rounds 5]

Columns are read, packages imported and findings worked out before the clock runs; the time budgets, which
a comparison works out anew, are told apart.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from statistics import median

from dask_insight.analysis.compare import compare
from dask_insight.hosts.comparison import markdown
from dask_insight.recording import Recording
from dask_insight.schema import TABLES

from .markdown import table
from .synthetic import Size, synthetic

#: Most seconds for comparing, time budgets left out, by tasks of each run.
BARS = {100_000: 1.0}


def _ready(tasks: int, names: int) -> Recording:
    run = synthetic(Size(tasks=tasks, names=names))
    for name in TABLES:
        run.columns(name)
    run.answer("findings")
    return run


def _seconds(what: Callable[[], object], rounds: int) -> float:
    """CPU seconds, the median of some rounds: all of it is one thread's."""
    taken = []
    for _ in range(rounds):
        gc.collect()
        began = time.process_time()
        what()
        taken.append(time.process_time() - began)
    return median(taken)


def measure(tasks: int, rounds: int) -> tuple[float, float, float]:
    """Seconds of comparing alone, of both time budgets, and of saying it as Markdown."""
    runs = _ready(tasks, 40), _ready(tasks, 38)
    compared = compare(*runs)
    budgets = _seconds(lambda: [run.time_budget() for run in runs], rounds)
    whole = _seconds(lambda: compare(*runs), rounds)
    return max(0.0, whole - budgets), budgets, _seconds(lambda: markdown(compared), rounds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10,000 tasks and one round")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    sizes, rounds = ([10_000], 1) if options.quick else (list(BARS), options.rounds)
    failed = False
    lines = []
    for tasks in sizes:
        found = measure(tasks, rounds)
        bar = BARS.get(tasks)
        failed |= bar is not None and found[0] > bar
        shown = "–" if bar is None else f"≤ {bar:g}"
        lines.append((f"2 × {tasks:,}", *(f"{each:.3f}" for each in found), shown))
    print(table(["tasks", "comparing, CPU s", "both time budgets", "as Markdown", "bar (comparing)"], lines))
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
