"""Runs on GPUs, made by hand: what NVML tells stands beside tasks that were run on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .planting import clean, plant

if TYPE_CHECKING:
    from dask_insight.recording import Recording

_GIB = 2.0**30
_TOTAL = 80 * _GIB


def _run(utilization: Any, memory: Any, seconds: float = 0.5) -> Recording:
    """Two workers of one thread and a GPU each, a chunk loaded and convolved after the other."""
    # Workers import this module, and need not have what is tested.
    from graphs import START, Task, ran

    tasks: list[Task] = []
    for number in range(40):
        tasks.append(Task("read_chunk", 0.1 * seconds, nbytes=2e8))
        tasks.append(Task("convolve", 0.9 * seconds, [2 * number], nbytes=2e8))
    length = 20 * seconds
    time = np.tile(np.arange(0, length, 0.2), 2)
    worker = np.repeat(["w0", "w1"], len(time) // 2)
    gpus = {
        "process": worker.tolist(),
        "time": (START + time).tolist(),
        "index": np.repeat([0, 1], len(time) // 2).tolist(),
        "name": [f"NVIDIA H200 GPU-{each}" for each in worker],
        "utilization": utilization(time).tolist(),
        "memory": (memory(time) * _TOTAL).tolist(),
        "memory_total": [_TOTAL] * len(time),
    }
    return ran(tasks, (1, 1), gpus=gpus)


def _waves(low: float, high: float) -> Any:
    return lambda time: low + (high - low) * (0.5 + 0.5 * np.sin(time * 2.0))


@plant("gpu-idle", "convolve", cluster=None)
def a_gpu_that_is_fed_too_slowly(_: Any) -> Recording:
    return _run(_waves(2.0, 16.0), _waves(0.3, 0.5))


@plant("gpu-memory", "convolve", cluster=None)
def a_gpu_that_is_nearly_full(_: Any) -> Recording:
    return _run(_waves(82.0, 99.0), lambda time: np.minimum(0.975, 0.4 + 0.08 * time))


@clean("gpu", cluster=None)
def a_gpu_that_is_busy(_: Any) -> Recording:
    return _run(_waves(80.0, 99.0), _waves(0.3, 0.6))
