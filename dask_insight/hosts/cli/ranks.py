"""A program that a launcher, as of MPI, starts several times at once: which of the processes this is.

Each would write the same file. So each writes one of its own, that names its rank, and those that had
nothing to do with Dask leave none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

#: By launcher, where it says how many processes there are, and which of them this is.
_LAUNCHERS = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"),
    ("PALS_SIZE", "PALS_RANKID"),
    ("FLUX_JOB_SIZE", "FLUX_TASK_RANK"),
    # Of a step, which `srun` starts; a batch script has the number of tasks, but is one process.
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
)


def rank(environment: Mapping[str, str] = os.environ) -> int | None:
    """Which of several processes of one program this is, from 0; None where it is the only one."""
    for many, which in _LAUNCHERS:
        size, number = environment.get(many, ""), environment.get(which, "")
        if size.isdecimal() and number.isdecimal() and int(size) > 1:
            return int(number)
    return None


def of_rank(path: Path, number: int | None) -> Path:
    """The file of a rank: run.dinsight becomes run-rank1.dinsight."""
    return path if number is None else path.with_name(f"{path.stem}-rank{number}{path.suffix}")
