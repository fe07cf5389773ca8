"""Ids of several sources in one recording, and stacks that several samplers saw."""

from __future__ import annotations

import numpy as np
import pytest

from dask_insight.batch import encode
from dask_insight.identity import Identity, Stacks, stacks_at
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING
from dask_insight.sources.cluster.gather import Gather
from dask_insight.sources.cluster.profiles import profile

FRAMES = {
    "parent": [NOTHING, 0],
    "function": ["outer", "inner"],
    "file": ["a.py", "a.py"],
    "line": [3, 9],
    "first_line": [1, 8],
}


def test_sources_that_count_alike_get_different_ids() -> None:
    identity = Identity()
    first, second = identity.namespace("task"), identity.namespace("task")
    local = np.array([0, 1, 1 << 16, 1 << 20, NOTHING], "u4")
    ours, theirs = first.map(local), second.map(local)
    assert ours[-1] == theirs[-1] == NOTHING
    assert not set(ours[:-1].tolist()) & set(theirs[:-1].tolist())
    assert first.map(local).tolist() == ours.tolist()


def test_ids_of_many_sources_of_a_few_tasks_each_stay_dense() -> None:
    identity = Identity()
    ids = np.concatenate([identity.namespace("task").map(np.arange(100)) for _ in range(40)])
    assert len(set(ids.tolist())) == 40 * 100
    assert ids.max() < 4_000_000, "pages hold a table of all ids up to the last"


def test_a_large_source_that_counts_on_keeps_its_ids() -> None:
    tasks = Identity().namespace("task")
    for first in range(0, 200_000, 10_000):
        local = np.arange(first, first + 10_000)
        assert tasks.map(local).tolist() == local.tolist()


def test_ids_of_many_blocks_in_any_order_are_mapped_as_each_by_itself() -> None:
    tasks = Identity().namespace("task")
    local = [5 << 16 | 9, 3, NOTHING, 5 << 16, 2 << 16 | 9, 3]
    assert tasks.map(local).tolist() == [tasks.map([each])[0] for each in local]


def test_what_names_no_id_takes_none() -> None:
    identity = Identity()
    nothing = identity.namespace("task")
    assert nothing.map([NOTHING, NOTHING]).tolist() == [NOTHING, NOTHING]
    assert not identity.is_used
    assert identity.namespace("task").map([5, NOTHING]).tolist() == [5, NOTHING]


def test_stacks_beyond_the_bound_are_told_of_again() -> None:
    stacks = Stacks(most=3)
    first, _ = stacks.absorb(FRAMES)
    other = {**FRAMES, "function": ["outer", "another"]}
    stacks.absorb(other)
    assert stacks.since == 0
    again, new = stacks.absorb(FRAMES)
    assert new is not None and not set(again.tolist()) & set(first.tolist())
    assert stacks.since == 0, "what the last generation gave out may still be on its way"
    stacks.absorb(other)
    stacks.absorb(FRAMES)
    assert stacks.since == again[0]


def test_the_same_stack_has_one_id() -> None:
    stacks = Identity().stacks
    ids, new = stacks.absorb(FRAMES)
    again, nothing_new = stacks.absorb(FRAMES)
    assert new is not None and nothing_new is None
    assert ids.tolist() == again.tolist()


def test_a_sample_without_frames_has_no_stack() -> None:
    ids = np.array([7, 5], "u4")
    assert stacks_at(ids, [1, NOTHING, 0]).tolist() == [5, NOTHING, 7]
    assert stacks_at(np.array([], "u4"), [NOTHING]).tolist() == [NOTHING]


@pytest.mark.parametrize("seen", [[1, NOTHING], [NOTHING, NOTHING]])
def test_samples_without_frames_are_kept_with_their_time(seen: list[int]) -> None:
    """A thread at the very start of a task has no frame of it; that must not end the recording."""
    told = {
        "frames": FRAMES,
        "samples": {
            "thread": ["1", "1"],
            "time": np.array([10.0, 10.01]).tobytes(),
            "duration": np.array([0.01, 0.01], "<f4").tobytes(),
            "stack": np.array(seen, "<u4").tobytes(),
            "run": np.array([3, 3], "<u4").tobytes(),
        },
        "sampling": {"time": [10.0], "period": [1.0], "samples": [2], "interval": [0.01], "cost": [0.0]},
    }
    identity, recording = Identity(), Recording()
    recording.append(encode("about", {"name": ["started"], "value": ["10.0"]}))
    gather = Gather(recording.append)
    profile("tcp://w", told, 0.0, identity.stacks, identity.namespace("run"), gather)
    gather.flush()
    assert len(recording.samples) == 2
    tree = recording.flame()
    assert tree["self"].sum() == pytest.approx(0.01 * sum(one != NOTHING for one in seen), rel=1e-3)
