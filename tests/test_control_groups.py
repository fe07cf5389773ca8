"""Limits of containers and jobs: found wherever Linux keeps them, told of processes that really hit them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import wait_for

import dask_insight
from dask_insight.probe.control_groups import Group, groups
from dask_insight.probe.cpu_limit import CpuLimit
from dask_insight.probe.memory_limit import MemoryLimit

STAT = "nr_periods 10\nnr_throttled {}\nthrottled_time 5\n"


def system(
    folder: Path, mounts: str, listed: str, files: dict[str, str], controller: str = "cpu"
) -> Iterator[Group]:
    """This process's groups where they are mounted so, and hold this."""
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    (folder / "mounts").write_text(mounts.replace("MOUNT", str(folder)))
    (folder / "groups").write_text(listed)
    return groups(controller, str(folder / "mounts"), str(folder / "groups"))


UNIFIED = "30 24 0:27 / MOUNT/u rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
LEGACY = "31 24 0:28 {} MOUNT/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
OTHERS = (
    "22 1 8:1 / / rw - ext4 /dev/root rw\n32 24 0:29 / MOUNT/memory rw - cgroup cgroup rw,memory,cpuset\n"
)


@pytest.mark.parametrize(
    ("mounts", "listed", "files", "cores"),
    [
        pytest.param(
            UNIFIED,
            "0::/\n",
            {"u/cpu.max": "150000 100000\n", "u/cpu.stat": STAT.format(1)},
            1.5,
            id="a container",
        ),
        pytest.param(
            UNIFIED,
            "0::/kubepods/pod/box\n",
            {
                "u/kubepods/pod/cpu.max": "200000 100000\n",
                "u/kubepods/pod/cpu.stat": STAT.format(2),
                "u/kubepods/pod/box/cpu.max": "max 100000\n",
                "u/kubepods/pod/box/cpu.stat": STAT.format(0),
            },
            2.0,
            id="of the group around",
        ),
        pytest.param(
            OTHERS + LEGACY.format("/"),
            "9:memory,cpuset:/m\n4:cpu,cpuacct:/job/step\n0::/\n",
            {
                "cpu,cpuacct/job/cpu.cfs_quota_us": "400000\n",
                "cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
                "cpu,cpuacct/job/cpu.stat": STAT.format(0),
                "cpu,cpuacct/job/step/cpu.cfs_quota_us": "25000\n",
                "cpu,cpuacct/job/step/cpu.cfs_period_us": "50000\n",
                "cpu,cpuacct/job/step/cpu.stat": STAT.format(3),
            },
            0.5,
            id="the tightest of several",
        ),
        pytest.param(
            LEGACY.format("/docker/4711"),
            "4:cpu,cpuacct:/docker/4711\n",
            {
                "cpu,cpuacct/cpu.cfs_quota_us": "300000\n",
                "cpu,cpuacct/cpu.cfs_period_us": "100000\n",
                "cpu,cpuacct/cpu.stat": STAT.format(3),
            },
            3.0,
            id="a container that sees no more than its own",
        ),
        pytest.param(
            LEGACY.format("/"),
            "4:cpu,cpuacct:/docker/4711\n",
            {
                "cpu,cpuacct/cpu.cfs_quota_us": "300000\n",
                "cpu,cpuacct/cpu.cfs_period_us": "100000\n",
                "cpu,cpuacct/cpu.stat": STAT.format(3),
            },
            3.0,
            id="a group that is not to be seen",
        ),
    ],
)
def test_the_limit_is_found(
    tmp_path: Path, mounts: str, listed: str, files: dict[str, str], cores: float
) -> None:
    limit = CpuLimit(system(tmp_path, mounts, listed, files))
    assert limit.cores == cores
    assert limit.sample() == {"cpu_limit": cores, "throttled": 0.0}
    limit.close()
    limit.close()


