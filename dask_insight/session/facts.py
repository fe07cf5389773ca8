"""What is worth knowing about a recording as a whole, as rows of `about`."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..batch import encode
from ..options import Options
from ..schema import FORMAT
from ..tables.facts import ALL_CLIENTS

_PACKAGES = ("dask_insight", "dask", "distributed", "msgpack", "numpy", "pandas", "pyarrow", "bokeh")
_RATES = ("profile", "profile_interval", "profile_budget", "resources", "poll", "ring", "logs", "source")
#: Settings of Dask that change how a computation runs; none of them holds a secret.
_SETTINGS = (
    "array.chunk-size",
    "array.rechunk.method",
    "array.slicing.split-large-chunks",
    "dataframe.convert-string",
    "dataframe.shuffle.method",
    "optimization.fuse.active",
    "scheduler",
    "num_workers",
    "chunksize",
    "multiprocessing.context",
    "distributed.comm.compression",
    "distributed.scheduler.allowed-failures",
    "distributed.scheduler.work-stealing",
    "distributed.scheduler.worker-saturation",
    "distributed.worker.memory",
    "distributed.worker.multiprocessing-method",
)


def beginning(name: str | None, started: float, options: Options, *, all_clients: bool) -> bytes:
    """A batch of `about` for a recording that begins, of all clients of this process or not."""
    return facts(
        {
            "format": list(FORMAT),
            "name": name or _program(),
            "started": started,
            "host": platform.node(),
            "pid": os.getpid(),
            ALL_CLIENTS: all_clients,
            "platform": f"{platform.system()}-{platform.release()}-{platform.machine()}",
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "packages": {package: each for package in _PACKAGES if (each := _version(package))},
            "settings": _config(),
            **_rates(options),
        }
    )


def rates(options: Options) -> bytes:
    """A batch of `about` for a recording that goes on with other rates."""
    return facts(_rates(options))


def facts(values: Mapping[str, Any]) -> bytes:
    """A batch of `about`."""
    texts = [json.dumps(value, default=str, ensure_ascii=False) for value in values.values()]
    return encode("about", {"name": list(values), "value": texts})


def _rates(options: Options) -> dict[str, Any]:
    return {"options": {rate: getattr(options, rate) for rate in _RATES}}


def _program() -> str:
    script = Path(sys.argv[0]) if sys.argv and sys.argv[0] not in ("", "-c", "-m") else None
    if script is None or "ipykernel" in script.name or "ipykernel" in script.parts:
        return "Dask computation"
    return script.stem if script.stem != "__main__" else script.parent.name


def _version(package: str) -> str:
    loaded = getattr(sys.modules.get(package), "__version__", None)
    if isinstance(loaded, str):
        return loaded
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _config() -> dict[str, Any]:
    import dask

    missing = object()
    found = {name: dask.config.get(name, missing) for name in _SETTINGS}
    return {name: value for name, value in found.items() if value is not missing and value is not None}
