"""DASF's analyses, from the tables of a recording."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...batch import Texts
from ...lookup import Lookup
from ...recording import Recording
from ...sources.files import dasf
from ...tables.frame import text_column
from ...timeline import gpus
from .database import MultiEventDatabase
from .events import Event

if TYPE_CHECKING:
    import pandas as pd


def _plain(events: Any) -> Iterator[dict[str, Any]]:
    cure = "give a MultiEventDatabase, the path of a database, events or a Recording"
    if not isinstance(events, Iterable):
        raise TypeError(f"{events!r} holds no events: {cure}")
    for event in events:
        if not is_dataclass(event) or isinstance(event, type):
            raise TypeError(f"{event!r} is no event: {cure}")
        yield asdict(event)


class TraceAnalyser:
    """The three reports of DASF's analyser, of its databases or of any recording.

    Parameters
    ----------
    database
        A `MultiEventDatabase`, the path of a database, events, or a `Recording`.
    process_trace_before
        Accepted as there; everything is read at once.

    Attributes
    ----------
    recording
        What the reports are made from; its panels and tables show the rest.

    Notes
    -----
    Columns and units are DASF's. What it gets wrong is right here:
    the timestamp of "Compute" is the end of a task, and DASF joins GPU samples as if it were the start;
    it gives a sample to the first task of any worker that fits, here it counts for each task that ran then on
    that host; names of functions lose letters there, here they are Dask's names of tasks, so that
    functions which differ in a token only are one row; where there are no GPU samples it fails (or says 0),
    here such columns are NaN.
    """

    def __init__(
        self,
        database: MultiEventDatabase | Recording | Iterable[Event] | str | Path,
        process_trace_before: bool = True,
    ) -> None:
        self._computed: _Computed | None = None
        if isinstance(database, Recording):
            self.recording = database
            return
        if isinstance(database, str | Path):
            database = MultiEventDatabase(database)
        files = database.files() if isinstance(database, MultiEventDatabase) else None
        if files:
            self.recording = dasf.read(files)
        else:
            self.recording = dasf.from_events(_plain(database), "events")

    def per_function_bottleneck(self) -> pd.DataFrame:
        """Each function on each worker, most time first.

        Returns
        -------
        DataFrame
            ``Host``, ``GPU`` (the end of the worker's name), ``Function``, ``Duration (s)``,
            ``Percentage of total time (%)`` (of that worker's), ``Mean GPU Utilization (%)``,
            ``Mean GPU Memory Used (GB)``, ``Mean Data Size (MB)`` (of all inputs of a task),
            ``Mean Throughput (MB/s)`` (mean over tasks of inputs by duration), ``Num Tasks (chunks)``,
            ``Mean Task time (s)``. GB and MB are 1e9 and 1e6 bytes.
        """
        import pandas as pd

        done = self._done()
        width = max(1, len(done.names))
        code = done.worker * width + done.name
        known, which = np.unique(code, return_inverse=True)
        count = np.bincount(which, minlength=len(known))
        sums = {
            name: np.bincount(which, values, len(known))
            for name, values in (
                ("duration", done.duration),
                ("size", done.input_bytes),
                ("rate", _ratio(done.input_bytes, done.duration)),
            )
        }
        utilization, memory = done.gpu(which, len(known))
        worker, name = np.divmod(known, width)
        table = pd.DataFrame(
            {
                "Host": done.hosts[worker],
                "GPU": done.gpus[worker],
                "Function": done.names[name],
                "Duration (s)": sums["duration"],
                "Percentage of total time (%)": 100 * _ratio(sums["duration"], done.total[worker]),
                "Mean GPU Utilization (%)": utilization,
                "Mean GPU Memory Used (GB)": memory / 1e9,
                "Mean Data Size (MB)": sums["size"] / count / 1e6,
                "Mean Throughput (MB/s)": sums["rate"] / count / 1e6,
                "Num Tasks (chunks)": count,
                "Mean Task time (s)": sums["duration"] / count,
            }
        )
        return table.sort_values("Duration (s)", ascending=False, kind="stable")

    def per_task_bottleneck(self) -> pd.DataFrame:
        """Each task on each worker, most time first.

        Returns
        -------
        DataFrame
            ``Host``, ``GPU``, ``Task Key``, ``Duration (s)``, ``Percentage of total time (%)`` (of that
            worker's), ``Memory usage (Mb)`` (size of the result, 1e6 bytes).
        """
        import pandas as pd

        done = self._done()
        width = max(1, int(done.task.max(initial=0)) + 1)
        known, first, which = np.unique(
            done.worker * width + done.task, return_index=True, return_inverse=True
        )
        duration = np.bincount(which, done.duration, len(known))
        order = np.argsort(-duration, kind="stable")
        worker, task = np.divmod(known[order], width)
        return pd.DataFrame(
            {
                "Host": text_column(Texts.of(done.hosts), worker),
                "GPU": text_column(Texts.of(done.gpus), worker),
                "Task Key": text_column(done.keys, task),
                "Duration (s)": duration[order],
                "Percentage of total time (%)": 100 * _ratio(duration[order], done.total[worker]),
                "Memory usage (Mb)": done.nbytes[first[order]] / 1e6,
            },
            index=order,
        )

    def per_worker_task_balance(self) -> pd.DataFrame:
        """How many results each worker held, second by second.

        Returns
        -------
        DataFrame
            ``Time Interval (seconds from begin)`` and a column for each worker: the last count in that
            second, 0 where there was none. Seconds in which nothing was counted are left out.
        """
        import pandas as pd

        cache: Any = self.recording.columns("cache")
        held = np.array([name == dasf.HELD for name in cache["metric"].names] or [False])
        rows = np.flatnonzero(held[cache["metric"].codes]) if len(cache["time"]) else np.zeros(0, "i8")
        if len(rows):
            offset = float(self.recording.about.get("offset") or 0.0)
            second = np.floor(np.round(cache["time"][rows] - offset, 6)).astype("i8")
            told = pd.DataFrame(
                {
                    "second": second - second.min(),
                    "worker": np.array(cache["source"].names, object)[cache["source"].codes[rows]],
                    "tasks": cache["size"][rows],
                }
            )
        else:
            balance = self.recording.balance(every=1.0)
            told = pd.DataFrame(
                {
                    "second": np.floor(balance["time"]).astype("i8"),
                    "worker": balance["worker"].astype("str"),
                    "tasks": balance["tasks"],
                }
            )
        last = told.groupby(["second", "worker"], sort=True)["tasks"].last().unstack(fill_value=0.0)
        last = last[sorted(last.columns)].astype("f8")
        last.columns.name = None
        last.index.name = "Time Interval (seconds from begin)"
        counted: pd.DataFrame = last.reset_index()
        return counted

    def _done(self) -> _Computed:
        if self._computed is None:
            self._computed = _Computed(self.recording)
        return self._computed


def _ratio(part: np.ndarray, of: np.ndarray) -> np.ndarray:
    """One divided by the other; 0 where that is 0."""
    return np.asarray(np.divide(part, of, out=np.zeros(len(part)), where=of > 0))


class _Computed:
    """Attempts that ran, as columns."""

    def __init__(self, recording: Recording) -> None:
        attempts: Any = recording.columns("attempts")
        ran = np.flatnonzero(np.isfinite(attempts["start"]) & np.isfinite(attempts["stop"]))
        graph: Any = recording.columns("graph")
        row = Lookup(graph["task"]).rows(attempts["task"][ran])
        # Of a task that the graph does not hold, neither key nor function is known.
        ran, row = ran[row >= 0], row[row >= 0]
        self.start, self.stop = attempts["start"][ran], attempts["stop"][ran]
        self.duration = self.stop - self.start
        self.nbytes = np.nan_to_num(attempts["nbytes"][ran])
        self.worker = attempts["worker"].codes[ran].astype("i8")
        self.workers: list[str] = attempts["worker"].names
        self.name = graph["prefix"].codes[row].astype("i8")
        self.names = np.array(graph["prefix"].names, object)
        self.task, self.keys = row, graph["key"]
        self.hosts = np.array(self._hosts(recording), object)
        self.gpus = np.array([name.split("-")[-1] for name in self.workers], object)
        self.total = np.bincount(self.worker, self.duration, len(self.workers))
        self.input_bytes = self._inputs(recording, graph, row)
        self._samples: Any = recording.columns("gpus")
        self._devices = gpus(recording.columns)

    def _hosts(self, recording: Recording) -> list[str]:
        workers: Any = recording.columns("workers")
        known = dict(zip(workers["worker"].tolist(), workers["host"].tolist(), strict=True))
        return [known.get(name) or name for name in self.workers]

    def _inputs(self, recording: Recording, graph: Any, row: np.ndarray) -> np.ndarray:
        """Bytes of all inputs of each attempt."""
        size = np.zeros(len(graph["task"]))
        np.maximum.at(size, row, self.nbytes)
        edges: Any = recording.columns("edges")
        known = Lookup(graph["task"])
        task, dependency = (known.rows(edges[name]) for name in ("task", "dependency"))
        both = (task >= 0) & (dependency >= 0)
        summed: np.ndarray = np.bincount(task[both], size[dependency[both]], len(size))[row]
        return summed

    def gpu(self, which: np.ndarray, groups: int) -> tuple[np.ndarray, np.ndarray]:
        """Mean utilisation [%] and memory [bytes] of groups of attempts, over samples taken meanwhile."""
        found = np.full((2, groups), np.nan)
        sums, count = np.zeros((2, groups)), np.zeros((2, groups))
        for worker, name in enumerate(self.workers):
            mine = np.flatnonzero(self.worker == worker)
            samples = np.flatnonzero(self._devices.seen((name,)))
            if not len(mine) or not len(samples):
                continue
            samples = samples[np.argsort(self._samples["time"][samples], kind="stable")]
            time = self._samples["time"][samples]
            # A sample counts for every task that ran then.
            first = np.searchsorted(time, self.start[mine], "left")
            last = np.searchsorted(time, self.stop[mine], "right")
            for row, column in enumerate(("utilization", "memory")):
                values = self._samples[column][samples].astype("f8")
                for into, of in ((sums, np.nan_to_num(values)), (count, np.isfinite(values))):
                    until = np.concatenate(([0.0], np.cumsum(of)))
                    into[row] += np.bincount(which[mine], until[last] - until[first], groups)
        np.divide(sums, count, out=found, where=count > 0)
        return found[0], found[1]
