"""Leave recordings of the workloads in a folder, and say what is found in them."""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from .planting import FAULTS, Cluster, record, started


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", choices=[[], *FAULTS], metavar="NAME", help=", ".join(FAULTS))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    chosen = [FAULTS[name] for name in options.names or FAULTS]
    clients: dict[Cluster, Any] = {}
    with ExitStack() as kept:
        for workload in chosen:
            with ExitStack() as own:
                cluster = workload.cluster
                if cluster is None or cluster.spoilt:
                    client = own.enter_context(started(cluster))
                else:
                    if cluster not in clients:
                        clients[cluster] = kept.enter_context(started(cluster))
                    client = clients[cluster]
                began = time.perf_counter()
                run, workers = record(workload, client)
                took = time.perf_counter() - began
            run.save(options.folder / f"{workload.name}.dinsight")
            print(f"{workload.name}: {took:.1f} s {' '.join(workers)}", flush=True)


if __name__ == "__main__":
    main()
