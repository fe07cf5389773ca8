"""How tasks end, counted as it comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..lookup import is_any
from ..schema import NOTHING

#: The columns by which it is counted.
READ: dict[str, tuple[str, ...]] = {"attempts": ("run", "task", "status"), "errors": ("run",)}
#: Runs that are remembered for what may be told of them later, before they are forgotten.
_MOST = 100_000
#: Bits of ids within a page.
_PAGE = 16


class Ends:
    """Counts tasks that have a result, and attempts that failed; not safe for several threads at once.

    Attributes
    ----------
    done
        Different tasks that ended well: a result that was lost and made again counts once.
    failed
        Attempts that raised, or died with their worker as the last that Dask made.
    """

    def __init__(self) -> None:
        self.done = self.failed = 0
        self._results = _Marked()
        #: Runs that have an error; and tasks of attempts that were killed, by their runs: of the last that
        #: Dask made an error is told, before or after, and of one that is made again none.
        self._errors: set[int] = set()
        self._killed: dict[int, int] = {}

    def take(self, table: str, columns: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Count rows of a table in `READ`.

        Returns
        -------
        done
            Tasks that have a result for the first time.
        failed
            Tasks of attempts that failed, one an attempt; `NOTHING` where it is not known.
        """
        done = np.zeros(0, "u4")
        if table == "errors":
            runs = [run for run in columns["run"].tolist() if run != NOTHING]
            failed = [self._killed.pop(run) for run in runs if run in self._killed]
            _bound(self._errors)
            self._errors.update(runs)
        else:
            run, task, status = (columns[name] for name in READ[table])
            done = self._results.add(task[is_any(status, ("ok",))])
            failed = task[is_any(status, ("erred",))].tolist()
            _bound(self._killed)
            killed = is_any(status, ("killed",)) & (run != NOTHING)
            for one, of in zip(run[killed].tolist(), task[killed].tolist(), strict=True):
                if one in self._errors:
                    failed.append(of)
                else:
                    self._killed[one] = of
        self.done += len(done)
        self.failed += len(failed)
        return done, np.array(failed, "u4")

    def has_result(self, tasks: np.ndarray) -> np.ndarray:
        """Of each task whether it has a result."""
        return self._results.has(tasks)


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