@pytest.mark.parametrize(
    ("mounts", "listed", "files"),
    [
        pytest.param(
            UNIFIED, "0::/\n", {"u/cpu.max": "max 100000\n", "u/cpu.stat": STAT.format(0)}, id="none"
        ),
        pytest.param(
            LEGACY.format("/"),
            "4:cpu,cpuacct:/\n",
            {"cpu,cpuacct/cpu.cfs_quota_us": "-1\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n"},
            id="none, told as -1",
        ),
        pytest.param(UNIFIED, "0::/\n", {"u/cpu.max": "100000 100000\n"}, id="nothing tells how often"),
        pytest.param(
            UNIFIED,
            "0::/\n",
            {"u/cpu.max": "100000 100000\n", "u/cpu.stat": "usage_usec 7\n"},
            id="nothing tells of periods",
        ),
        pytest.param(UNIFIED, "0::/\n", {"u/cpu.max": "no numbers\n"}, id="not understood"),
        pytest.param("a line of another kind\n", "0::/\n", {}, id="mounts not understood"),
        pytest.param(UNIFIED, "groups\n", {}, id="groups not understood"),
    ],
)
def test_without_a_limit_nothing_is_told(
    tmp_path: Path, mounts: str, listed: str, files: dict[str, str]
) -> None:
    limit = CpuLimit(system(tmp_path, mounts, listed, files))
    assert not limit.cores > 0
    assert limit.sample() == {}
    limit.close()


def test_other_systems_tell_nothing(tmp_path: Path) -> None:
    assert CpuLimit(groups("cpu", str(tmp_path / "mounts"), str(tmp_path / "groups"))).sample() == {}


def test_the_share_is_of_the_periods_since_the_last_sample(tmp_path: Path) -> None:
    files = {"u/cpu.max": "100000 100000\n", "u/cpu.stat": STAT.format(5)}
    limit = CpuLimit(system(tmp_path, UNIFIED, "0::/\n", files))
    (tmp_path / "u/cpu.stat").write_text("nr_periods 14\nnr_throttled 8\n")
    assert limit.sample()["throttled"] == 0.75
    assert limit.sample()["throttled"] == 0.0
    (tmp_path / "u/cpu.stat").write_text("")
    share = limit.sample()["throttled"]
    assert share != share, "what cannot be read is missing, and the rows keep their columns"
    limit.close()


MEMORY = "32 24 0:29 / MOUNT/memory rw - cgroup cgroup rw,memory\n"


@pytest.mark.parametrize(
    ("mounts", "listed", "limits", "files"),
    [
        pytest.param(
            UNIFIED,
            "0::/pod/box\n",
            "u/pod",
            {
                "u/pod/memory.max": "1048576\n",
                "u/pod/memory.events": "low 0\noom 4\noom_kill 3\n",
                "u/pod/box/memory.max": "max\n",
                "u/pod/box/memory.events": "oom_kill 1\n",
            },
            id="unified",
        ),
        pytest.param(
            MEMORY,
            "9:memory:/job/step\n",
            "memory/job",
            {
                "memory/memory.limit_in_bytes": "9223372036854771712\n",
                "memory/job/memory.limit_in_bytes": "1048576\n",
                "memory/job/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
                "memory/job/step/memory.limit_in_bytes": "9223372036854771712\n",
                "memory/job/step/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
            },
            id="a tree for memory, which counts where the process was",
        ),
        pytest.param(
            UNIFIED + MEMORY,
            "9:memory:/job/step\n0::/job/step\n",
            "memory/job",
            {
                "u/job/step/cgroup.procs": "1\n",
                "memory/job/memory.limit_in_bytes": "1048576\n",
                "memory/job/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
                "memory/job/step/memory.limit_in_bytes": "9223372036854771712\n",
                "memory/job/step/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
            },
            id="a tree for memory, below one that has no memory",
        ),
    ],
)
def test_what_memory_is_allowed(
    tmp_path: Path, mounts: str, listed: str, limits: str, files: dict[str, str]
) -> None:
    told = MemoryLimit(system(tmp_path, mounts, listed, files, "memory")).sample()
    assert (told["memory_allowed"], told["oom_kills"]) == (2**20, 3)
    assert told["memory_group"] == (tmp_path / limits).stat().st_ino


@pytest.mark.parametrize("text", ["9223372036854771712\n", "max\n", "no number\n"])
def test_a_limit_beyond_what_the_machine_has_is_none(tmp_path: Path, text: str) -> None:
    files = {"u/memory.max": text, "u/memory.events": "oom_kill 1\n"}
    assert MemoryLimit(system(tmp_path, UNIFIED, "0::/\n", files, "memory")).sample() == {}


def test_kills_that_nothing_tells_of_are_missing(tmp_path: Path) -> None:
    files = {"u/memory.max": "1048576\n"}
    kills = MemoryLimit(system(tmp_path, UNIFIED, "0::/\n", files, "memory")).sample()["oom_kills"]
    assert kills != kills


