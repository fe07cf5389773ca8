"""How many bytes a task takes, in the recording file and in a report.

python -m benchmarks.bytes [--quick]

One run is real: a sum over a random array and its transpose, on a `LocalCluster` of two
workers, with everything recorded. One is synthetic, where every moment is as noisy as can be.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import zlib
from collections import Counter, defaultdict
from pathlib import Path

import dask_insight
from dask_insight import frames
from dask_insight.batch import table_of
from dask_insight.recording import Recording

from .markdown import table
from .synthetic import Size, synthetic

#: Most bytes a task in the file and, compressed, in a report: keys, attempts, phases and edges.
BARS = {"file": 40.0, "report": 20.0}
#: What `distributed.performance_report` writes for 100,000 tasks, and how much smaller a report must be.
PEER_BYTES, PEER_RATIO = 22.8e6, 6

_CORE = ("graph", "edges", "attempts", "executions", "phases")


def real(blocks: int, folder: Path) -> Recording:
    """Record (x + x.T).sum() over `blocks` × `blocks` chunks; opens the file that this leaves."""
    import dask.array as da
    from distributed import Client, LocalCluster

    path = folder / "real.dinsight"
    with (
        LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster,
        Client(cluster),
        dask_insight.record(path),
    ):
        array = da.random.random((10 * blocks, 10 * blocks), chunks=(10, 10))
        (array + array.T).sum().compute()
    return dask_insight.open(path)


def in_file(recording: Recording, folder: Path) -> Counter[str]:
    """Bytes in the recording file, table by table."""
    tables: defaultdict[str, list[bytes]] = defaultdict(list)
    for batch in recording.packed():
        tables[table_of(batch)].append(batch)
    sizes: Counter[str] = Counter()
    for name, batches in tables.items():
        frames.save(folder / name, batches)
        sizes[name] = (folder / name).stat().st_size
    return sizes


def in_report(recording: Recording) -> Counter[str]:
    """Compressed bytes in the report, table by table."""
    sizes: Counter[str] = Counter()
    for batch in recording.packed(coarse=True):
        sizes[table_of(batch)] += len(zlib.compress(batch, 9))
    return sizes


def measure(name: str, recording: Recording, folder: Path) -> list[tuple[str, ...]]:
    """One row for the file and one for the report."""
    tasks = len(recording.tasks)
    rows: list[tuple[str, ...]] = []
    for form, sizes in (("file", in_file(recording, folder)), ("report", in_report(recording))):
        core, whole = sum(sizes.get(each, 0) for each in _CORE) / tasks, sum(sizes.values()) / tasks
        rows.append((name, form, f"{tasks:,}", f"{core:.1f}", f"{whole:.1f}", f"≤ {BARS[form]:g}"))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small graph")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = measure("array graph, real", real(10 if options.quick else 100, folder), folder)
        count = 2_000 if options.quick else 100_000
        made = synthetic(Size(tasks=count, samples=count // 2))
        rows += measure("synthetic", made, folder)
        page = made.report(folder / "report.html").stat().st_size
    print(
        table(
            ["run", "form", "tasks", "keys, times, phases, edges", "everything", "bar for the former"], rows
        )
    )
    ratio = PEER_BYTES * count / 100_000 / page
    print(
        f"\nA report of {count:,} tasks is {page / 1e6:.2f} MB, {ratio:.1f} times smaller than "
        f"performance_report's (bar {PEER_RATIO})."
    )
    kept = all(float(row[3]) <= BARS[row[1]] for row in rows[:2]) and ratio >= PEER_RATIO
    return int(not kept and not options.quick)


if __name__ == "__main__":
    sys.exit(main())
