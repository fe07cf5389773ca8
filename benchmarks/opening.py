"""How long it takes to open a recording of 1,000,000 tasks and to make `tasks` a DataFrame.

python -m benchmarks.opening [--quick] [--rounds 7]

Each round is a fresh interpreter with the packages imported and the file in the page cache.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from .markdown import table
from .synthetic import Size, synthetic

#: Most seconds that opening and the DataFrame may take together.
BAR = 2.0

_ROUND = """
import json, sys, time
import pandas, dask_insight
open = dask_insight.open
import dask_insight.tables.frame
began = time.perf_counter()
recording = open(sys.argv[1])
opened = time.perf_counter()
tasks = recording.tasks
done = time.perf_counter()
print(json.dumps([opened - began, done - opened, len(tasks)]))
"""


def measure(path: Path) -> tuple[float, float, int]:
    """Open a file in a fresh interpreter: seconds to open it, seconds for `tasks`, number of tasks."""
    output = subprocess.run(
        [sys.executable, "-c", _ROUND, str(path)], check=True, capture_output=True, text=True
    )
    opening, frame, tasks = json.loads(output.stdout)
    return opening, frame, tasks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="20,000 tasks and one round")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    count, rounds = (20_000, 1) if options.quick else (1_000_000, options.rounds)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.dinsight"
        synthetic(Size(tasks=count, samples=count // 2)).save(path)
        size = path.stat().st_size
        runs = [measure(path) for _ in range(rounds)]
    if any(tasks != count for *_, tasks in runs):
        raise SystemExit("tasks are missing")
    together = median(opening + frame for opening, frame, _ in runs)
    rows = [
        ("`open(path)`", f"{median(run[0] for run in runs):.2f}", ""),
        ("`.tasks`", f"{median(run[1] for run in runs):.2f}", ""),
        ("together", f"{together:.2f}", f"≤ {BAR:g}"),
    ]
    print(f"{count:,} tasks, {size / 2**20:.1f} MiB in the file, median of {rounds}.\n")
    print(table(["step", "seconds", "bar"], rows))
    return int(together > BAR and not options.quick)


if __name__ == "__main__":
    sys.exit(main())
