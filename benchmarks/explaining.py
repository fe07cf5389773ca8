"""What it costs to explain a run again and again while it goes on and pages show it.

python -m benchmarks.explaining [--quick] [--tasks 100000] [--seconds 40]

A synthetic run comes in ten times a second, as from a cluster, into a live recording; a page shows every
panel. CPU is that of the thread that explains. The lag is how late another thread of the process was woken,
which does nothing but wait for 5 ms: what the client's event loop feels of it.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import defaultdict
from typing import Any

import numpy as np

from dask_insight.answers import MADE
from dask_insight.batch import encode
from dask_insight.columns import length, take
from dask_insight.recording import Recording
from dask_insight.session.bounded import BoundedRecording
from dask_insight.session.explainer import INTERVAL, SHARE, Explainer

from .markdown import table
from .synthetic import Size, synthetic

_STEP = 0.1
#: Tables whose rows come with the attempts they belong to, by the column that tells.
_BY = {"executions": "run", "phases": "run", "samples": "run", "graph": "task", "edges": "task"}


def parts(whole: Recording, count: int) -> list[list[bytes]]:
    """The recording in so many parts, one after another in time."""
    made: list[list[bytes]] = [[] for _ in range(count)]
    attempts: Any = whole.columns("attempts")
    place = np.argsort(np.argsort(attempts["done"], kind="stable")) * count // len(attempts["done"])
    of = {name: np.zeros(int(attempts[name].max()) + 1, "i8") for name in ("run", "task")}
    for name, found in of.items():
        found[attempts[name]] = place
    for name in ("workers", "spans", "submissions", "graph", "edges", "attempts", "executions", "phases"):
        columns: Any = whole.columns(name)
        if not (rows := length(columns)):
            continue
        if name == "attempts":
            when = place
        elif name in _BY:
            ids = columns[_BY[name]]
            known = of[_BY[name]]
            when = np.where(ids < len(known), known[np.minimum(ids, len(known) - 1)], 0)
        else:
            when = np.zeros(rows, "i8")
        for number in np.unique(when).tolist():
            some = {each: take(values, when == number) for each, values in columns.items()}
            made[number].append(encode(name, some))
    return made


class Lag:
    """How late a thread is woken that asks for nothing but that."""

    def __init__(self) -> None:
        self.late: list[float] = []
        self._stopped = False
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        while not self._stopped:
            asked = time.perf_counter()
            time.sleep(0.005)
            self.late.append(time.perf_counter() - asked - 0.005)

    def stop(self) -> None:
        """End it."""
        self._stopped = True
        self._thread.join()


def measure(tasks: int, seconds: float) -> dict[str, Any]:
    """Let a run of so many tasks come in over so many seconds."""
    pieces = parts(synthetic(Size(tasks=tasks, samples=tasks // 4)), round(seconds / _STEP))
    recording = BoundedRecording(max(200_000, tasks))
    explainer = Explainer(recording)
    begun: defaultdict[str, list[float]] = defaultdict(list)
    spent: defaultdict[str, float] = defaultdict(float)
    make = explainer._make

    def noted(name: str) -> None:
        cost = time.thread_time()
        begun[name].append(time.monotonic())
        make(name)
        spent[name] += time.thread_time() - cost

    explainer._make = noted  # type: ignore[method-assign, assignment]
    stop = explainer.serve(lambda: MADE, lambda: None)
    lag = Lag()
    began = time.monotonic()
    for number, piece in enumerate(pieces):
        for batch in piece:
            recording.append(batch)
        explainer.wake()
        if number % 10 == 0:
            recording.tidy()
        time.sleep(max(0.0, began + (number + 1) * _STEP - time.monotonic()))
    took = time.monotonic() - began
    lag.stop()
    stop()
    return {"took": took, "begun": begun, "spent": spent, "lag": lag.late}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="5,000 tasks in 6 seconds")
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=40.0)
    options = parser.parse_args()
    tasks, seconds = (5_000, 6.0) if options.quick else (options.tasks, options.seconds)
    found = measure(tasks, seconds)
    share = sum(found["spent"].values()) / found["took"]
    gaps = [gap for times in found["begun"].values() for gap in np.diff(times)]
    rows = [
        (f"`{name}`", str(len(times)), f"{1000 * found['spent'][name] / len(times):.0f}", "")
        for name, times in found["begun"].items()
    ]
    print(f"{tasks:,} tasks that came in over {found['took']:.0f} s.\n")
    print(table(["table", "editions", "CPU ms each", ""], rows))
    late = 1000 * np.array(found["lag"])
    least = min(gaps, default=np.inf)
    print(f"\nCPU: {100 * share:.1f} % of a core (bar {100 * SHARE:g} %).")
    print(f"Least time between two editions of a table: {least:.2f} s (bar {INTERVAL:g} s).")
    print(f"Lag of another thread: {np.quantile(late, 0.99):.1f} ms (99 %), {late.max():.0f} ms at most.")
    return int((share > SHARE or least < INTERVAL - 0.05) and not options.quick)


if __name__ == "__main__":
    sys.exit(main())
