"""The same graph with bigger or smaller chunks, where it can be told from the graph.

It can where tasks lie in *blockwise chains*: groups in which each task needs
nothing, or exactly one task of one other group of the chain, and each of
those is needed by one of its tasks only. Neighbours in the order of their
ranks are then merged, or each task is cut into equal parts. What comes after
the chains keeps its tasks and needs the new ones in place of the old.
"""

from __future__ import annotations

from functools import partial
from math import isclose

import numpy as np

from ...dag import Links, links
from ...lookup import sorted_set
from .model import Model

#: Most tasks that chunks are cut into.
_MOST = 2_000_000


def with_chunks(model: Model, factor: float) -> Model:
    """The graph with chunks that are `factor` times as large.

    Seconds and bytes are taken to grow with the size of a chunk; what a task
    costs besides does not change.

    Raises
    ------
    ValueError
        If the factor, or its inverse, is no whole number, the graph has no
        blockwise chain, or there would be too many tasks to simulate.
    """
    positive = 0 < factor < np.inf
    times, parts = (round(factor), round(1 / factor)) if positive else (0, 0)
    near = partial(isclose, rel_tol=1e-5)
    if not positive or not (near(times, factor) or near(parts * factor, 1)):
        raise ValueError(
            f"chunks={factor}: chunks can become 2, 3 … times as large, or 1/2, 1/3 … of what they are"
        )
    chain = _changing(model, factor)
    if not chain.any():
        raise ValueError(
            "chunks=…: no tasks of this graph lie in a blockwise chain (each made from one chunk), so that "
            "it does not tell how it would look with other chunks; record it with those"
        )
    tasks = len(chain) + int(chain.sum()) * (parts - 1)
    if tasks > max(_MOST, len(chain)):
        raise ValueError(f"chunks={factor:g} makes {tasks:,} tasks, more than {_MOST:,}")
    return _merged(model, chain, times) if factor >= 1 else _cut(model, chain, parts)


def share_in_chains(model: Model, factor: float) -> float:
    """Share of the tasks' seconds, 0 to 1, in tasks that would change with such chunks."""
    work = float(model.compute.sum())
    return float(model.compute[_changing(model, factor)].sum()) / work if work > 0 else 0.0


def _changing(model: Model, factor: float) -> np.ndarray:
    """Which tasks change: those of blockwise chains; those that stand alone cannot be merged."""
    chain = _chains(model)
    return chain & (_chain_sizes(model, chain) > 1) if factor > 1 else chain


