"""Run every measurement and print the results as Markdown.

python -m benchmarks [--quick] [--only imports overhead …]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from .markdown import machine

HERE = Path(__file__).parent

#: The measurements, each a module of this package, and what makes a smoke run of it.
MEASUREMENTS = {
    "imports": ["--quick"],
    "opening": ["--quick"],
    "bytes": ["--quick"],
    "tables": ["--quick"],
    "findings": ["--quick"],
    "compare": ["--quick"],
    "foreign": ["--quick"],
    "scheduler_cost": ["--quick"],
    "local_overhead": ["--tasks", "2000", "--rounds", "1"],
    "drawing": ["--quick"],
    "live": ["--quick"],
    "explaining": ["--quick"],
    "explaining_memory": ["--quick"],
    "what_if": ["--quick"],
    "own_cost": ["--quick"],
    "overhead_turns": ["--quick"],
    "overhead": ["--quick"],
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes and one round: does it run at all?")
    parser.add_argument("--only", nargs="+", choices=MEASUREMENTS, default=list(MEASUREMENTS))
    options = parser.parse_args()
    print(f"Machine: {machine()}.", flush=True)
    failed = []
    for name in options.only:
        print(f"\n### {name.replace('_', ' ').capitalize()}\n", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}", *(MEASUREMENTS[name] if options.quick else [])]
        if subprocess.run(command, cwd=HERE.parent).returncode:
            failed.append(name)
    if failed:
        print(f"Failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
