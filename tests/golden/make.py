"""Makes the golden recording anew: ``python tests/golden/make.py``.

A real run on a real cluster, with something in as many tables as can be. Only
to be made again when the format's major number changes, or for tables that
the old one lacks: that older files stay readable is what it is kept for.
"""

from __future__ import annotations

import json
import math
import platform
import sys
import time
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, get_worker, span, wait

import dask_insight
from dask_insight.batch import Symbols, Texts, encode
from dask_insight.recording import Recording
from dask_insight.schema import TABLES

HERE = Path(__file__).parent
_FACTS = ("format", "name", "started", "stopped", "python", "packages", "options", "scheduler")


def flaky(number: int) -> int:
    """Fails on its first attempt."""
    worker = get_worker()
    tried = getattr(worker, "tried", set())
    if number not in tried:
        worker.tried = tried | {number}
        raise OSError(f"not yet: {number} «retry» \N{SNOWMAN}")
    return number


def fail(number: int) -> int:
    """Always fails."""
    raise ValueError(f"cannot do {number}")


def spin(seconds: float) -> float:
    """Busy for a while, in a frame of its own."""
    total = 0.0
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds:
        total += math.sqrt(2)
    return total


def run(path: Path) -> None:
    """Record a small computation of every sort."""
    settings = {"distributed.diagnostics.computations.nframes": 3}
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster,
        Client(cluster) as client,
        dask_insight.record(path, name="golden", resources="100ms"),
    ):
        with span("load", "arrays"):
            array = da.random.random((400, 400), chunks=(100, 100))
            (array @ array.T).sum().compute()
        with span("trouble"):
            wait(
                client.map(flaky, [1, 2], retries=2, workers=[next(iter(client.scheduler_info()["workers"]))])
            )
            wait([client.submit(fail, 3, key="fails \N{SNOWMAN} </script>")])
        wait([client.submit(spin, 0.5, key=("spin", i)) for i in range(4)])
        client.log_event("steps", {"step": "done"})
        dask.delayed(spin)(0.05).compute(scheduler="threads")


def _without_places(recording: Recording) -> Recording:
    """The same without the folders and the names of the machine that it was made on."""
    places = {
        str(HERE.parents[1]): "/home/me/project",
        sys.prefix: "/opt/environment",
        sys.base_prefix: "/opt/python",
        platform.release(): "6.1.0",
    }

    def clean(text: str) -> str:
        for old, new in places.items():
            text = text.replace(old, new)
        return text

    def cleaned(values: Any) -> Any:
        if isinstance(values, Symbols):
            return Symbols(values.codes, [clean(name) for name in values.names])
        return [clean(text) for text in values.tolist()] if isinstance(values, Texts) else values

    result = Recording()
    for name in TABLES:
        columns = {column: cleaned(values) for column, values in recording.columns(name).items()}
        if name == "about":
            kept = [i for i, fact in enumerate(columns["name"].tolist()) if fact in _FACTS]
            columns = {
                "name": [columns["name"].tolist()[i] for i in kept],
                "value": [columns["value"][i] for i in kept],
            }
        result.append(encode(name, columns))
    return result


def digest(recording: Recording) -> dict[str, Any]:
    """What readers in any language must find in it."""
    tables = {}
    for name in TABLES:
        columns = recording.columns(name)
        described = {column: _digest(values) for column, values in columns.items()}
        tables[name] = {"rows": next(iter(described.values()))["rows"], "columns": described}
    return {"name": recording.about["name"], "tables": tables}


def _digest(values: Any) -> dict[str, Any]:
    if isinstance(values, Symbols | Texts):
        texts = values.tolist()
        return {
            "rows": len(texts),
            "first": texts[0] if texts else None,
            "last": texts[-1] if texts else None,
            "distinct": len(set(texts)),
            "bytes": sum(len(text.encode()) for text in texts),
        }
    finite = values[np.isfinite(values)].astype("f8")
    return {
        "rows": len(values),
        "missing": len(values) - len(finite),
        "first": float(finite[0]) if len(finite) else None,
        "last": float(finite[-1]) if len(finite) else None,
        "mean": float(finite.mean()) if len(finite) else None,
    }


def main() -> None:
    """Write the recording, its batches without the file around them, and what is in it."""
    path = HERE / "run.dinsight"
    run(path)
    _without_places(dask_insight.open(path)).save(path)
    recording = dask_insight.open(path)
    (HERE / "run.batches").write_bytes(b"".join(recording.batches()))
    text = json.dumps(digest(recording), indent=1, ensure_ascii=False)
    (HERE / "expected.json").write_text(text + "\n", encoding="utf-8")
    print({name: table["rows"] for name, table in digest(recording)["tables"].items()})


if __name__ == "__main__":
    main()
