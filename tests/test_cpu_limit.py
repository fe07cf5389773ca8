"""Limits on CPU time: found wherever Linux keeps them, and told of processes that one really stops."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from conftest import wait_for

import dask_insight
from dask_insight.probe.cpu_limit import CpuLimit

STAT = "nr_periods 10\nnr_throttled {}\nthrottled_time 5\n"


def system(folder: Path, mounts: str, groups: str, files: dict[str, str]) -> CpuLimit:
    """A limit as it is found where control groups are mounted so, and this process is in these groups."""
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    (folder / "mounts").write_text(mounts.replace("MOUNT", str(folder)))
    (folder / "groups").write_text(groups)
    return CpuLimit(str(folder / "mounts"), str(folder / "groups"))


UNIFIED = "30 24 0:27 / MOUNT/u rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
LEGACY = "31 24 0:28 {} MOUNT/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
OTHERS = (
    "22 1 8:1 / / rw - ext4 /dev/root rw\n32 24 0:29 / MOUNT/memory rw - cgroup cgroup rw,memory,cpuset\n"
)


@pytest.mark.parametrize(
    ("mounts", "groups", "files", "cores"),
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
    tmp_path: Path, mounts: str, groups: str, files: dict[str, str], cores: float
) -> None:
    limit = system(tmp_path, mounts, groups, files)
    assert limit.cores == cores
    assert limit.sample() == {"cpu_limit": cores, "throttled": 0.0}
    limit.close()
    limit.close()


@pytest.mark.parametrize(
    ("mounts", "groups", "files"),
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
    tmp_path: Path, mounts: str, groups: str, files: dict[str, str]
) -> None:
    limit = system(tmp_path, mounts, groups, files)
    assert not limit.cores > 0
    assert limit.sample() == {}
    limit.close()


def test_other_systems_tell_nothing(tmp_path: Path) -> None:
    assert CpuLimit(str(tmp_path / "mounts"), str(tmp_path / "groups")).sample() == {}


def test_the_share_is_of_the_periods_since_the_last_sample(tmp_path: Path) -> None:
    files = {"u/cpu.max": "100000 100000\n", "u/cpu.stat": STAT.format(5)}
    limit = system(tmp_path, UNIFIED, "0::/\n", files)
    (tmp_path / "u/cpu.stat").write_text("nr_periods 14\nnr_throttled 8\n")
    assert limit.sample()["throttled"] == 0.75
    assert limit.sample()["throttled"] == 0.0
    (tmp_path / "u/cpu.stat").write_text("")
    share = limit.sample()["throttled"]
    assert share != share, "what cannot be read is missing, and the rows keep their columns"
    limit.close()


@pytest.fixture
def half_a_core() -> Iterator[Path]:
    """A control group of the system's own whose processes have half a core together."""
    places = (
        ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "50000"),
        ("/sys/fs/cgroup", "cpu.max", "50000 100000"),
    )
    for top, name, quota in places:
        group = Path(top, f"dask_insight-{os.getpid()}")
        with suppress(OSError):
            group.mkdir()
            try:
                (group / name).write_text(quota)
                (group / "cgroup.procs").read_text()
                yield group
            finally:
                with suppress(OSError):
                    for process in (group / "cgroup.procs").read_text().split():
                        (group.parent / "cgroup.procs").write_text(process)
                group.rmdir()
            return
    pytest.skip("only root may make control groups, where they can be written to")


def spin(number: int) -> int:
    """Some tenths of a second of pure Python."""
    return sum(each % 7 for each in range(1_500_000)) + number


def test_workers_that_a_limit_stops(client: Any, half_a_core: Path) -> None:
    def enter(group: str) -> None:
        import os
        from pathlib import Path

        (Path(group) / "cgroup.procs").write_text(str(os.getpid()))

    client.run(enter, str(half_a_core))
    with dask_insight.record(client=client) as run:
        client.gather(client.map(spin, range(12), pure=False))
    found = run.findings()
    assert found[0].code == "cpu-limit", found
    assert "0.5 cores stopped workers" in found[0].title
    assert "--nworkers 1 --nthreads 1" in found[0].advice and "'cpu': '4'" in found[0].advice
    assert found[0].cost_seconds > 0.25 * found.seconds
    assert set(found[0].workers) <= set(run.workers["worker"])
    assert {each.code for each in found}.isdisjoint({"busy-host", "oversubscribed"})
    home = run.resources[run.resources["process"].isin(["scheduler", "client"])]
    assert home["cpu_limit"].isna().all(), "it holds for the workers alone"


def test_a_process_that_a_limit_stops(half_a_core: Path) -> None:
    before = CpuLimit()
    (half_a_core / "cgroup.procs").write_text(str(os.getpid()))
    limit = CpuLimit()
    assert limit.cores == 0.5 and before.cores != 0.5

    def reached() -> bool:
        spin(0)
        return limit.sample()["throttled"] > 0.5

    wait_for(reached, "the limit was reached")
    limit.close()
    before.close()