@contextmanager
def limited(*places: tuple[str, dict[str, str]]) -> Iterator[Path]:
    """A control group of the system's own, in the first of these trees where one can be made."""
    for top, limits in places:
        group = Path(top, f"dask_insight-{os.getpid()}")
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            for name, limit in limits.items():
                (group / name).write_text(limit)
        except OSError:
            group.rmdir()
            continue
        try:
            yield group
        finally:
            for process in (group / "cgroup.procs").read_text().split():
                # It may have ended meanwhile.
                with suppress(OSError):
                    (group.parent / "cgroup.procs").write_text(process)
            wait_for(partial(_removed, group), "nothing is in the group any more")
        return
    pytest.skip("control groups can be made by root alone, where they can be written to")


def _removed(group: Path) -> bool:
    try:
        group.rmdir()
    except OSError:
        return False
    return True


@pytest.fixture
def a_fifth_of_a_core() -> Iterator[Path]:
    """A group whose processes have a fifth of a core together."""
    with limited(
        ("/sys/fs/cgroup/cpu", {"cpu.cfs_quota_us": "20000"}), ("/sys/fs/cgroup", {"cpu.max": "20000 100000"})
    ) as group:
        yield group


@pytest.fixture
def little_memory() -> Iterator[Path]:
    """A group whose processes have 500 MiB together, and nowhere to put what is beyond."""
    with limited(
        ("/sys/fs/cgroup/memory", {"memory.limit_in_bytes": "500M", "memory.swappiness": "0"}),
        ("/sys/fs/cgroup", {"memory.max": "500M", "memory.swap.max": "0"}),
    ) as group:
        yield group


def enter(group: str) -> None:
    """Have this process be in a group."""
    (Path(group) / "cgroup.procs").write_text(str(os.getpid()))


def spin(number: int) -> int:
    """Some tenths of a second of pure Python."""
    return sum(each % 7 for each in range(1_000_000)) + number


def test_workers_that_a_limit_stops(client: Any, a_fifth_of_a_core: Path) -> None:
    client.run(enter, str(a_fifth_of_a_core))
    with dask_insight.record(client=client) as run:
        client.gather(client.map(spin, range(8), pure=False))
    found = run.findings()
    codes = {each.code: each for each in found}
    assert "cpu-limit" in codes, found
    assert codes.keys().isdisjoint({"busy-host", "oversubscribed", "event-loop-lag"}), found
    told = codes["cpu-limit"]
    assert "0.2 cores stopped workers" in told.title
    assert "--nworkers 1 --nthreads 1" in told.advice and "'cpu': '4'" in told.advice
    assert told.cost_seconds > 0.25 * found.seconds
    assert set(told.workers) <= set(run.workers["worker"])
    home = run.resources[run.resources["process"].isin(["scheduler", "client"])]
    assert home["cpu_limit"].isna().all(), "it holds for the workers alone"


def test_a_process_that_a_limit_stops(a_fifth_of_a_core: Path) -> None:
    before = CpuLimit()
    enter(str(a_fifth_of_a_core))
    limit = CpuLimit()
    assert limit.cores == 0.2 and before.cores != 0.2

    def reached() -> bool:
        spin(0)
        return limit.sample()["throttled"] > 0.5

    wait_for(reached, "the limit was reached")
    limit.close()
    before.close()


def fill(mebibytes: int) -> int:
    """Have so much memory, for a moment."""
    return len(bytearray(mebibytes * 2**20))


def test_a_worker_that_the_system_kills_for_memory(little_memory: Path) -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="2GiB", dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        first, _ = client.run(enter, str(little_memory))
        with dask_insight.record(client=client) as run:
            client.gather(client.map(fill, [1] * 8, pure=False))

            def known() -> bool:
                return run.resources.dropna(subset="oom_kills")["process"].nunique() == 2

            wait_for(known, "both workers have told what they are allowed")
            # Its nanny's next process is another worker, which may not have it.
            future = client.submit(fill, 900, key="too-much", workers=[first])

            def seen() -> bool:
                return bool((run.resources["oom_kills"] > 0).any())

            wait_for(seen, "the worker that is still there has seen that the other was killed")
            client.gather(client.map(fill, [1] * 8, pure=False))
            future.cancel()
    found = {each.code: each for each in run.findings()}
    told = found["memory-limit"]
    assert told.severity == "critical"
    assert "1 time" in told.title and "500 MiB" in told.title.replace("\u202f", " ")
    assert "killed processes of it for memory, 1 time" in found["worker-lost"].why
    assert found["worker-lost"].tasks[0] == "too-much"
