"""How long `import dask_insight` takes, and what it leaves alone.

python -m benchmarks.imports [--quick]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys

from .markdown import table

#: What an import of the package must not bring along.
HEAVY = ("IPython", "bokeh", "dask", "distributed", "numpy", "pandas")

_PROBE = """
import json, sys, time
before = set(sys.modules)
began = time.perf_counter()
import {module}
took = time.perf_counter() - began
print(json.dumps([took, sorted(m for m in set(sys.modules) - before if "." not in m)]))
"""


def measure(module: str) -> tuple[float, list[str]]:
    """Import `module` in a fresh interpreter: seconds, and the top-level modules that came with it."""
    output = subprocess.run(
        [sys.executable, "-c", _PROBE.format(module=module)], check=True, capture_output=True, text=True
    )
    seconds, modules = json.loads(output.stdout)
    return seconds, modules


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three runs instead of fifteen")
    rounds = 3 if parser.parse_args().quick else 15
    rows, brought = [], []
    for module in ("dask_insight", "distributed"):
        runs = [measure(module) for _ in range(rounds)]
        milliseconds = 1000 * statistics.median(seconds for seconds, _ in runs)
        heavy = [name for name in HEAVY if name in runs[-1][1]]
        rows.append((f"`import {module}`", f"{milliseconds:.1f}", ", ".join(heavy) or "none"))
        if module == "dask_insight":
            brought = heavy
    print(table(["statement", "median ms", f"brings of {', '.join(HEAVY)}"], rows))
    return int(bool(brought))


if __name__ == "__main__":
    sys.exit(main())
