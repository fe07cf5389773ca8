"""The panels in a real JupyterLab: how soon they show a task, what they cost, how large they are.

python -m benchmarks.live [--quick] [--rounds 5] [--only latency many first overhead sizes]
                          [--workloads trivial-2000 …]

Needs Node, the front end's packages and what it builds, and Chromium, named by CHROMIUM_PATH or on the PATH.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..overhead_run import WORKLOADS
from . import show

ROOT = Path(__file__).parent.parent.parent
CONFIGURATION = "benchmarks/live/playwright.config.ts"
#: Turns of seconds: many pairs of them tell more than few long ones.
USUAL = ("trivial-2000", "array-4000")

#: The measurements in a browser, each a file beside this one, and what prints what they found.
SHOWN: dict[str, Callable[[Any], list[str]]] = {
    "latency": show.latency,
    "first": show.first,
    "many": show.many,
    "overhead": show.overhead,
}


def measure(name: str, *, quick: bool, rounds: int, workloads: Sequence[str]) -> Any:
    """Run one of the measurements in a browser, and return what it found."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["npx", "playwright", "test", f"--config={CONFIGURATION}", f"{name}.measure.ts"],
            cwd=ROOT,
            env={
                **os.environ,
                "MEASURE_FOLDER": folder,
                "MEASURE_PLAN": json.dumps({"quick": quick, "rounds": rounds, "workloads": workloads}),
                **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
            },
            stdout=sys.stderr,
            check=True,
        )
        return json.loads(Path(folder, f"{name}.json").read_text("utf-8"))


def main() -> int:
    """Measure, print tables, say which bars are missed; 1 if one is."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.live", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes and one round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=[*SHOWN, "sizes"], default=[*SHOWN, "sizes"])
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, help="what is computed for overhead")
    options = parser.parse_args()
    workloads = options.workloads or USUAL[: 1 if options.quick else None]
    rounds = 1 if options.quick else options.rounds
    print(f"JupyterLab in Chromium, software rendering, four panels open; {rounds} rounds.")
    missed: list[str] = []
    for name in options.only:
        print()
        if name == "sizes":
            missed += show.sizes(ROOT / "dask_insight")
        else:
            found = measure(name, quick=options.quick, rounds=rounds, workloads=workloads)
            missed += SHOWN[name](found)
        sys.stdout.flush()
    for words in missed:
        print(f"Missed: {words}", file=sys.stderr)
    return int(bool(missed) and not options.quick)


if __name__ == "__main__":
    sys.exit(main())
