"""What recording costs: CPU and wall time over the bare computation, beside Dask's own report.

python -m benchmarks.overhead [--quick] [--rounds 7] [--workloads trivial-20000 …]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from .markdown import table
from .overhead_run import MODES, WORKLOADS

#: Workload: most that recording may cost, as a multiple of the bare run.
BARS = {"trivial-20000": 1.05, "trivial-100000": 1.05, "array-8000": 1.02}
QUICK = ("trivial-2000", "array-3000")

Result = dict[str, float]


def run_once(workload: str, mode: str) -> Result:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    # An installed package is byte-compiled, whichever of the two is looked at.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks.overhead_run", workload, mode],
        cwd=Path(__file__).parent.parent,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result: Result = json.loads(process.stdout.splitlines()[-1])
    if mode == "recorded" and result["recorded_tasks"] < result["tasks"]:
        raise SystemExit(f"{workload}: {result['recorded_tasks']} of {result['tasks']} tasks were recorded")
    return result


def alternate(workload: str, rounds: int) -> dict[str, list[Result]]:
    """Run all modes `rounds` times; each round begins with another mode, so that drift hits all alike."""
    results: dict[str, list[Result]] = {mode: [] for mode in MODES}
    for turn in range(rounds):
        for mode in (*MODES[turn % 3 :], *MODES[: turn % 3]):
            results[mode].append(run_once(workload, mode))
            latest = results[mode][-1]
            print(
                f"{workload} {turn + 1}/{rounds} {mode}: {latest['cpu_whole']:.2f} s CPU, "
                f"{latest['wall_whole']:.2f} s",
                file=sys.stderr,
            )
    return results


def ratio(results: dict[str, list[Result]], mode: str, field: str) -> float:
    return median(run[field] for run in results[mode]) / median(run[field] for run in results["bare"])


def rows(workload: str, results: dict[str, list[Result]]) -> list[tuple[str, ...]]:
    lines: list[tuple[str, ...]] = []
    for mode in MODES:
        cpu, wall = (sorted(run[field] for run in results[mode]) for field in ("cpu_whole", "wall_whole"))
        lines.append(
            (
                workload,
                mode,
                f"{median(cpu):.2f}",
                f"{cpu[0]:.2f}–{cpu[-1]:.2f}",
                f"{ratio(results, mode, 'cpu_whole'):.3f}",
                f"{ratio(results, mode, 'cpu_during'):.3f}",
                f"{median(wall):.2f}",
                f"{ratio(results, mode, 'wall_whole'):.3f}",
                f"{ratio(results, mode, 'wall_during'):.3f}",
            )
        )
    return lines


def holds(workload: str, results: dict[str, list[Result]]) -> bool:
    """Whether CPU and wall time keep the bar, and CPU is no more than that of Dask's own report."""
    ours = {field: ratio(results, "recorded", field) for field in ("cpu_whole", "wall_whole")}
    report = ratio(results, "performance_report", "cpu_whole")
    return max(ours.values()) <= BARS[workload] and ours["cpu_whole"] <= report


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two small workloads, one round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=None)
    options = parser.parse_args(arguments)
    workloads = options.workloads or (QUICK if options.quick else tuple(BARS))
    measured = {name: alternate(name, 1 if options.quick else options.rounds) for name in workloads}
    print(
        "Two workers of one thread; each run has a fresh cluster in a fresh process; modes take turns.\n"
        "Seconds of CPU are those of client, scheduler and workers together, from before the recording\n"
        "begins until it is complete on disk; `while` counts the computation alone. The results are\n"
        "held until after the reading, so that freeing them is in none. Ratios are of medians, over bare.\n"
    )
    header = [
        "workload",
        "mode",
        "CPU s",
        "range",
        "CPU ratio",
        "CPU while",
        "wall s",
        "wall ratio",
        "wall while",
    ]
    print(table(header, [row for name in workloads for row in rows(name, measured[name])]), "\n")
    kept = {name: holds(name, measured[name]) for name in workloads if name in BARS}
    for name, good in kept.items():
        bar = f"bar {BARS[name]:.2f} and no more than performance_report"
        print(f"- {name}: {bar}: {'holds' if good else 'missed'}.")
    return int(not all(kept.values()))


if __name__ == "__main__":
    sys.exit(main())
