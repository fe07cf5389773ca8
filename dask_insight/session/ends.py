"""How far tasks are, counted as it comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..batch import Symbols
from ..lookup import is_any
from ..schema import NOTHING

#: The columns by which it is counted.
READ: dict[str, tuple[str, ...]] = {
    "graph": ("task", "order"),
    "attempts": ("run", "task", "status"),
    "errors": ("run",),
}
#: Runs that are remembered for what may be told of them later, before they are forgotten.
_MOST = 100_000
#: Bits of ids within a page.
_PAGE = 16
_NONE = np.zeros(0, "u4")


class Change(NamedTuple):
    """Tasks by what they are from now on."""

    #: In the total, and of it those that have a result.
    new: np.ndarray = _NONE
    done: np.ndarray = _NONE
    #: Failed, and failed no more.
    failed: np.ndarray = _NONE
    mended: np.ndarray = _NONE


class Ends:
    """Counts tasks that are to run or ran, have a result, and failed; not safe for several threads at once.

    Attributes
    ----------
    total
        Different tasks, without data that a client brought or had before, unless it was made again.
    done
        Those of them that ended well: a result that was lost and made again counts once.
    failed
        Different tasks without a result of which an attempt raised, or died with its worker as the last that
        Dask made.
    open
        Those that are yet to end: have no result, have not failed, and are not given up.
    """

    def __init__(self) -> None:
        self.total = self.done = self.failed = self.open = 0
        self._counted, self._results, self._failures, self._over = _Marked(), _Marked(), _Marked(), _Marked()
        #: Runs that have an error; and tasks of attempts that were killed, by their runs: of the last that
        #: Dask made an error is told, before or after, and of one that is made again none.
        self._errors: set[int] = set()
        self._killed: dict[int, int] = {}

    def take(self, table: str, columns: Mapping[str, Any]) -> Change:
        """Count rows of a table in `READ`."""
        if table == "graph":
            change = Change(new=_to_run(columns["task"], columns.get("order")))
        elif table == "errors":
            change = Change(failed=self._fail(self._killed_for_good(columns["run"].tolist())))
        else:
            change = self._ended(*(columns[name] for name in READ[table]))
        # What ends was to run, whatever was known of it.
        new = self._counted.add(np.concatenate((change.new, change.done, change.failed)))
        self.total += len(new)
        self.done += len(change.done)
        self.failed += len(change.failed) - len(change.mended)
        over = np.concatenate((change.done, change.failed, self._given_up(columns)))
        self.open += len(new) - len(self._over.add(over))
        return change._replace(new=new)

    def known(self, tasks: np.ndarray) -> Change:
        """What some different tasks are so far."""
        has_result = self._results.has(tasks)
        return Change(
            new=tasks[self._counted.has(tasks)],
            done=tasks[has_result],
            failed=tasks[self._failures.has(tasks) & ~has_result],
        )

    def _ended(self, run: np.ndarray, task: np.ndarray, status: Symbols) -> Change:
        results = self._results.add(task[is_any(status, ("ok",))])
        mended = results[self._failures.has(results)]
        failed = task[is_any(status, ("erred",))].tolist()
        _bound(self._killed)
        killed = is_any(status, ("killed",)) & (run != NOTHING)
        for one, of in zip(run[killed].tolist(), task[killed].tolist(), strict=True):
            if one in self._errors:
                failed.append(of)
            else:
                self._killed[one] = of
        return Change(done=results, failed=self._fail(failed), mended=mended)

    def _given_up(self, columns: Mapping[str, Any]) -> np.ndarray:
        """Tasks that nobody wants any more, or that need one that failed."""
        if "status" not in columns:
            return _NONE
        tasks = columns["task"][is_any(columns["status"], ("cancelled",))]
        return np.asarray(tasks[self._counted.has(tasks)])

    def _killed_for_good(self, runs: list[int]) -> list[int]:
        """Tasks of attempts that were killed and have an error."""
        runs = [run for run in runs if run != NOTHING]
        _bound(self._errors)
        self._errors.update(runs)
        return [self._killed.pop(run) for run in runs if run in self._killed]

    def _fail(self, tasks: list[int]) -> np.ndarray:
        new = self._failures.add(np.array(tasks, "u4"))
        return np.asarray(new[~self._results.has(new)])


def _to_run(task: np.ndarray, order: np.ndarray | None) -> np.ndarray:
    # What a client brought, or had before, has no rank.
    return task if order is None else task[order != NOTHING]


class _Marked:
    """A set of ids, a bit each: they are handed out one after another."""

    def __init__(self) -> None:
        self._pages: dict[int, np.ndarray] = {}

    def add(self, ids: np.ndarray) -> np.ndarray:
        """Add ids; returns those that were not in it."""
        new = np.unique(ids[ids != NOTHING])
        new = new[~self.has(new)]
        for page in np.unique(new >> _PAGE).tolist():
            if page not in self._pages:
                self._pages[page] = np.zeros(2**_PAGE // 8, "u1")
            byte, bit = _within(new[new >> _PAGE == page])
            np.bitwise_or.at(self._pages[page], byte, bit)
        return np.asarray(new)

    def has(self, ids: np.ndarray) -> np.ndarray:
        found, of = np.zeros(len(ids), bool), ids >> _PAGE
        for page in np.unique(of).tolist():
            if page in self._pages:
                mine = of == page
                byte, bit = _within(ids[mine])
                found[mine] = self._pages[page][byte] & bit
        return found


def _within(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """In their page the byte of ids, and the bit in it."""
    return (ids & (2**_PAGE - 1)) >> 3, np.left_shift(1, ids & 7).astype("u1")


def _bound(remembered: set[int] | dict[int, int]) -> None:
    if len(remembered) > _MOST:
        remembered.clear()
