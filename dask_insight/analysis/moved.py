"""What was sent from worker to worker, and how fast: by pair of workers, task name or type of result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arguments import summed_by_one
from ..batch import Symbols
from ..lookup import Lookup, coded, is_any, pick, ratio, sums
from ..schema import NOTHING
from ..tables.field import Field
from ..tables.named import names_of

if TYPE_CHECKING:
    import pandas as pd

Read = Callable[[str], Mapping[str, Any]]

#: What it can be summed by, and the columns that name that.
BY = {
    "pair": (
        Field("sender", "", "Worker that sent; '' where nobody told."),
        Field("receiver", "", "Worker that received; '' for clients."),
    ),
    "function": (Field("function", "", "Task name of the results; '' where nobody told."),),
    "type": (Field("type", "", "Type of the results; '' where nobody told."),),
}
FIELDS = (
    Field("nbytes", "bytes", "Size of what was sent."),
    Field("transfers", "", "Transfers, each counted once."),
    Field("results", "", "Results that they carried."),
    Field("seconds", "s", "Time that they took; results of one transfer have a share of it by their size."),
    Field("bandwidth", "bytes/s", "nbytes / seconds; NaN where they took no time."),
)


class Sent(NamedTuple):
    """Transfers of which each counts once, though both sides tell of it."""

    #: Rows in ``transfers``: the receiver's word, the sender's where there is none.
    rows: np.ndarray
    #: Addresses, '' for who is no worker; of each row of the table, whole, that of its sender and receiver.
    ends: list[str]
    sender: np.ndarray
    receiver: np.ndarray

    @classmethod
    def of(cls, read: Read) -> Sent:
        """Those of a recording."""
        table = read("transfers")
        ends = list(dict.fromkeys((*table["worker"].names, *table["peer"].names)))
        worker, peer = (coded(table[column], ends) for column in ("worker", "peer"))
        incoming = is_any(table["direction"], ("in",))
        sender, receiver = np.where(incoming, peer, worker), np.where(incoming, worker, peer)
        pair = sender * max(1, len(ends)) + receiver
        return cls(np.flatnonzero(incoming | ~np.isin(pair, pair[incoming])), ends, sender, receiver)

    def pair(self, row: int) -> tuple[str, str]:
        """Addresses of the sender and the receiver of one row."""
        return self.ends[self.sender[row]], self.ends[self.receiver[row]]


class Carried(NamedTuple):
    """Results that some transfers carried."""

    #: Place of its transfer among them, task and size of each.
    at: np.ndarray
    task: np.ndarray
    nbytes: np.ndarray

    @classmethod
    def by(cls, read: Read, transfers: np.ndarray) -> Carried:
        """Those of the transfers with these ids."""
        table = read("transferred")
        at = Lookup(transfers).rows(table["transfer"])
        rows = np.flatnonzero(at >= 0)
        return cls(at[rows], table["task"][rows], np.nan_to_num(table["nbytes"][rows]))


def moved(read: Read, by: str) -> pd.DataFrame:
    """The table of `Recording.moved`."""
    from ..tables.frame import frame

    by = summed_by_one(by, BY)
    table, sent = read("transfers"), Sent.of(read)
    took = np.maximum(np.nan_to_num(table["stop"][sent.rows] - table["start"][sent.rows]), 0.0)
    carried = Carried.by(read, table["transfer"][sent.rows])
    results, sizes = np.bincount(carried.at, minlength=len(took)), np.nan_to_num(table["nbytes"][sent.rows])
    if by == "pair":
        at, nbytes, seconds = np.arange(len(took)), sizes, took
        named = [Symbols(end[sent.rows].astype("u4"), sent.ends) for end in (sent.sender, sent.receiver)]
    else:
        # Of some nobody tells what they carried.
        untold = np.flatnonzero(results == 0)
        at = np.concatenate((carried.at, untold))
        nbytes = np.concatenate((carried.nbytes, sizes[untold]))
        task = np.concatenate((carried.task, np.full(len(untold), NOTHING, "u4")))
        whole, parts = sums(at, nbytes, len(took))[at], np.maximum(results[at], 1)
        part = ratio(nbytes, whole, 1.0 / parts)
        seconds, results = took[at] * part, np.minimum(results[at], 1)
        named = [names_of(read("graph"), task) if by == "function" else _types_of(read, task)]
    code = np.zeros(len(at), "i8")
    for each in named:
        code = code * max(1, len(each.names)) + each.codes
    _, first, group = np.unique(code, return_index=True, return_inverse=True)
    group, count = group.reshape(-1), len(first)
    size, lasted = (sums(group, values, count) for values in (nbytes, seconds))
    distinct = np.unique(group * max(1, len(took)) + at) // max(1, len(took))
    order = np.argsort(-size, kind="stable")
    columns: dict[str, Any] = {
        "nbytes": size,
        "transfers": np.bincount(distinct, minlength=count),
        "results": sums(group, results, count).astype("i8"),
        "seconds": lasted,
        "bandwidth": ratio(size, lasted, np.nan),
    }
    columns = {name: values[order] for name, values in columns.items()}
    for field, each in zip(BY[by], named, strict=True):
        columns[field.name] = Symbols(each.codes[first[order]], each.names)
    return frame((*BY[by], *FIELDS), columns, 0.0, timestamps=False, own=False)


def _types_of(read: Read, task: np.ndarray) -> Symbols:
    """Type of each task's result."""
    attempts = read("attempts")
    made = np.where(is_any(attempts["status"], ("ok",)), attempts["task"], NOTHING).astype("u4")
    found: Symbols = pick(attempts["typename"], Lookup(made).rows(task))
    return found
