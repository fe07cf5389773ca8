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

#: What each measurement is called, and the command that makes it.
MEASUREMENTS = {
    "imports": [sys.executable, "-m", "benchmarks.imports"],
    "opening": [sys.executable, "-m", "benchmarks.opening"],
    "bytes": [sys.executable, "-m", "benchmarks.bytes"],
    "scheduler_cost": [sys.executable, "-m", "benchmarks.scheduler_cost"],
    "drawing": [sys.executable, "-m", "benchmarks.drawing"],
    "overhead": [sys.executable, "-m", "benchmarks.overhead"],
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
        command = MEASUREMENTS[name] + (["--quick"] if options.quick else [])
        if subprocess.run(command, cwd=HERE.parent).returncode:
            failed.append(name)
    if failed:
        print(f"Failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
