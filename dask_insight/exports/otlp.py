"""OpenTelemetry spans as OTLP JSON, which its collector's file receiver and many back ends take.

https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding

One trace: a root span for the recording, one for each submission, and one for each attempt, which links
to the attempts whose results it used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .files import replaced

if TYPE_CHECKING:
    from ..recording import Recording

_ROOT, _SUBMISSION, _ATTEMPT = 1 << 62, 1 << 61, 1 << 60
_NOTHING = 0xFFFF_FFFF
_INTERNAL, _OK, _ERROR = 1, 1, 2


def write(recording: Recording, path: Path) -> None:
    """Write the spans."""
    about = recording.about
    name = str(about.get("name") or "Dask computation")
    service = [_attribute("service.name", "dask"), _attribute("dask.recording", name)]
    head = json.dumps({"attributes": service})
    scope = json.dumps({"name": "dask_insight"})
    with replaced(path) as file:
        file.write(
            f'{{"resourceSpans":[{{"resource":{head},"scopeSpans":[{{"scope":{scope},"spans":[\n'.encode()
        )
        for number, span in enumerate(_spans(recording, name)):
            file.write((b",\n" if number else b"") + json.dumps(span).encode())
        file.write(b"\n]}]}]}\n")


def _spans(recording: Recording, name: str) -> Iterator[dict[str, Any]]:
    zero = recording.started
    trace = hashlib.sha256(f"{name} {zero!r}".encode()).hexdigest()[:32]
    tasks = recording.table("tasks")
    tasks = tasks[np.isfinite(tasks["start"]) & np.isfinite(tasks["stop"])]
    submissions = recording.table("submissions")
    end = float(tasks["stop"].max()) if len(tasks) else 0.0

    def span(identity: int, parent: int, title: str, start: float, stop: float) -> dict[str, Any]:
        told: dict[str, Any] = {
            "traceId": trace,
            "spanId": f"{identity:016x}",
            "name": title,
            "kind": _INTERNAL,
            "startTimeUnixNano": str(round((zero + start) * 1e9)),
            "endTimeUnixNano": str(round((zero + max(start, stop)) * 1e9)),
        }
        return told | ({"parentSpanId": f"{parent:016x}"} if parent else {})

    yield span(_ROOT, 0, name, 0.0, end)
    ends = tasks.groupby("submission")["stop"].max()
    for row in submissions.to_dict("records"):
        number = int(row["submission"])
        where = f"{row['file']}:{row['line']}" if row["file"] else f"submission {number}"
        told = span(_SUBMISSION | number, _ROOT, where, row["time"], float(ends.get(number, row["time"])))
        yield told | {
            "attributes": [
                _attribute("code.snippet", str(row["code"])),
                _attribute("dask.tasks", int(row["tasks"])),
            ]
        }
    made = dict(
        zip(
            tasks.loc[tasks["status"] == "ok", "task"], tasks.loc[tasks["status"] == "ok", "run"], strict=True
        )
    )
    edges: Any = recording.columns("edges")
    order = np.argsort(edges["task"], kind="stable")
    needing, needed = edges["task"][order], edges["dependency"][order]
    known = set(submissions["submission"].tolist())
    for row in tasks.to_dict("records"):
        parent = _SUBMISSION | int(row["submission"]) if row["submission"] in known else _ROOT
        told = span(_ATTEMPT | int(row["run"]), parent, str(row["prefix"]), row["start"], row["stop"])
        first, last = np.searchsorted(needing, [row["task"], row["task"] + 1])
        inputs = [made[task] for task in needed[first:last].tolist() if task in made]
        told["attributes"] = [
            _attribute(f"dask.{field}", value)
            for field in ("key", "group", "worker", "thread", "status", "typename", "nbytes", "cpu")
            if (value := _value(row[field])) is not None
        ]
        told["status"] = {"code": _OK if row["status"] == "ok" else _ERROR, "message": str(row["status"])}
        if inputs:
            told["links"] = [{"traceId": trace, "spanId": f"{_ATTEMPT | int(run):016x}"} for run in inputs]
        yield told


def _value(value: Any) -> str | int | float | None:
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return str(value) or None


def _attribute(name: str, value: str | int | float) -> dict[str, Any]:
    if isinstance(value, float):
        return {"key": name, "value": {"doubleValue": value}}
    if isinstance(value, int):
        return {"key": name, "value": {"intValue": str(value)}}
    return {"key": name, "value": {"stringValue": value}}
