"""Workloads with one planted fault each, and clean ones, on real clusters.

A workload is a generator: what it does before its first ``yield`` is preparation, what it does then is
recorded, and what comes after the second ``yield`` is tidying up. The second ``yield`` may give the workers
that a finding has to point at. `plant` and `clean` keep them in `FAULTS`.

Recordings of them, to calibrate thresholds on (from the folder ``tests``)::

    python -m faults FOLDER [NAME ...]
"""

from . import clean, data, failures, gpu, rows, shape, threads  # noqa: F401
from .planting import FAULTS, Cluster, Workload, record, started

CLEAN = [workload for workload in FAULTS.values() if not workload.code]
PLANTED = [workload for workload in FAULTS.values() if workload.code]

__all__ = ["CLEAN", "PLANTED", "Cluster", "Workload", "record", "started"]
