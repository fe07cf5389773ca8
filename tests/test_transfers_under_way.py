"""How many bytes are under way between workers, and wait in the buffers of P2P, while they do."""

from __future__ import annotations

import math
import time
from types import SimpleNamespace
from typing import Any

import dask
import dask.dataframe as dd
import pandas as pd
from conftest import recorded, wait_for
from dask.utils import parse_bytes

from dask_insight.probe.buffers import Buffers
from dask_insight.probe.messages import losses
from dask_insight.probe.worker import Probe
from dask_insight.sources.losses import losses_sent

SIZE = 12_345_600


class Parcel:
    """Says how large it is; whoever unpacks it is seen while it does."""

    def __sizeof__(self) -> int:
        return SIZE

    def __reduce__(self) -> Any:
        return unpacked, ()


def unpacked() -> Parcel:
    from distributed import Worker

    [worker] = Worker._instances
    [probe] = [each for each in worker.plugins.values() if hasattr(each, "_pulse")]
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if sum(row.get("bytes_in", 0) > 0 for row in list(probe._pulse._rows)) > 4:
            break
        time.sleep(0.01)
    return Parcel()


def unpack(parcel: Parcel) -> int:
    return 1


def test_bytes_that_are_under_way_are_sampled(client: Any) -> None:
    first, second = sorted(client.scheduler_info(n_workers=-1)["workers"])
    with recorded(client, resources=0.05) as batches:
        parcel = client.submit(Parcel, key="parcel", pure=False, workers=[first])
        assert client.submit(unpack, parcel, pure=False, workers=[second]).result(60) == 1
    most = {
        # Python adds what it keeps of an object itself.
        (name, row["process"], round(row[name], -2))
        for row in batches.table("resources")
        for name in ("bytes_in", "bytes_out")
        if row[name] > 0
    }
    assert most == {("bytes_in", second, SIZE), ("bytes_out", first, SIZE)}
    assert all(
        math.isnan(row["bytes_in"]) for row in batches.table("resources") if row["process"] == "scheduler"
    )


def test_a_version_of_dask_that_does_not_tell_them_is_sampled_all_the_same() -> None:
    state = SimpleNamespace(
        executing_count=1, ready=(), constrained=(), waiting=(), transfer_incoming_count=2
    )
    probe: Any = SimpleNamespace(
        worker=SimpleNamespace(state=state, transfer_outgoing_count=3),
        _waits=SimpleNamespace(take=lambda: SimpleNamespace(core=0.0, gil=0.0)),
        _buffers=Buffers(SimpleNamespace(extensions={"shuffle": object()})),
    )
    counts = Probe._counts(probe)
    assert counts["transfers_in"] == 2 and math.isnan(counts["bytes_in"] + counts["bytes_out"])


def test_what_a_shuffle_held_is_over_also_for_who_came_just_then() -> None:
    held = {"memory": 5, "memory_limit": 9}
    shuffles = SimpleNamespace(heartbeat=lambda: {"run": {"comm": held, "disk": held}})
    buffers = Buffers(SimpleNamespace(extensions={"shuffle": shuffles}))
    buffers.look(1.0)
    buffers.tell_again()
    shuffles.heartbeat = dict
    buffers.look(2.0)
    assert {name: value for _, name, value in buffers.take() if name.endswith("memory")} == {
        "p2p.comm-memory": 0.0,
        "p2p.disk-memory": 0.0,
    }


def test_what_nobody_took_in_time_is_counted() -> None:
    held = {"memory": 0}
    shuffles = SimpleNamespace(heartbeat=lambda: {"run": {"comm": held, "disk": {"memory": 0}}})
    buffers = Buffers(SimpleNamespace(extensions={"shuffle": shuffles}))
    for moment in range(3000):
        held["memory"] = moment
        buffers.look(float(moment))
    assert (len(buffers.take()), buffers.dropped) == (2000, 1001)
    [loss] = losses_sent(losses(gauges=buffers))
    assert loss.number == 1001 and buffers.dropped == 0


def held_back(dask_worker: Any) -> None:
    """Have what shuffles hold wait to be sent and written until it has been seen."""
    import asyncio

    from distributed.shuffle._buffer import ShardsBuffer

    process, seen = ShardsBuffer.process, dict.fromkeys(("comm", "disk"), False)

    async def later(buffer: Any, *given: Any) -> None:
        kind = "comm" if "Comm" in type(buffer).__name__ else "disk"
        [probe] = [each for each in dask_worker.plugins.values() if hasattr(each, "_buffers")]
        until = time.monotonic() + 10
        while not seen[kind] and time.monotonic() < until:
            seen[kind] = probe._buffers._told.get(f"p2p.{kind}-memory", 0) > 0
            await asyncio.sleep(0.01)
        await process(buffer, *given)

    ShardsBuffer.process = later
    dask_worker.put_back = lambda: setattr(ShardsBuffer, "process", process)


def put_back(dask_worker: Any) -> None:
    dask_worker.put_back()


def test_what_p2p_holds_is_told_while_it_does(client: Any) -> None:
    frame = dd.from_pandas(pd.DataFrame({"x": range(10_000), "y": 1.0}), npartitions=4)
    with recorded(client, resources=0.05) as batches:
        client.run(held_back)
        try:
            with dask.config.set({"dataframe.shuffle.method": "p2p"}):
                assert len(frame.shuffle("x").compute()) == 10_000
            wait_for(lambda: all(ends(batches).values()), "both workers are sampled after it")
        finally:
            client.run(put_back)
    for worker in client.scheduler_info(n_workers=-1)["workers"]:
        of = [(row["name"], row["value"]) for row in batches.table("gauges") if row["worker"] == worker]
        for kind in ("comm", "disk"):
            held = [value for name, value in of if name == f"p2p.{kind}-memory"]
            assert max(held) > 0 and held[-1] == 0, (worker, kind)
            [limit] = {value for name, value in of if name == f"p2p.{kind}-limit"}
            assert limit == parse_bytes(dask.config.get(f"distributed.p2p.{STORES[kind]}.buffer"))


STORES = {"comm": "comm", "disk": "storage"}


def ends(batches: Any) -> dict[tuple[str, str], bool]:
    """Whether nothing is held any more, by worker and buffer."""
    rows = [row for row in batches.table("gauges") if row["name"].endswith("memory")]
    return {(row["worker"], row["name"]): row["value"] == 0 for row in rows} or {("", ""): False}
