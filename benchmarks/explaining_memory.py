"""How much memory a kernel takes for a live run, and for explaining it again and again meanwhile.

python -m benchmarks.explaining_memory [--quick] [--tasks 200000] [--seconds 20] [--rounds 3]

A synthetic run comes in ten times a second into a live recording, each time in a fresh process: nobody
looks on; then with findings, time budget and critical path in sight. When all tasks have come, each of them
is worked out once more. Bytes are resident ones above those of the process before the first task; reading
them takes Linux.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

from dask_insight.heap import give_back
from dask_insight.session.bounded import BoundedRecording
from dask_insight.session.explainer import Explainer
from dask_insight.session.live import HISTORY

from .explaining import parts
from .live.show import KERNEL
from .markdown import table
from .synthetic import Size, synthetic

TABLES = ("findings", "budget", "critical")
_STEP = 0.1


def resident(what: str = "VmRSS") -> int:
    """Resident bytes of this process; with ``VmHWM`` the most there have been."""
    found = re.search(rf"{what}:\s+(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    assert found
    return 1024 * int(found[1])


def kernel(pipe: Connection, explained: bool) -> None:
    """Take in what comes, and tell of the memory that it took."""
    import distributed  # noqa: F401

    recording = BoundedRecording(HISTORY)
    with _explaining(recording, explained) as explainer:
        gc.collect()
        give_back()
        before = resident()
        number = 0
        while (piece := pipe.recv()) is not None:
            for batch in piece:
                recording.append(batch)
            explainer.wake()
            if (number := number + 1) % 10 == 0:
                recording.tidy()
        _explain_all(explainer, recording, explained)
        gc.collect()
        give_back()
        pipe.send(
            {"rest": resident() - before, "peak": resident("VmHWM") - before, "cost": dict(explainer.cost)}
        )


@contextmanager
def _explaining(recording: BoundedRecording, explained: bool) -> Iterator[Explainer]:
    explainer = Explainer(recording)
    stop = explainer.serve(lambda: TABLES if explained else (), lambda: None)
    yield explainer
    stop()


def _explain_all(explainer: Explainer, recording: BoundedRecording, explained: bool) -> None:
    """Wait until everything that has come is explained."""
    while explained and any(explainer._seen.get(each) != explainer._news for each in TABLES):
        explainer._due.clear()
        explainer.wake()
        time.sleep(_STEP)
    while recording._cache:
        # The last edition is still being worked out.
        time.sleep(_STEP)


def measure(pieces: list[list[bytes]], explained: bool) -> dict[str, Any]:
    """Have a fresh process take in a run."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=kernel, args=(there, explained))
    process.start()
    began = time.monotonic()
    for number, piece in enumerate(pieces):
        here.send(piece)
        time.sleep(max(0.0, began + (number + 1) * _STEP - time.monotonic()))
    here.send(None)
    found: dict[str, Any] = here.recv()
    process.join()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="5,000 tasks in 6 seconds, once")
    parser.add_argument("--tasks", type=int, default=HISTORY)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if not Path("/proc/self/status").exists():
        print("Not measured: only Linux tells a process's resident bytes so.")
        return 0
    tasks, seconds, rounds = options.tasks, options.seconds, options.rounds
    if options.quick:
        tasks, seconds, rounds = 5_000, 6.0, 1
    pieces = parts(synthetic(Size(tasks=tasks, samples=1)), round(seconds / _STEP))
    found = {explained: [measure(pieces, explained) for _ in range(rounds)] for explained in (False, True)}
    rows = [
        (
            words,
            *(f"{median(each[what] for each in found[explained]) / 1e6:.1f}" for what in ("rest", "peak")),
        )
        for explained, words in ((False, "nobody looks on"), (True, "explained again and again"))
    ]
    print(f"{tasks:,} tasks live in one process, median of {rounds}:\n")
    print(table(["", "MB at rest", "MB at its peak"], rows))
    costs = {each: median(one["cost"][each] for one in found[True]) for each in TABLES}
    told = ", ".join(f"`{each}` {1000 * cost:.0f} ms" for each, cost in costs.items())
    print(f"\nCPU of the last edition: {told}.")
    peak = median(each["peak"] for each in found[True])
    print(f"Bar for the peak: {KERNEL / 1e6:.0f} MB.")
    return int(peak > KERNEL and not options.quick)


if __name__ == "__main__":
    sys.exit(main())
