"""What other programs do on a cluster is told to be theirs."""

from __future__ import annotations

import subprocess
import sys
import textwrap

from distributed import Client, wait

import dask_insight

THEIRS = """
    import sys
    from distributed import Client, wait

    def fails():
        raise ValueError("theirs")

    with Client(sys.argv[1]) as client:
        wait([client.submit(fails), *client.map(lambda number: number, range(5))])
"""


def increment(number: int) -> int:
    return number + 1


def test_tasks_of_other_clients_are_told_apart(client: Client) -> None:
    program = [sys.executable, "-c", textwrap.dedent(THEIRS), client.scheduler.address]
    with dask_insight.record(client=client) as run:
        wait(client.map(increment, range(4), pure=False))
        with Client(client.scheduler.address) as another:
            wait(another.map(increment, range(3), pure=False))
        subprocess.run(program, check=True, timeout=60)
    assert run.summary().others == (5, 1)
    assert "5 of the tasks were submitted by 1 other client." in run.summary().verdict()
    failed = next(each for each in run.findings() if each.code == "failed-tasks")
    assert failed.severity == "info"
    assert ("of them, submitted by other clients", 1) in [(fact.name, fact.value) for fact in failed.evidence]


def test_of_a_cluster_that_others_use_alone_all_tasks_are_told_alike(client: Client) -> None:
    program = [sys.executable, "-c", textwrap.dedent(THEIRS), client.scheduler.address]
    with dask_insight.record(client=client) as run:
        subprocess.run(program, check=True, timeout=60)
    assert run.summary().others == (0, 0)
    failed = next(each for each in run.findings() if each.code == "failed-tasks")
    assert failed.severity == "critical"


def asks(address: str, number: int) -> int:
    with Client(address, set_as_default=False) as own:
        return int(own.submit(increment, number, pure=False).result())


def test_what_tasks_submit_by_clients_of_their_own_is_the_programs(client: Client) -> None:
    with dask_insight.record(client=client) as run:
        client.gather(client.map(asks, [client.scheduler.address] * 3, range(3), priority=2))
    assert run.summary().others == (0, 0)
    assert run.table("submissions")["client"].str.startswith("Client-worker-").sum() == 3
