"""From waiting rows to batches: ids become the recording's, moments become times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...batch import Symbols, encode
from ...identity import Identity, stacks_at
from ...options import Emit
from ...schema import TABLES
from ..dynamic import shown_files
from .epoch import Epoch
from .rows import Rows

_KIND_OF_ID = {"task": "task", "dependency": "task", "run": "run", "submission": "submission"}
_TIMES = {name: {one.name for one in table.columns if one.kind == "time"} for name, table in TABLES.items()}
_OF_EXECUTIONS = ("cpu", "rss")


class Outlet:
    """Encodes rows; used by one thread at a time."""

    def __init__(self, identity: Identity, epoch: Epoch) -> None:
        self._epoch = epoch
        self._stacks = identity.stacks
        self._namespaces = {kind: identity.namespace(kind) for kind in set(_KIND_OF_ID.values())}

    def rows(self, emit: Emit, rows: Rows) -> None:
        """Encode and emit the rows there are."""
        if columns := rows.take():
            self.columns(emit, rows.table, columns)

    def columns(self, emit: Emit, table: str, columns: Mapping[str, Any]) -> None:
        """Encode and emit columns of one table."""
        if len(next(iter(columns.values()))):
            emit(encode(table, {name: self._column(table, name, each) for name, each in columns.items()}))

    def attempts(self, emit: Emit, rows: Rows) -> None:
        """Encode and emit attempts, and with them `executions`."""
        columns: dict[str, Any] | None = rows.take()
        if columns is None:
            return
        columns["thread"] = _names(columns["thread"])
        status = np.array([status == "erred" for status in columns["status"]])
        executions = {
            "run": columns["run"],
            "worker": columns["worker"],
            "status": Symbols(status.astype("<u4"), ["memory", "error"]),
            "ended": columns["stop"],
            **{name: columns.pop(name) for name in _OF_EXECUTIONS},
        }
        executions["rss"] = np.array(executions["rss"]) / 2**20
        self.columns(emit, "attempts", columns)
        self.columns(emit, "executions", executions)

    def profile(self, emit: Emit, worker_of: Callable[[str], str], drained: Mapping[str, Any]) -> None:
        """Encode and emit what a sampler with our clock has drained, with runs as we number them."""
        frames = drained["frames"]
        files = shown_files(frames["file"], frames["function"], frames["first_line"])
        stacks, new = self._stacks.absorb({**frames, "file": files})
        if new is not None:
            emit(new)
        samples, sampling = drained["samples"], drained["sampling"]
        threads = samples["thread"]
        if len(threads):
            columns = {
                "process": [worker_of(thread) for thread in threads],
                "thread": threads,
                "time": self._epoch.of(samples["time"]),
                "duration": samples["duration"],
                "stack": stacks_at(stacks, samples["stack"]),
                "run": self._namespaces["run"].map(samples["run"]),
            }
            emit(encode("samples", columns))
        if len(sampling["time"]):
            process = [worker_of(threads[0] if len(threads) else "")] * len(sampling["time"])
            times = self._epoch.of(sampling["time"])
            emit(encode("sampling", {"process": process, **sampling, "time": times}))

    def _column(self, table: str, name: str, values: Any) -> Any:
        if name in _KIND_OF_ID:
            return self._namespaces[_KIND_OF_ID[name]].map(values)
        if name in _TIMES[table]:
            return self._epoch.of(values)
        return values


def _names(threads: Sequence[int]) -> Symbols:
    """Thread idents as text; 0 is none."""
    idents: npt.NDArray[Any]
    idents, codes = np.unique(np.asarray(threads, "u8"), return_inverse=True)
    return Symbols(codes.astype("<u4"), [str(ident) if ident else "" for ident in idents.tolist()])
