"""The shape of a computation as a picture: task names, and which needs the results of which."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import words
from ..arguments import summed_by_one
from ..batch import Symbols
from ..legible import harmless, printed
from ..lookup import is_any, sums
from ..schema import NOTHING
from ..timeline import Attempts, Read, attempts, stretches

if TYPE_CHECKING:
    import pandas as pd

#: Names that have a node of their own, and the most arrows: Mermaid draws no more than 500, nor code of more
#: than 50,000 characters.
_NAMES, _ARROWS = 60, 300
#: The column of ``graph`` that tells what it can be drawn by.
_COLUMN = {"function": "prefix", "group": "group"}
#: Signs that may mean something to Mermaid, Markdown or HTML: all but those of usual names.
_MEANING = re.compile(r"(?<![^\W_])[._-]|[._-](?![^\W_])|[^\w .,·…\N{NARROW NO-BREAK SPACE}-]")


class Node(NamedTuple):
    """The tasks of one name."""

    name: str
    tasks: int
    done: int
    #: Seconds for which their functions held a thread, and bytes of their results.
    seconds: float
    nbytes: float

    def __str__(self) -> str:
        done = f"{self.done:,} of {self.tasks:,}" if self.tasks else ""
        time = words.duration(self.seconds) if self.seconds else ""
        return _told(_line(self.name), done, time, words.size(self.nbytes) if self.nbytes else "")


class Arrow(NamedTuple):
    """Tasks of one node that need results of another: their places in `Shape.nodes`."""

    source: int
    target: int
    #: Dependencies of one task on another, and bytes of the results, counted for every task that needs them.
    edges: int
    nbytes: float

    def __str__(self) -> str:
        return _told(f"{self.edges:,}", words.size(self.nbytes) if self.nbytes else "")


class Shape(NamedTuple):
    """A computation as a flowchart; prints as text.

    Attributes
    ----------
    nodes
        A `Node` for each name, the dearest first; beyond 60 the others are one.
    arrows
        An `Arrow` for each pair of these, the dearest first.
    left
        Number of arrows that are left out.
    """

    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    left: int

    def mermaid(self) -> str:
        """The code of a Mermaid flowchart, in which no name means anything but itself."""
        short = [node._replace(name=words.short(_line(node.name))) for node in self.nodes]
        lines = [f'n{at}["{_encoded(node)}"]' for at, node in enumerate(short)]
        lines += [f'n{one.source} -->|"{_encoded(one)}"| n{one.target}' for one in self.arrows]
        lines += [f'note["{_encoded(each)}"]' for each in self._notes()]
        return "\n    ".join(("flowchart LR", *lines))

    def _notes(self) -> list[str]:
        left = [f"{words.count(self.left, 'more arrow')} left out"] if self.left else []
        return left if self.nodes else ["no tasks were recorded"]

    def __str__(self) -> str:
        lines = []
        for at, node in enumerate(self.nodes):
            lines.append(str(node))
            lines += [
                f"  → {_line(self.nodes[one.target].name)} · {one}" for one in self.arrows if one.source == at
            ]
        return printed("\n".join([*lines, *self._notes()]))

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return f"```mermaid\n{self.mermaid()}\n```"


def shape(read: Read, pairs: pd.DataFrame, by: str) -> Shape:
    """The shape of a recording; `pairs` is the table of `Recording.dependencies` by the same."""
    by = summed_by_one(by, _COLUMN)
    names: Symbols = read("graph")[_COLUMN[by]]
    nodes, place = _nodes(read, names)
    source, target = (place[pairs[end].cat.codes.to_numpy()] for end in ("source", "target"))
    codes, first, which = np.unique(
        source * max(1, len(nodes)) + target, return_index=True, return_inverse=True
    )
    figures = (pairs[name].to_numpy() for name in ("edges", "nbytes"))
    edges, nbytes = (sums(which.reshape(-1), each, len(codes)) for each in figures)
    arrows = tuple(
        Arrow(int(source[first[at]]), int(target[first[at]]), int(edges[at]), float(nbytes[at]))
        for at in np.argsort(first)[:_ARROWS].tolist()
    )
    return Shape(nodes, arrows, len(codes) - len(arrows))


def _nodes(read: Read, names: Symbols) -> tuple[tuple[Node, ...], np.ndarray]:
    """The nodes, and which of them each code of `names` is in."""
    known, count = attempts(read), len(names.names)
    met, done, nbytes = _tasks(read, known)
    ran = np.flatnonzero(known.ran & (known.described >= 0))
    code = names.codes[known.described[ran]]
    seconds = sums(code, stretches(read, known).held(len(known.run))[ran], count)
    there = np.flatnonzero(np.bincount(names.codes, minlength=count))
    there = there[np.argsort(-seconds[there], kind="stable")]
    place = np.zeros(count, "i8")
    place[there] = np.minimum(np.arange(len(there)), _NAMES)
    titles = [names.names[each] or "(no name)" for each in there[:_NAMES].tolist()]
    if rest := len(there) - len(titles):
        titles.append(words.count(rest, "more name"))
    node = place[names.codes]
    figures = [sums(node, each, len(titles)).tolist() for each in (met, done, nbytes)]
    held = sums(place[there], seconds[there], len(titles)).tolist()
    nodes = tuple(
        Node(title, int(tasks), int(ended), time, size)
        for title, time, tasks, ended, size in zip(titles, held, *figures, strict=True)
    )
    return nodes, place


def _tasks(read: Read, known: Attempts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each row of ``graph``: whether it was to run, whether it has a result, and the result's bytes."""
    graph = read("graph")
    done = is_any(graph["state"], ("memory",))
    met = done | (graph["order"] != NOTHING)
    nbytes = np.zeros(len(met))
    rows = np.flatnonzero(known.described >= 0)
    met[known.described[rows]] = True
    rows = rows[known.ok[rows]]
    done[known.described[rows]] = True
    nbytes[known.described[rows]] = np.nan_to_num(known.nbytes[rows])
    return met, done, nbytes


def _told(*parts: str) -> str:
    return " · ".join(part for part in parts if part)


def _line(name: str) -> str:
    """A name on one line."""
    return harmless(" ".join(name.split()))


def _encoded(text: object) -> str:
    """Text within quotes as Mermaid shows it, by its codes of signs."""
    return _MEANING.sub(lambda found: f"#{ord(found[0])};", str(text))
