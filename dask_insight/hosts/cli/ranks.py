"""A program that is started several times with one command line: which of the processes this is.

A launcher, as of MPI, does so, and a batch system with the members of a job array. Each would write the
same file. So each writes one of its own, that names its rank or member; of a launcher's processes those
that had nothing to do with Dask leave none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
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
#: By batch system, where it says which member of a job array this is, and the first that there can be:
#: outside of an array, LSF says 0 and Grid Engine "undefined".
_ARRAYS = (
    ("SLURM_ARRAY_TASK_ID", 0),
    ("PBS_ARRAY_INDEX", 0),
    ("PBS_ARRAYID", 0),
    ("SGE_TASK_ID", 1),
    ("LSB_JOBINDEX", 1),
    # Kubernetes, AWS Batch.
    ("JOB_COMPLETION_INDEX", 0),
    ("AWS_BATCH_JOB_ARRAY_INDEX", 0),
)
#: Batch systems, Google's, that name one task alone, too.
_TASKS = (
    ("BATCH_TASK_COUNT", "BATCH_TASK_INDEX"),
    ("CLOUD_RUN_TASK_COUNT", "CLOUD_RUN_TASK_INDEX"),
)


def rank(environment: Mapping[str, str] = os.environ) -> int | None:
    """Which of several processes of one program this is, from 0; None where it is the only one."""
    return _one_of(_LAUNCHERS, environment)


def member(environment: Mapping[str, str] = os.environ) -> int | None:
    """Which member of a job array this is; None outside of one."""
    for which, first in _ARRAYS:
        number = environment.get(which, "")
        if number.isdecimal() and int(number) >= first:
            return int(number)
    return _one_of(_TASKS, environment)


def _one_of(known: Iterable[tuple[str, str]], environment: Mapping[str, str]) -> int | None:
    for many, which in known:
        size, number = environment.get(many, ""), environment.get(which, "")
        if size.isdecimal() and number.isdecimal() and int(size) > 1:
            return int(number)
    return None


def own(path: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """The file of this process: run.dinsight becomes run-task7.dinsight, run-rank1.dinsight or both.

    Where the last number of the path is that of the member, whoever named it told the members apart.
    """
    if path.name in ("", "-") or os.path.isdir(path):
        # To be refused by the name that was given.
        return path
    task, number = member(environment), rank(environment)
    numbers = re.findall(r"[0-9]+", str(path.with_suffix("")))
    if task is not None and not (numbers and int(numbers[-1]) == task):
        path = path.with_name(f"{path.stem}-task{task}{path.suffix}")
    return path if number is None else path.with_name(f"{path.stem}-rank{number}{path.suffix}")