def _chains(model: Model) -> np.ndarray:
    """Which tasks lie in a blockwise chain."""
    groups = len(model.group_size)
    count = np.diff(model.needs.begins)
    left = np.repeat(np.arange(len(count)), count)
    needs_of = np.bincount(model.group, count, minlength=groups)
    most = np.zeros(groups, "i8")
    np.maximum.at(most, model.group, count)
    chained = most == 0
    # A group is in a chain if all its tasks need one task each, of one group, no two of them the same.
    pairs = sorted_set(model.group[left].astype("i8") * groups + model.group[model.needs.rows])
    above = np.full(groups, -1)
    single = np.bincount(pairs // groups, minlength=groups) == 1
    above[pairs // groups] = pairs % groups
    different = np.zeros(groups, "i8")
    np.add.at(
        different, sorted_set(left * 0 + model.group[left].astype("i8") << 32 | model.needs.rows) >> 32, 1
    )
    fits = (most == 1) & single & (needs_of == model.group_size) & (different == model.group_size)
    fits &= ~chained & (above >= 0) & (model.group_size[above] == model.group_size)
    below = links(above[fits], np.flatnonzero(fits), groups).lists()
    found = np.flatnonzero(chained).tolist()
    for group in found:
        found += below[group]
    chained[found] = True
    return np.asarray(chained[model.group])


def _chain_sizes(model: Model, chain: np.ndarray) -> np.ndarray:
    return np.where(chain, model.group_size[model.group], 0)


def _places(model: Model, chain: np.ndarray) -> np.ndarray:
    """Number of each chained task's chunk within its group: the same down a chain."""
    place = np.full(len(model.group), -1, "i8")
    root = chain & (np.diff(model.needs.begins) == 0)
    rows = np.flatnonzero(root)
    rows = rows[np.argsort(model.group[rows], kind="stable")]
    first = np.r_[True, model.group[rows][1:] != model.group[rows][:-1]] if len(rows) else np.zeros(0, bool)
    begins = np.maximum.accumulate(np.where(first, np.arange(len(rows)), 0)) if len(rows) else rows
    place[rows] = np.arange(len(rows)) - begins
    # The first of each chain, to which ever longer leaps lead.
    first = np.arange(len(place))
    chained = np.flatnonzero(chain & ~root)
    first[chained] = model.needs.rows[model.needs.begins[:-1][chained]]
    while (place[first[chained]] < 0).any():
        first = first[first]
    place[chained] = place[first[chained]]
    return place


def _merged(model: Model, chain: np.ndarray, times: int) -> Model:
    """Each `times` neighbours of a chain become one task, of the least rank among them."""
    place = _places(model, chain)
    count = len(place)
    label = np.where(
        chain, model.group.astype("i8") * count + place // min(times, count), -1 - np.arange(count)
    )
    _, first, new = np.unique(label, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(first), "i8")
    number[order] = np.arange(len(first))
    return _remade(model, first[order], number[new], np.arange(count), np.ones(count))


def _cut(model: Model, chain: np.ndarray, parts: int) -> Model:
    """Each task of a chain becomes `parts` tasks."""
    copies = np.where(chain, parts, 1)
    source = np.repeat(np.arange(len(copies)), copies)
    return _remade(model, source, np.arange(len(source)), source, 1.0 / copies, chain, parts)


def _remade(
    model: Model,
    kept: np.ndarray,
    new: np.ndarray,
    source: np.ndarray,
    share: np.ndarray,
    chain: np.ndarray | None = None,
    parts: int = 1,
) -> Model:
    """A graph of other tasks.

    `kept` is an old task for each new one, whose name it takes; the old task
    `source[i]` has its `share` in the new task `new[i]`.
    """
    count = len(kept)

    def sums(values: np.ndarray) -> np.ndarray:
        return np.bincount(new, (values * share)[source], minlength=count)

    # What a task costs besides stays as it is, but for the disk: that grows with what is read.
    around = sums(model.disk) + np.bincount(new, (model.around - model.disk)[source]) / np.bincount(new)
    group, size = model.group[kept], np.bincount(model.group[kept], minlength=len(model.group_size))
    members = _members(model, new, source, count)
    releases = [
        each if each.task < 0 else each._replace(task=int(new[np.searchsorted(source, each.task)]))
        for each in model.releases
    ]
    return model.with_needs(
        task=model.task[kept],
        compute=sums(model.compute),
        around=around,
        disk=sums(model.disk),
        nbytes=sums(model.nbytes),
        prefix=model.prefix[kept],
        group=group,
        group_size=size,
        needs=_needs(model, new, source, count, chain, parts),
        members=members,
        releases=releases,
    )


def _members(model: Model, new: np.ndarray, source: np.ndarray, count: int) -> list[list[int]]:
    submission = np.zeros(len(model.group), "i8")
    for number, tasks in enumerate(model.members):
        submission[tasks] = number
    made = np.zeros(count, "i8")
    np.maximum.at(made, new, submission[source])
    return links(made, np.arange(count), len(model.members)).lists()


def _needs(
    model: Model, new: np.ndarray, source: np.ndarray, count: int, chain: np.ndarray | None, parts: int
) -> Links:
    """Needs of the new tasks: those of the old ones; a part of a chain needs its own part above it only."""
    lengths = np.diff(model.needs.begins)
    left, right = np.repeat(np.arange(len(lengths)), lengths), model.needs.rows
    if chain is None:
        pairs = new[left].astype("i8") << 32 | new[right]
    else:
        begins = np.searchsorted(source, np.arange(len(lengths)))
        inner = chain[left]
        found = [begins[left[~inner]] << 32 | begins[right[~inner]]]
        wide = chain[right] & ~inner
        for part in range(parts):
            found.append((begins[left[inner]] + part) << 32 | (begins[right[inner]] + part))
            found.append(begins[left[wide]] << 32 | (begins[right[wide]] + part))
        pairs = np.concatenate(found)
    pairs = sorted_set(pairs)
    pairs = pairs[pairs >> 32 != pairs & 0xFFFF_FFFF]
    return links(pairs >> 32, pairs & 0xFFFF_FFFF, count)
