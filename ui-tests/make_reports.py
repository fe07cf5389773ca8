"""Reports for the browser tests: ``python ui-tests/make_reports.py FOLDER``.

``real`` is recorded on a cluster of worker processes, ``faulty`` on one too,
with time lost in several ways, ``compared`` compares four runs, ``threads`` is
recorded on a local scheduler, ``synthetic``
has many tasks, ``hostile`` has names that try to break out of a page, in
``away`` a task gives its thread back, ``empty`` has no task at all. Beside
``real`` and ``hostile`` stand their exports for Perfetto and speedscope.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import dask_insight
from benchmarks.synthetic import Size, synthetic
from dask_insight.batch import encode
from dask_insight.hosts.report import write_report
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING

START = 1_750_000_000.0

HOSTILE = [
    "</script><script>window.__pwned = 1</script>",
    '"><img src=x onerror="window.__pwned = 1">',
    "'; window.__pwned = 1; //",
    "<!--<script>",
    "\u202etfel ot thgir\u202c",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "👩‍👩‍👧‍👦" * 30,
    "k" * 10_000,
    "tab\tnew\nline\x00zero",
    "__proto__",
    "constructor",
    "",
]


def spin(seconds: float) -> int:
    """Keep a thread busy, in a function of its own."""
    end, total = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        total += sum(range(500))
    return total


def fail(value: int) -> int:
    """Raise, always."""
    raise ValueError(f"no result for {value}")


def real() -> Recording:
    """A recording of arrays, plain functions and a failure on two worker processes."""
    import dask.array as da
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        # Importing takes no part of it, however long it is on a busy machine: most of the time is spinning.
        client.run(exec, "import dask.array")
        with dask_insight.record(name="real", client=client) as run:
            array = da.random.random((1_500, 1_500), chunks=300)
            (array + array.T).sum().compute()
            client.gather(client.map(spin, [0.2 + i / 1e6 for i in range(16)], pure=False))
            client.submit(fail, 1).exception()
    return run


def load(number: int) -> bytes:
    """Wait, as for a slow disk."""
    time.sleep(0.3 + number / 1000)
    return bytes(100_000)


def solve(number: int, *_: bytes) -> int:
    """Keep a thread busy; every eighth call does so for much longer."""
    return spin(1.2 if number % 8 == 5 else 0.08)


def faulty() -> Recording:
    """A recording of slow reading, a client that dawdles, a few tasks that last and two that fail."""
    from distributed import Client, LocalCluster, span

    with (
        LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        dask_insight.record(name="faulty", client=client) as run,
    ):
        with span("load"):
            parts = client.map(load, range(12), pure=False)
            client.gather(parts)
        time.sleep(1.5)
        with span("solve"):
            client.gather([client.submit(solve, i, part, pure=False) for i, part in enumerate(parts * 2)])
        for number in range(2):
            client.submit(fail, number).exception()
    return run


def slow_part(value: int, seconds: float) -> int:
    """Take so long, however busy the machine is."""
    time.sleep(seconds)
    return value


def compared() -> Recording:
    """Two runs before and two after a function has become slower, another gone, another come."""
    from distributed import Client, LocalCluster

    sides: dict[str, list[Recording]] = {"before": [], "after": []}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        client.gather(client.map(spin, [0.01 + i / 1e6 for i in range(4)], pure=False, key="warm"))
        for repeat in range(4):
            side = "before" if repeat < 2 else "after"
            with dask_insight.record(name=f"{side} {repeat % 2}", client=client) as run:
                client.gather(client.map(spin, [0.05 + i / 1e6 for i in range(8)], pure=False))
                slow = 0.03 if side == "before" else 0.15
                client.gather(client.map(slow_part, range(12), seconds=slow, pure=False))
                gone = "went-away" if side == "before" else "came-new"
                client.gather(client.map(spin, [0.04 + i / 1e6 for i in range(4)], pure=False, key=gone))
            sides[side].append(run)
    return dask_insight.compare(sides["before"], sides["after"], names=["before", "after"]).recording


def threads() -> Recording:
    """A recording of a local scheduler."""
    import dask

    with dask_insight.record(name="threads") as run:
        dask.compute(*[dask.delayed(spin)(0.1 + i / 1e6) for i in range(8)], scheduler="threads")
    return run


def hostile() -> Recording:
    """A recording whose every text is an attack or a strain."""
    recording = Recording()
    count = len(HOSTILE) * 4
    names = [HOSTILE[i % len(HOSTILE)] for i in range(count)]
    start = [START + 0.1 * i for i in range(count)]
    stop = [begin + 0.35 for begin in start]
    workers = [HOSTILE[i % 3] for i in range(count)]
    none = [NOTHING] * count
    tables: dict[str, dict[str, Any]] = {
        "about": {
            "name": ["name", "scheduler"],
            "value": ['"</script><b>name</b>"', '{"address": "<i>tcp</i>"}'],
        },
        "workers": {
            "worker": HOSTILE[:3],
            "name": HOSTILE[3:6],
            "host": HOSTILE[6:9],
            "threads": [4, 4, 4],
            "joined": [START] * 3,
            "memory_limit": [2.0**30] * 3,
        },
        "graph": {"task": range(count), "key": [f"{n}-{i}" for i, n in enumerate(names)], "prefix": names},
        "attempts": {
            "run": range(count),
            "task": range(count),
            "worker": workers,
            "thread": [HOSTILE[i % 4] for i in range(count)],
            "status": ["erred" if i % 7 == 0 else "ok" for i in range(count)],
            "start": start,
            "stop": stop,
            "done": stop,
            "typename": names,
        },
        "errors": {"run": range(count), "task": range(count), "exception": names, "traceback": names},
        "stacks": {"stack": range(count), "parent": none, "function": names, "file": names},
        "samples": {
            "process": workers,
            "time": stop,
            "duration": [0.3] * count,
            "stack": range(count),
            "run": range(count),
        },
        "resources": {"process": workers, "time": start, "cpu": [50.0] * count},
        "memory": {"worker": workers, "time": start, "process": [1e8] * count, "managed": [5e7] * count},
        "metrics": {
            "time": stop,
            "worker": workers,
            "context": ["execute"] * count,
            "prefix": names,
            "activity": names,
            "unit": ["seconds" if i % 2 else names[i] for i in range(count)],
            "value": [1.0] * count,
        },
        "events": {"time": start, "kind": ["lost"] * count, "message": names},
        **hostile_comparison(),
    }
    for table, columns in tables.items():
        recording.append(encode(table, columns))
    return recording


def hostile_comparison() -> dict[str, dict[str, Any]]:
    """Tables of a comparison with such texts."""
    count = len(HOSTILE)
    sides = [i % 2 for i in range(count)]
    ones = [1.0 + i % 3 for i in range(count)]
    return {
        "compared_sides": {
            "side": [0, 1],
            "name": HOSTILE[:2],
            "runs": [1, 1],
            "seconds": [1.0, 2.0],
            "verdict": ["baseline", HOSTILE[0]],
            "text": ["", HOSTILE[1]],
        },
        "compared_runs": {"side": sides, "name": HOSTILE, "seconds": ones},
        "compared_budget": {"side": sides, "kind": HOSTILE, "part": HOSTILE, "wall": ones, "share": ones},
        "compared_names": {"side": sides, "name": HOSTILE, "mean": ones, "seconds": ones, "verdict": HOSTILE},
        "compared_stacks": {
            "side": sides,
            "node": range(count),
            "parent": [NOTHING] * count,
            "function": HOSTILE,
            "file": HOSTILE,
            "self": ones,
            "total": ones,
        },
        "compared_findings": {
            "side": [1] * count,
            "state": HOSTILE,
            "code": HOSTILE,
            "severity": HOSTILE,
            "title": HOSTILE,
            "tasks": HOSTILE,
        },
        "compared_settings": {"side": sides, "kind": HOSTILE, "name": HOSTILE, "value": HOSTILE},
        "compared_memory": {"side": sides, "time": ones, "process": ones, "managed": ones},
    }


def away() -> Recording:
    """A recording of one task that gives its thread back for six of its ten seconds."""
    recording = Recording()
    times = {"start": [START], "stop": [START + 10], "done": [START + 10]}
    tables: dict[str, dict[str, Any]] = {
        "about": {"name": ["name", "stopped"], "value": ['"away"', str(START + 10)]},
        "workers": {"worker": ["w"], "name": ["0"], "threads": [1], "joined": [START]},
        "graph": {"task": [0], "key": ["waits-0"], "prefix": ["waits"]},
        "attempts": {"run": [0], "task": [0], "worker": ["w"], "thread": ["t"], "status": ["ok"], **times},
        "phases": {"run": [0], "action": ["seceded"], "start": [START + 2], "stop": [START + 8]},
    }
    for table, columns in tables.items():
        recording.append(encode(table, columns))
    return recording


def empty() -> Recording:
    """A recording that nothing came into."""
    recording = Recording()
    recording.append(encode("about", {"name": ["name"], "value": ['"empty"']}))
    return recording


MAKERS = {
    "real": real,
    "faulty": faulty,
    "compared": compared,
    "threads": threads,
    "synthetic": lambda: synthetic(Size(tasks=20_000, lanes=16, samples=20_000, stacks=1_500)),
    "hostile": hostile,
    "away": away,
    "going-on": away,
    "empty": empty,
}


#: Reports of which other tools get a file too.
EXPORTED = ("real", "hostile")
#: Seconds after which a newer one would take a report's place.
RENEWED = {"going-on": 6.0}


def main() -> None:
    """Write every report, or those that are named, into the folder."""
    folder, *wanted = sys.argv[1:]
    for name in wanted or MAKERS:
        recording = MAKERS[name]()
        page = write_report(recording, Path(folder) / f"{name}.html", renewed=RENEWED.get(name))
        print(page, flush=True)
        for format in ("trace", "speedscope") if name in EXPORTED else ():
            print(recording.export(Path(folder) / f"{name}.{format}.json", force=True), flush=True)


if __name__ == "__main__":
    main()
