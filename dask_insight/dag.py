"""Which task needs which, as rows of arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .lookup import Lookup, sorted_set


class Links(NamedTuple):
    """For each row some other rows: those of row i are ``rows[begins[i] : begins[i + 1]]``."""

    begins: np.ndarray
    rows: np.ndarray

    def lists(self) -> list[list[int]]:
        """The same as lists, for loops."""
        begins, rows = self.begins.tolist(), self.rows.tolist()
        return [rows[begin:end] for begin, end in pairwise(begins)]


def links(left: np.ndarray, right: np.ndarray, count: int) -> Links:
    """Gather pairs (left, right) by their left row."""
    order = np.argsort(left, kind="stable")
    begins = np.zeros(count + 1, "i4")
    np.cumsum(np.bincount(left, minlength=count), out=begins[1:])
    return Links(begins, right[order])


def needs(read: Callable[[str], Mapping[str, Any]], task: np.ndarray) -> Links:
    """Which of these tasks each of them needs.

    Parameters
    ----------
    read
        Gives the columns of a table of the schema.
    task
        Ids of tasks, each once. What is needed and is not among them is left out.
    """
    edges = read("edges")
    lookup = Lookup(task)
    left, right = lookup.rows(edges["task"]), lookup.rows(edges["dependency"])
    known = (left >= 0) & (right >= 0) & (left != right)
    pairs = sorted_set(left[known].astype("i8") << 32 | right[known].astype("i8"))
    return links(pairs >> 32, pairs & 0xFFFF_FFFF, len(task))


def turned(needed: Links) -> Links:
    """The other way round: which rows need each row."""
    count = len(needed.begins) - 1
    left = np.repeat(np.arange(count), np.diff(needed.begins))
    return links(needed.rows, left, count)


def in_order(needed: Links) -> list[int]:
    """All rows, each after those that it needs; rows that need each other in a circle are left out."""
    users, missing = turned(needed).lists(), np.diff(needed.begins).tolist()
    order = [row for row, count in enumerate(missing) if not count]
    for row in order:
        for user in users[row]:
            missing[user] -= 1
            if not missing[user]:
                order.append(user)
    return order


def longest_chain(needed: Links, spent: np.ndarray, began: np.ndarray) -> list[int]:
    """Rows of the chain whose seconds add up to most, first to last; `began` tells when each started."""
    begins, above, seconds = needed.begins.tolist(), needed.rows.tolist(), spent.tolist()
    until, through = [0.0] * len(seconds), [-1] * len(seconds)
    for row in _ordered(needed, began):
        best, most = -1, 0.0
        for place in range(begins[row], begins[row + 1]):
            other = above[place]
            if until[other] > most or best < 0:
                best, most = other, until[other]
        through[row] = best
        until[row] = most + seconds[row]
    chain = []
    row = int(np.argmax(until))
    while row >= 0:
        chain.append(row)
        row = through[row]
    return chain[::-1]


def _ordered(needed: Links, began: np.ndarray) -> list[int]:
    """All rows, each after those that it needs: as they started, unless clocks or repeats contradict that."""
    order = np.argsort(began, kind="stable")
    place = np.empty(len(order), "i8")
    place[order] = np.arange(len(order))
    users = np.repeat(place, np.diff(needed.begins))
    ordered: list[int] = order.tolist() if (place[needed.rows] < users).all() else in_order(needed)
    return ordered
