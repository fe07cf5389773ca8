"""Makes the time budget of the golden recording anew: ``python tests/golden/make_budget.py``.

``budget.batches`` has the rows of the table `budget`, ``budget.json`` what
`Recording.time_budget` says: the page must sum the rows to the same. ``budget-ahead.json``
has what a report tells of them ahead: the page must show the same of it as of the rows.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dask_insight
from dask_insight.batch import encode
from dask_insight.recording import Recording

HERE = Path(__file__).parent
#: A part of the time that is shared out, 0 to 1.
RANGE = (0.3, 0.6)
BY = ("function", "worker", "span", "line")


def golden() -> Recording:
    """The golden recording."""
    return dask_insight.open(HERE / "run.dinsight")


def expected(recording: Recording) -> dict[str, Any]:
    """What Python says of it, thread-seconds."""
    whole = recording.time_budget().attrs
    start, stop = (whole["start"] + part * (whole["stop"] - whole["start"]) for part in RANGE)

    def parts(**options: Any) -> dict[str, float]:
        table = recording.time_budget(**options)
        return {
            str(part): float(sum_)
            for part, sum_ in table.groupby("part", observed=True)["seconds"].sum().items()
        }

    def by(name: str) -> dict[str, dict[str, float]]:
        table = recording.time_budget(by=name)
        sums = table.groupby([name, "part"], observed=True)["seconds"].sum()
        told: dict[str, dict[str, float]] = {}
        for (group, part), seconds in sums.items():
            told.setdefault(str(group), {})[str(part)] = float(seconds)
        return told

    return {
        "started": recording.started,
        "parts": parts(),
        "range": {"start": start, "stop": stop, "parts": parts(start=start, stop=stop)},
        "by": {name: by(name) for name in BY},
    }


def rows(recording: Recording) -> bytes:
    """Its rows, as a batch."""
    from dask_insight.analysis.time_budget import rows as made

    return encode("budget", made(recording.columns))


def ahead(recording: Recording) -> dict[str, Any]:
    """What its report tells of the rows ahead of them."""
    from dask_insight.batch import decode
    from dask_insight.hosts.ahead import budget_sums

    return budget_sums([decode(rows(recording))])


if __name__ == "__main__":
    run = golden()
    (HERE / "budget.batches").write_bytes(rows(run))
    text = json.dumps(expected(run), indent=1, ensure_ascii=False)
    (HERE / "budget.json").write_text(text + "\n", encoding="utf-8")
    text = json.dumps(ahead(run), indent=1, ensure_ascii=False)
    (HERE / "budget-ahead.json").write_text(text + "\n", encoding="utf-8")
