"""What kept the run from ending sooner: the path of blame, from its end back to its beginning.

The walk begins with the attempt that ended last. Its own time is laid down as
tiles: the function, what the worker did around it, the way of messages. Where
it waited, the walk goes on with what it waited for last:

``input``
    the task whose result came last,
``thread``
    the task that ended on the thread, or freed the place in the worker, that it got,
``submission``
    the task that ended last before the client asked for it,
``retry``
    the attempt at the same task that failed or was lost before.

So the tiles follow one another without a gap and their seconds add up to the
length of the run. An attempt stands on the path at most once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..batch import Symbols
from ..dag import links
from ..lookup import Lookup, fill, pick, spread
from ..schema import NOTHING
from ..tables.tasks import make

if TYPE_CHECKING:
    import pandas as pd

Read = Callable[[str], Mapping[str, Any]]

#: What a tile's seconds went into.
KINDS = ("compute", "disk", "worker", "transfer", "thread", "scheduler", "client")
#: Why the path goes through a task: what waited for it.
REASONS = ("end", "input", "thread", "submission", "retry")
_DISK = ("disk-read", "disk-write")


class Tile(NamedTuple):
    """A stretch of the run and what it went into; moments in seconds since the epoch."""

    start: float
    stop: float
    kind: str
    because: str
    #: Row of the attempt, -1 where there is none.
    row: int


def critical_path(read: Read, started: float, by: str | None = None) -> pd.DataFrame:
    """The table of `Recording.critical_path`."""
    import pandas as pd

    columns = make(read)
    tiles = path(read, columns)
    rows = np.array([tile.row for tile in tiles], "i8")
    start = np.array([tile.start for tile in tiles]) - started
    stop = np.array([tile.stop for tile in tiles]) - started
    table = pd.DataFrame(
        {
            "start": start,
            "stop": stop,
            "seconds": stop - start,
            "kind": pd.Categorical([tile.kind for tile in tiles], KINDS),
            "because": pd.Categorical([tile.because for tile in tiles], REASONS),
            "prefix": _texts(columns["prefix"], rows),
            "key": _keys(columns["key"], rows),
            "group": _texts(columns["group"], rows),
            "worker": _texts(columns["worker"], rows),
            "thread": _texts(columns["thread"], rows),
            "task": _ids(columns["task"], rows),
            "run": _ids(columns["run"], rows),
        }
    )
    return table if by is None else _sums(table, by)


def critical_rows(read: Read) -> dict[str, Any]:
    """The path as columns of the table ``critical``."""
    columns = make(read)
    tiles = path(read, columns)
    rows = np.array([tile.row for tile in tiles], "i8")
    return {
        "start": np.array([tile.start for tile in tiles], "f8"),
        "stop": np.array([tile.stop for tile in tiles], "f8"),
        "kind": [tile.kind for tile in tiles],
        "because": [tile.because for tile in tiles],
        "task": _ids(columns["task"], rows),
        "run": _ids(columns["run"], rows),
        "worker": _texts(columns["worker"], rows),
        "thread": _texts(columns["thread"], rows),
    }


def path(read: Read, columns: Mapping[str, Any]) -> list[Tile]:
    """The tiles, first to last; `columns` are those of the table ``tasks``."""
    ended = np.isfinite(columns["done"]) | np.isfinite(columns["stop"])
    if not ended.any():
        return []
    walk = _Walk(read, columns, np.flatnonzero(ended))
    return walk.tiles()


class _Walk:
    """Goes back through one recording; moments are lists by row of the table ``tasks``."""

    def __init__(self, read: Read, columns: Mapping[str, Any], ended: np.ndarray) -> None:
        self._times(columns)
        self._worker = columns["worker"].codes.tolist()
        self._submission = columns["submission"].tolist()
        self._inputs_of(read, columns, ended)
        ran = ended[np.isfinite(columns["start"][ended])]
        self._stops = self._by_worker(columns["worker"].codes, ran, self.stop)
        self._dones = self._by_worker(columns["worker"].codes, ran, self.done)
        self._all = self._sorted(ended, self.done)
        self._disk = self._disk_phases(read, columns["run"])
        self._intake = self._graph_seconds(read)
        workers = read("workers")
        self._joined = dict(zip(workers["worker"].tolist(), workers["joined"].tolist(), strict=True))
        self._names = columns["worker"].names
        self._visited: set[int] = set()
        self._tiles: list[Tile] = []
        self._last = int(ended[np.argmax(np.array(self.done)[ended])])
        known = np.concatenate([np.array(self.submitted)[ended], np.array(self.start)[ended]])
        self._begin = float(np.nanmin(known))
        self._now = float(np.fmax(columns["done"], columns["stop"])[ended].max())

    def _times(self, columns: Mapping[str, Any]) -> None:
        """Moments of each attempt, none after the next; what is missing takes no time."""
        done = fill(columns["done"], columns["stop"])
        stop = np.fmin(fill(columns["stop"], done), done)
        start = np.fmin(fill(columns["start"], stop), stop)
        executing = np.fmin(fill(columns["executing"], start), start)
        # The clock of a worker may be off by milliseconds; what its scheduler saw first, was first.
        assigned = np.fmin(columns["assigned"], executing)
        inputs = np.fmin(fill(columns["inputs"], assigned), executing)
        received = np.fmin(fill(columns["received"], assigned), inputs)
        self.done, self.stop, self.start = done.tolist(), stop.tolist(), start.tolist()
        self.executing = executing.tolist()
        self.inputs, self.received = inputs.tolist(), np.fmax(received, assigned).tolist()
        self.assigned = assigned.tolist()
        self.ready = np.fmin(columns["ready"], assigned).tolist()
        self.submitted = np.fmin(columns["submitted"], fill(columns["ready"], start)).tolist()

    def _inputs_of(self, read: Read, columns: Mapping[str, Any], ended: np.ndarray) -> None:
        """Rows of attempts that gave an input, or were an earlier attempt, of each row."""
        task = columns["task"]
        last = Lookup(task[ended])
        edges = read("edges")
        attempts = ended[np.argsort(task[ended], kind="stable")]
        ids = task[attempts]
        left = np.asarray(np.searchsorted(ids, edges["dependency"], "left"))
        right = np.asarray(np.searchsorted(ids, edges["dependency"], "right"))
        pair, at = spread(left, right)
        needing = edges["task"][pair]
        # All attempts at a task share its inputs: look them up by the task's last row.
        known = last.rows(needing) >= 0
        self._row_of = dict(zip(task[ended].tolist(), range(len(ended)), strict=True))
        found = links(last.rows(needing)[known], attempts[at][known], len(ended))
        self._needed = found
        self._task = task.tolist()
        self._attempts: dict[int, list[int]] = {}
        again = np.flatnonzero(ids[1:] == ids[:-1])
        for each in np.unique(ids[again]).tolist():
            first, end = np.searchsorted(ids, each, "left"), np.searchsorted(ids, each, "right")
            self._attempts[each] = attempts[first:end].tolist()

    @staticmethod
    def _sorted(rows: np.ndarray, moments: list[float]) -> tuple[list[float], list[int]]:
        times = np.array(moments)[rows]
        order = np.argsort(times, kind="stable")
        return times[order].tolist(), rows[order].tolist()

    def _by_worker(
        self, codes: np.ndarray, rows: np.ndarray, moments: list[float]
    ) -> dict[int, tuple[list[float], list[int]]]:
        order = rows[np.argsort(codes[rows], kind="stable")]
        cuts = np.flatnonzero(np.diff(codes[order])) + 1
        return {
            int(codes[part[0]]): self._sorted(part, moments) for part in np.split(order, cuts) if len(part)
        }

    @staticmethod
    def _disk_phases(read: Read, runs: np.ndarray) -> dict[int, list[tuple[float, float]]]:
        phases = read("phases")
        wanted = [name in _DISK for name in phases["action"].names] or [False]
        some = np.flatnonzero(np.array(wanted)[phases["action"].codes])
        rows = Lookup(runs).rows(phases["run"][some])
        found: dict[int, list[tuple[float, float]]] = {}
        for row, begin, end in zip(
            rows.tolist(), phases["start"][some].tolist(), phases["stop"][some].tolist(), strict=True
        ):
            found.setdefault(row, []).append((begin, end))
        return {row: sorted(each) for row, each in found.items()}

    @staticmethod
    def _graph_seconds(read: Read) -> dict[int, float]:
        """Seconds that the scheduler took to take in each submission."""
        table = read("submissions")
        parts = [np.nan_to_num(np.abs(table[name])) for name in ("materialize", "ordering", "states")]
        return (
            dict(zip(table["submission"].tolist(), sum(parts).tolist(), strict=True)) if len(parts[0]) else {}
        )

    def tiles(self) -> list[Tile]:
        """Walk back until the beginning."""
        row, because, whole = self._last, "end", True
        while row >= 0 and self._now > self._begin:
            self._visited.add(row)
            self._ran(row, because, whole=whole)
            row, because, whole = self._cause(row, because)
        self._lay(self._begin, "client", "submission", -1)
        return self._tiles[::-1]

    def _lay(self, start: float, kind: str, because: str, row: int) -> None:
        """A tile from `start` to where the walk is."""
        start = max(start, self._begin)
        if start < self._now:
            later = self._tiles[-1] if self._tiles else None
            if later and (later.kind, later.row) == (kind, row):
                self._tiles[-1] = later._replace(start=start)
            else:
                self._tiles.append(Tile(start, self._now, kind, because, row))
            self._now = start

    def _ran(self, row: int, because: str, *, whole: bool) -> None:
        """The time from when an attempt had its thread; `whole` if somebody waited for its result."""
        if whole:
            self._lay(self.done[row], "scheduler", because, row)
            self._around(self.stop[row], "scheduler", because, row)
        else:
            self._lay(self.stop[row], "worker", because, row)
        self._lay(self.start[row], "compute", because, row)
        self._around(self.executing[row], "worker", because, row)

    def _around(self, start: float, kind: str, because: str, row: int) -> None:
        """A stretch in which the disk may have been used."""
        for begin, end in reversed(self._disk.get(row, ())):
            if start < end and begin < self._now:
                self._lay(end, kind, because, row)
                self._lay(max(begin, start), "disk", because, row)
        self._lay(start, kind, because, row)

    def _cause(self, row: int, because: str) -> tuple[int, str, bool]:
        """What an attempt waited for last before it had its thread: row, reason, whether for its result."""
        ready, assigned = self.ready[row], self.assigned[row]
        if assigned != assigned:
            # Nothing is known but when it ran and what it needed.
            needed = self._latest(self._needs(row), self._now)
            ready = assigned = min(self._now, self.done[needed]) if needed >= 0 else self._now
        received, inputs = self.received[row], self.inputs[row]
        since = inputs if inputs == inputs else assigned
        holder = self._before(self._stops, row, self._now)
        if holder >= 0 and self.stop[holder] > since:
            return holder, "thread", False
        self._lay(since, "thread", because, row)
        self._lay(received if received == received else assigned, "transfer", because, row)
        self._lay(assigned, "scheduler", because, row)
        if ready < assigned:
            holder = self._before(self._dones, row, assigned)
            if holder >= 0 and self.done[holder] > ready:
                return holder, "thread", True
            joined = self._joined.get(self._names[self._worker[row]], 0.0)
            if ready < joined <= assigned:
                self._lay(joined, "scheduler", because, row)
                self._lay(ready, "thread", because, row)
            self._lay(ready, "scheduler", because, row)
        return self._wanted(row, because)

    def _wanted(self, row: int, because: str) -> tuple[int, str, bool]:
        """Why a task was not ready sooner."""
        submitted = self.submitted[row]
        needed = self._latest(self._needs(row), self._now)
        earlier = self._latest(self._attempts.get(self._task[row], ()), self._now)
        if earlier >= 0 and (needed < 0 or self.done[earlier] > self.done[needed]):
            if not submitted > self.done[earlier]:
                return earlier, "retry", True
        elif needed >= 0 and not submitted > self.done[needed]:
            return needed, "input", True
        if submitted != submitted:
            submitted = self._now
        self._lay(submitted, "scheduler", because, row)
        taken_in = self._intake.get(self._submission[row], 0.0)
        before = self._any_before(submitted)
        begin = self._begin if before < 0 else self.done[before]
        self._lay(max(submitted - taken_in, begin), "scheduler", because, row)
        self._lay(begin, "client", because, row)
        return before, "submission", True

    def _needs(self, row: int) -> list[int]:
        at = self._row_of.get(self._task[row])
        if at is None:
            return []
        begin, end = self._needed.begins[at : at + 2].tolist()
        found: list[int] = self._needed.rows[begin:end].tolist()
        return found

    def _latest(self, rows: Any, before: float) -> int:
        """Of these attempts the one that ended last, not after a moment; -1 if there is none."""
        best, moment = -1, -np.inf
        for row in rows:
            if moment < self.done[row] <= before and row not in self._visited:
                best, moment = row, self.done[row]
        return best

    def _before(self, ends: dict[int, tuple[list[float], list[int]]], row: int, moment: float) -> int:
        """The attempt on the same worker that ended last, not after a moment; -1 if there is none."""
        return self._search(*ends.get(self._worker[row], ([], [])), moment)

    def _any_before(self, moment: float) -> int:
        return self._search(*self._all, moment)

    def _search(self, times: list[float], rows: list[int], moment: float) -> int:
        at = bisect_right(times, moment) - 1
        while at >= 0 and rows[at] in self._visited:
            at -= 1
        return rows[at] if at >= 0 else -1


def _sums(table: pd.DataFrame, by: str) -> pd.DataFrame:
    import pandas as pd

    if by not in ("prefix", "kind", "because", "worker", "group"):
        raise ValueError(f"by={by!r}: it can be 'prefix', 'kind', 'because', 'worker' or 'group'")
    grouped = table.groupby(by, observed=True)
    parts = pd.DataFrame(index=grouped.size().index)
    if by != "kind":
        parts = table.groupby([by, "kind"], observed=True)["seconds"].sum().unstack("kind", fill_value=0.0)
        parts.columns = [str(name) for name in parts.columns]
    parts.insert(0, "seconds", grouped["seconds"].sum())
    parts.insert(1, "share", parts["seconds"] / max(table["seconds"].sum(), 1e-300))
    parts.insert(2, "steps", grouped.size())
    return parts.sort_values("seconds", ascending=False)


def _texts(symbols: Symbols, rows: np.ndarray) -> list[str]:
    return pick(symbols, rows).tolist() if len(symbols.codes) else [""] * len(rows)


def _keys(texts: Any, rows: np.ndarray) -> list[str]:
    """Of a column of texts, which may be rows of another one, some rows."""
    source, of = (texts.texts, texts.rows) if hasattr(texts, "texts") else (texts, None)
    offsets, data = source.offsets, source.data
    found = []
    for row in rows.tolist():
        at = row if of is None or row < 0 else int(of[row])
        found.append(str(data[offsets[at] : offsets[at + 1]], "utf-8", "replace") if at >= 0 else "")
    return found


def _ids(ids: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.where(rows >= 0, ids[np.maximum(rows, 0)] if len(ids) else NOTHING, NOTHING).astype("u4")
