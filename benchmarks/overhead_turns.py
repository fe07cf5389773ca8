"""What recording costs while a computation runs: the same work in turns on one cluster, recorded and not.

python -m benchmarks.overhead_turns [--quick] [--pairs 40] [--held 0] [--workloads trivial-2000 …]

Two runs of one program differ by several per cent here, on machines that share their cores with others; two
short turns that follow one another differ by what has changed in seconds. So many pairs of short turns tell
differences that fresh clusters (`benchmarks.overhead`) cannot, of the computation alone: beginning and end
of a recording are told in seconds. With `--held 100000` the cluster keeps as many results meanwhile, as late
in a run of as many tasks. `performance_report` is not here: what it puts on a scheduler stays there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from distributed import Client, LocalCluster

from .markdown import table
from .overhead_run import WORKLOADS, Spent, observer, recorded_tasks, run_trivial, spent_so_far, until_freed

USUAL = ("trivial-2000", "array-4000")
QUICK = ("trivial-2000", "array-3000")
MODES = ("bare", "recorded")
#: Of the interval that is told, and how often pairs are drawn for it.
SURE, DRAWN = 0.95, 10_000


class Turn(NamedTuple):
    """What one turn cost: the computation, and beginning and end of what looked on."""

    during: Spent
    ends: float


def take_turn(workload: str, mode: str, client: Client, held: int) -> Turn:
    run, size, _ = WORKLOADS[workload]
    with tempfile.TemporaryDirectory() as folder:
        began = spent_so_far()
        with observer(mode, Path(folder)):
            entered = spent_so_far()
            done = run(client, size)
            computed = spent_so_far()
        ended = spent_so_far()
        if mode == "recorded" and recorded_tasks(Path(folder) / "run.dinsight") < done.tasks:
            raise SystemExit(f"{workload}: not all of {done.tasks} tasks were recorded")
    del done
    until_freed(client, held)
    during = computed.since(entered)
    return Turn(during, ended.since(began).cpu - during.cpu)


def take_turns(workload: str, pairs: int, held: int) -> dict[str, list[Turn]]:
    """As many turns of both modes, with so many results held; every second pair the other way round."""
    turns: dict[str, list[Turn]] = {mode: [] for mode in MODES}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        results = run_trivial(client, held)
        for mode in MODES:
            take_turn(workload, mode, client, held)
        for pair in range(pairs):
            for mode in MODES if pair % 2 == 0 else MODES[::-1]:
                turns[mode].append(take_turn(workload, mode, client, held))
            both = ", ".join(f"{mode} {turns[mode][-1].during.cpu:.2f} s" for mode in MODES)
            print(f"{workload} {pair + 1}/{pairs}: CPU {both}", file=sys.stderr)
        del results
    return turns


def over_pairs(bare: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """Median of the pairs' ratios, other over bare, and the interval it lies in (percentile bootstrap)."""
    ratios = np.array(other) / np.array(bare)
    drawn = np.random.default_rng(0).choice(ratios, (DRAWN, len(ratios)))
    low, high = np.quantile(np.median(drawn, axis=1), [(1 - SURE) / 2, (1 + SURE) / 2])
    return float(np.median(ratios)), float(low), float(high)


def ratio(turns: dict[str, list[Turn]], field: str) -> str:
    bare, recorded = ([getattr(turn.during, field) for turn in turns[mode]] for mode in MODES)
    return "{:.3f} ({:.3f}–{:.3f})".format(*over_pairs(bare, recorded))


def row(workload: str, turns: dict[str, list[Turn]]) -> tuple[str, ...]:
    bare = median(turn.during.cpu for turn in turns["bare"])
    ends = median(turn.ends for turn in turns["recorded"])
    return (
        workload,
        str(len(turns["bare"])),
        f"{bare:.2f}",
        ratio(turns, "cpu"),
        ratio(turns, "wall"),
        f"{ends:.2f}",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small workloads, three pairs")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--held", type=int, default=0, help="results that the cluster keeps meanwhile")
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=None)
    options = parser.parse_args(arguments)
    workloads = options.workloads or (QUICK if options.quick else USUAL)
    pairs = 3 if options.quick else options.pairs
    rows = [row(name, take_turns(name, pairs, options.held)) for name in workloads]
    print(
        "Two workers of one thread; one cluster for each workload. CPU is that of client, scheduler and\n"
        "workers; ratios are medians of pairs, recorded over bare, with the interval that they lie in\n"
        f"({SURE:.0%} sure). {options.held:,} results are held meanwhile.\n"
    )
    print(table(["workload", "pairs", "bare, CPU s", "CPU", "wall", "begin and end, CPU s"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
