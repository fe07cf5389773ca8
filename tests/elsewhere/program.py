"""Records a cluster and the local schedulers, and looks at what came of it in every way."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from dask import delayed
from distributed import Client, LocalCluster

import dask_insight
from dask_insight.hosts.cli import main


def spin(number: int) -> int:
    """Compute for some time."""
    until = time.perf_counter() + 0.03
    while time.perf_counter() < until:
        number += 1
    return number


def fails(number: int) -> int:
    """Raise."""
    raise ValueError(f"− ☃ {number}")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with (
        LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        dask_insight.record(folder / "cluster.dinsight") as run,
    ):
        client.gather(client.submit(sum, client.map(spin, range(40))))
        client.gather(client.map(abs, range(200)))
        client.submit(fails, 1, retries=1).exception()
    for scheduler in ("threads", "sync", "processes"):
        with dask_insight.record(folder / f"{scheduler}.dinsight", clusters=False):
            delayed(sum)([delayed(spin)(number) for number in range(20)]).compute(scheduler=scheduler)
    files = [str(path) for path in folder.glob("*.dinsight")]
    for file in files:
        for command in ("report", "info", "findings", "what-if"):
            assert main([command, file]) == 0, (command, file)
        for name in ("chrome", "speedscope", "collapsed", "pprof", "otlp", "mermaid", "json", "csv", "svg"):
            assert main(["export", file, "--to", name]) == 0, (name, file)
    assert main(["compare", *files]) == 0
    print(run.summary(), run.findings(), run)
