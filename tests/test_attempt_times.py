"""Attempts are in the recording at once; their times are right once their worker has told Dask's shift."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dask_insight.batch import encode
from dask_insight.identity import Identity
from dask_insight.pack import packed
from dask_insight.recording import Recording
from dask_insight.sources.cluster.attempts import Attempts
from dask_insight.sources.cluster.clocks import Clocks
from dask_insight.sources.cluster.gather import Gather
from dask_insight.sources.cluster.layouts import DTYPES
from dask_insight.timeline.ticks import evened

NOW = 1_700_000_000.0


class Scene:
    """One worker whose clock is 2 s ahead, and what comes of it."""

    def __init__(self) -> None:
        self.recording = Recording()
        identity = Identity()
        self.gather = Gather(self.recording.append)
        self.clocks = Clocks()
        self.clocks.of("w").offset = 2.0
        self.clocks.of("w").corrected(NOW, 0.25)
        self.attempts = Attempts(
            self.recording.append,
            self.gather,
            self.clocks,
            tasks=identity.namespace("task"),
            runs=identity.namespace("run"),
        )

    def ended(self, runs: list[int], start: list[float], shift: float, ready: float = -1.0) -> None:
        found = np.zeros(len(runs), DTYPES["attempts"])
        found["run"] = found["task"] = runs
        found["start"] = NOW + np.array(start) + 2.0 + shift
        found["stop"] = found["start"] + 1
        found["done"] = NOW + np.array(start) + 1.5
        found["ready"] = NOW + ready
        self.attempts.take(
            found,
            workers=["w"],
            types=["int"],
            submitted=np.full(len(runs), NOW),
        )

    def told(self, runs: list[int], shift: float) -> dict[str, Any]:
        ids = np.array(runs, "u4")
        delays, codes = np.full(len(runs), shift), np.zeros(len(runs), "u4")
        return dict(self.attempts.told(["w"], codes, ids, delays, NOW + 10))


def test_an_attempt_does_not_wait_for_its_worker() -> None:
    scene = Scene()
    scene.ended([1], [5.0], shift=0.25)
    assert scene.recording.columns("attempts")["start"] == pytest.approx(NOW + 5, abs=1e-6)


def test_a_guess_that_was_right_needs_no_word() -> None:
    scene = Scene()
    scene.ended([1, 2], [5.0, 6.0], shift=0.25)
    better = scene.told([1, 2], 0.25)
    assert np.isnan(better["start"]).all()
    assert np.isnan(better["stop"]).all()


def test_a_wrong_guess_is_put_right() -> None:
    scene = Scene()
    scene.ended([1, 2], [5.0, 6.0], shift=0.29)
    better = scene.told([9, 2], 0.29)
    np.testing.assert_allclose(better["start"], [np.nan, NOW + 6], atol=1e-6)
    np.testing.assert_allclose(better["stop"], [np.nan, NOW + 7], atol=1e-6)
    # Each is put right once.
    assert np.isnan(scene.told([2], 0.29)["start"]).all()


def test_a_worker_may_tell_first() -> None:
    scene = Scene()
    scene.told([1], 0.29)
    scene.ended([1], [5.0], shift=0.29)
    assert scene.recording.columns("attempts")["start"] == pytest.approx(NOW + 5, abs=1e-6)


def test_clocks_that_cannot_be_are_told_of_once_they_are_certain() -> None:
    scene = Scene()
    scene.ended([1], [5.0], shift=0.0, ready=5.1)
    scene.gather.flush()
    assert scene.recording.events.empty
    scene.told([1], 0.0)
    scene.gather.flush()
    (event,) = scene.recording.events.to_dict("records")
    assert (event["kind"], event["source"]) == ("clock", "w")
    assert "by up to 100 ms" in event["message"]


class Untouched(list[Any]):
    """Who goes through all of them fails."""

    def __iter__(self) -> Any:
        raise AssertionError("all of them are looked at")


def test_of_all_workers_that_there_ever_were_only_those_that_ended_something_are_looked_at() -> None:
    scene = Scene()
    found = np.zeros(2, DTYPES["attempts"])
    found["run"], found["worker"], found["thread"] = [0, 1], [3, 0], [3, 1 << 63]
    found["start"] = NOW + 2.25
    scene.attempts.take(
        found,
        workers=Untouched(f"w{worker}" for worker in range(10)),
        types=Untouched(["int"]),
        submitted=np.full(2, NOW),
    )
    columns: Any = scene.recording.columns("attempts")
    assert (columns["worker"].tolist(), columns["thread"].tolist()) == (
        ["w3", "w0"],
        ["3", str(1 << 63)],
    )


def test_packing_moves_better_times_to_the_attempts() -> None:
    recording = Recording()
    times = {"start": [NOW, NOW + 1], "stop": [NOW + 1, NOW + 2]}
    recording.append(encode("attempts", {"run": [1, 2], "task": [1, 2], **times}))
    better = {"start": [np.nan, NOW + 1.5], "stop": [np.nan, NOW + 2.5]}
    recording.append(encode("executions", {"run": [1, 2], "worker": ["w", "w"], **better}))
    assert recording.tasks["start"].tolist() == [0.0, 1.5]
    small = Recording()
    for batch in packed(recording.columns):
        small.append(batch)
    assert small.tasks["start"].tolist() == [0.0, 1.5]
    assert small.attempts["start"].tolist() == [0.0, 1.5]
    assert small.executions["start"].isna().all()


def test_cpu_time_that_is_counted_in_ticks_is_that_of_all_short_attempts() -> None:
    numbers, group = np.random.default_rng(0), np.repeat([0, 1], 4000)
    length = numbers.uniform(0.002, 0.02, 8000)
    spent = length * np.where(group == 0, 1.0, 0.25)
    ticks = np.floor(spent * 64 + numbers.uniform(0, 1, 8000)) / 64
    cpu = evened(ticks, length, group)
    assert (cpu <= length).all()
    assert cpu[group == 0] == pytest.approx(length[group == 0], rel=0.05)
    assert cpu[group == 1] == pytest.approx(length[group == 1] / 4, rel=0.05)
    assert evened(np.where(ticks > 0, ticks, np.nan), length, group) == pytest.approx(cpu)
    assert evened(spent, length, group) is spent, "told finely"
    assert evened(np.array([0.5, 1 / 64]), np.array([2.0, np.nan]), np.array([0, 0])).tolist() == [
        0.5,
        1 / 64,
    ]
    assert evened(np.array([1e-6]), np.array([0.01]), np.array([0])).tolist() == [1e-6]
