"""How fast the page draws: beside Dask's own task stream and two flame graphs, in one browser, in turns.

python -m benchmarks.drawing [--quick] [--rounds 3] [--tasks 10000 …] [--no-flame] [--json FILE]

Needs Node, the front end's packages (`npm ci`), those of this folder (fetched if missing) and
Chromium, named by CHROMIUM_PATH or on the PATH.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import flame, stream
from .pages import LANES, SIZES, flame_pages, stream_pages

HERE = Path(__file__).parent


def main() -> int:
    """Measure, print tables, say which bars are missed; 1 if one is."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drawing", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10,000 tasks and one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--no-flame", action="store_true", help="the task stream only")
    parser.add_argument("--json", type=Path, help="file for all single measurements")
    options = parser.parse_args()
    tasks = [10_000] if options.quick else options.tasks
    rounds = 1 if options.quick else options.rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan: dict[str, Any] = {"rounds": rounds, "frames": 40, "stream": []}
        for count in tasks:
            files = stream_pages(count, folder)
            plan["stream"].append({"tasks": count} | {page: str(path) for page, path in files.items()})
        if not options.no_flame:
            fetch_peers()
            plan["flame"] = flame_pages(20_000 if options.quick else 200_000, folder)
        results = browse(plan)
        for each, planned in zip(results["stream"], plan["stream"], strict=True):
            each["bytes"] = {page: Path(planned[page]).stat().st_size for page in ("report", "bokeh")}
    if options.json:
        options.json.write_text(json.dumps(results))
    print(f"{results['browser']}, software rendering, {LANES} lanes; medians of {rounds} rounds in turns.\n")
    missed = stream.show(results["stream"]) if results["stream"] else []
    if results["flame"]:
        print()
        missed += flame.show(results["flame"], plan["flame"]["size"])
    for words in missed:
        print(f"Missed: {words}", file=sys.stderr)
    return int(bool(missed) and not options.quick)


def fetch_peers() -> None:
    """Install the peers' packages where they are missing."""
    if not (HERE / "node_modules/speedscope").exists():
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=HERE, check=True, stdout=sys.stderr)


def browse(plan: dict[str, Any]) -> dict[str, Any]:
    """Measure in Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = os.environ.get("CHROMIUM_PATH") or next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        raise SystemExit("Drawing is measured in Chromium, and none was found; name one with CHROMIUM_PATH.")
    process = subprocess.run(
        ["node", str(HERE / "run.mjs"), json.dumps(plan)],
        env={**os.environ, "CHROMIUM_PATH": chromium},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(process.stdout)
    return found


if __name__ == "__main__":
    sys.exit(main())
