"""A cluster in processes of its own, which computes what it is told on standard input.

    python -m benchmarks.live.cluster

Prints its address. `run N` computes N trivial tasks; `trickle SECONDS` some five hundred a second.
Each is answered by a line when it is done. Ends with its input.
"""

from __future__ import annotations

import sys
import time

from distributed import Client, LocalCluster

from ..overhead_run import increment

PIECE = 5_000
TURN = 0.1


def run(client: Client, tasks: int) -> None:
    """Compute trivial tasks, a piece at a time, so that no more than a piece is held."""
    for begin in range(0, tasks, PIECE):
        client.gather(client.map(increment, range(begin, min(tasks, begin + PIECE)), pure=False))


def steady(client: Client, rate: int, seconds: float) -> int:
    """Compute trivial tasks at an even rate; returns how many there were."""
    done, began = 0, time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        due = int(rate * passed) - done
        client.gather(client.map(increment, range(due), pure=False))
        done += due
        time.sleep(max(0.0, TURN - (time.monotonic() - began - passed)))
    return done


def main() -> None:
    """Start, obey, end."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        print(cluster.scheduler_address, flush=True)
        for line in sys.stdin:
            what, amount = line.split()
            if what == "run":
                run(client, int(amount))
            else:
                steady(client, 500, float(amount))
            print("done", flush=True)


if __name__ == "__main__":
    main()
