"""Turns what a sampler gave into rows of the recording."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...identity import Namespace, Stacks, stacks_at
from ..dynamic import shown_files
from .gather import Gather


def profile(
    process: str,
    told: dict[str, Any],
    offset: float,
    stacks: Stacks,
    runs: Namespace | None,
    gather: Gather,
) -> None:
    """Gather stacks, samples and sampling.

    Parameters
    ----------
    process
        The process that was sampled.
    told
        What `probe.messages.packed_profile` made of a sampler's drain.
    offset
        Its clock minus the scheduler's, seconds.
    stacks
        The recording's stacks.
    runs
        The recording's ids of the runs, if there are any.
    gather
        Where rows go.
    """
    samples = told["samples"]
    frames = told["frames"]
    ids, new = stacks.absorb(
        {**frames, "file": shown_files(frames["file"], frames["function"], frames["first_line"])}
    )
    if new is not None:
        gather.batch(new)
    rows = len(samples["thread"])
    if rows:
        run = np.frombuffer(samples["run"], "<u4")
        columns: dict[str, Any] = {
            "process": [process] * rows,
            "thread": samples["thread"],
            "time": np.frombuffer(samples["time"], "<f8") - offset,
            "duration": np.frombuffer(samples["duration"], "<f4"),
            "stack": stacks_at(ids, np.frombuffer(samples["stack"], "<u4")),
            "run": run if runs is None else runs.map(run),
        }
        gather.add("samples", columns)
    sampling = {name: list(values) for name, values in told["sampling"].items()}
    sampling["time"] = [when - offset for when in sampling["time"]]
    gather.add("sampling", sampling | {"process": [process]})
