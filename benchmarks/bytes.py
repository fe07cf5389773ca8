"""How many bytes a task takes, in the recording file and in a report.

python -m benchmarks.bytes [--quick] [--peer]

One run is real: a sum over a random array and its transpose, on a `LocalCluster` of two
workers, with everything recorded. One is synthetic, where every moment is as noisy as can be.

The report of the synthetic run of 100,000 tasks is compared with what `performance_report` wrote for
100,000 trivial tasks when that was measured once; `--peer` measures it anew, beside our report of that run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import dask_insight
from dask_insight import ascii91, frames
from dask_insight.batch import table_of
from dask_insight.hosts.report import blocks, parts_of
from dask_insight.recording import Recording

from .markdown import table
from .synthetic import Size, synthetic

#: Most bytes a task in the file and in a report: keys, attempts, phases and edges.
BARS = {"file": 40.0, "report": 20.0}
#: What `performance_report` of distributed 2026.8.0 wrote for so many tasks; how much smaller ours must be.
PEER_TASKS, PEER_BYTES, PEER_RATIO = 100_000, 19_800_000, 6

_CORE = ("graph", "edges", "attempts", "executions", "phases")


def real(side: int, folder: Path) -> Recording:
    """Record (x + x.T).sum() over `side` × `side` chunks; opens the file that this leaves."""
    import dask.array as da
    from distributed import Client, LocalCluster

    path = folder / "real.dinsight"
    with (
        LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster,
        Client(cluster),
        dask_insight.record(path),
    ):
        array = da.random.random((10 * side, 10 * side), chunks=(10, 10))
        (array + array.T).sum().compute()
    return dask_insight.open(path)


def in_file(recording: Recording, folder: Path) -> tuple[int, int]:
    """Bytes in the recording file: of keys, times, phases and edges, and of all."""
    tables: defaultdict[str, list[bytes]] = defaultdict(list)
    for batch in recording.packed():
        tables[table_of(batch)].append(batch)
    sizes: Counter[str] = Counter()
    for name, batches in tables.items():
        frames.save(folder / name, batches)
        sizes[name] = (folder / name).stat().st_size
    return sum(sizes[each] for each in _CORE), sum(sizes.values())


def in_report(recording: Recording, folder: Path) -> tuple[int, int]:
    """Bytes in a report: of keys, times, phases and edges as blocks hold them; all beyond an empty one."""
    core = [[batch for batch in part if table_of(batch) in _CORE] for part in parts_of(recording)]
    size = sum(len(ascii91.encode(block)) for part in core for block in blocks(part))
    written, empty = (each.report(folder / "report.html").stat().st_size for each in (recording, Recording()))
    return size, written - empty


def measure(name: str, recording: Recording, folder: Path) -> list[tuple[str, ...]]:
    """One row for the file and one for the report."""
    tasks = len(recording.tasks)
    rows: list[tuple[str, ...]] = []
    for form, bytes_of in (("file", in_file), ("report", in_report)):
        core, whole = (size / tasks for size in bytes_of(recording, folder))
        rows.append((name, form, f"{tasks:,}", f"{core:.1f}", f"{whole:.1f}", f"≤ {BARS[form]:g}"))
    return rows


def peer(tasks: int, folder: Path) -> tuple[int, int]:
    """Bytes of Dask's own report of so many trivial tasks, and of ours of the same run."""
    from distributed import Client, LocalCluster, performance_report

    from .overhead_run import run_trivial

    theirs = folder / "theirs.html"
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
        dask_insight.record() as run,
        performance_report(filename=str(theirs)),
    ):
        run_trivial(client, tasks)
    return theirs.stat().st_size, run.report(folder / "ours.html").stat().st_size


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small graph")
    parser.add_argument("--peer", action="store_true", help="measure performance_report, too")
    options = parser.parse_args()
    count = 2_000 if options.quick else PEER_TASKS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = measure("array graph, real", real(10 if options.quick else 100, folder), folder)
        made = synthetic(Size(tasks=count, samples=count // 2))
        rows += measure("synthetic", made, folder)
        page = made.report(folder / "report.html").stat().st_size
        beside = peer(count, folder) if options.peer else None
    print(
        table(
            ["run", "form", "tasks", "keys, times, phases, edges", "everything", "bar for the former"], rows
        )
    )
    print(f"\nThe report of {count:,} synthetic tasks has {page / 1e6:.2f} MB.")
    if beside:
        theirs, ours = beside
        print(
            f"Of {count:,} trivial tasks performance_report wrote {theirs / 1e6:.2f} MB, and we "
            f"{ours / 1e6:.2f} MB."
        )
    if options.quick:
        return 0
    theirs, ours = beside or (PEER_BYTES, page)
    ratio = theirs / ours
    size = f"{theirs / 1e6:.1f} MB, is {ratio:.1f} times as large"
    print(f"That of performance_report, {size} (bar {PEER_RATIO}).")
    return int(ratio < PEER_RATIO or any(float(row[3]) > BARS[row[1]] for row in rows[:2]))


if __name__ == "__main__":
    sys.exit(main())
