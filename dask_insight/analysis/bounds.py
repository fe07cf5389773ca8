"""How fast the run could have been at best, and how far above it was."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import words
from ..batch import Texts
from ..dag import longest_chain, needs
from ..legible import printed
from ..lookup import sorted_set
from ..tables.facts import lacks
from ..tables.tasks import make
from ..timeline import (
    Read,
    Waiting,
    WholeRun,
    attempts_in_part,
    most_at_once,
    needed_attempts,
    one_cluster,
    unended_attempts,
    waiting,
)

if TYPE_CHECKING:
    import pandas as pd

_USED = (
    *("run", "task", "prefix", "worker", "thread", "status"),
    *("submitted", "start", "stop", "seceded", "done", "cpu"),
)
#: Share of the time from which it is told that nobody waited meanwhile.
_TOLD = 0.01


class Bounds(NamedTuple):
    """Bounds of the time of a run. Times in seconds.

    No schedule of these tasks on these threads is shorter than ``least``, and
    none that leaves no thread idle while a task could run is longer than
    ``most`` (Brent's theorem), as long as nothing but the tasks takes time.
    """

    #: From the first submission to the end of the last attempt, without times in which nobody waited for one,
    #: or everything stood still.
    seconds: float
    threads: int
    #: Seconds of all tasks together, without those that were cancelled.
    work: float
    #: Seconds of the longest chain of tasks that need one another, with what they computed without a thread.
    longest: float
    #: That chain: name of the tasks, how many of them, seconds; in the order of the run.
    chain: tuple[tuple[str, int, float], ...]
    #: Ids of its tasks, first to last.
    tasks: tuple[int, ...]
    #: Address of the scheduler that it is about, where the recording has several; '' else.
    cluster: str = ""
    #: Waits for locks, actors and other tasks, which count as work.
    waiting: Waiting = Waiting()
    #: Whether it is recorded which task needs which; if not, the chain is the longest task.
    is_chained: bool = True
    #: Tasks that had begun and not ended when the recording did, which are left out.
    unended: int = 0
    #: Of `longest`, what its tasks computed after they had given their thread back.
    away: float = 0.0
    #: Seconds that count as none: in which nobody waited for a task, and in which everything stood still.
    unwanted: float = 0.0
    still: float = 0.0

    @property
    def spread(self) -> float:
        """Work over threads: the time if all threads were busy all the time."""
        return self.work / self.threads if self.threads else float("nan")

    @property
    def least(self) -> float:
        """The larger of `spread` and `longest`."""
        return max(self.spread, self.longest) if self.threads else self.longest

    @property
    def most(self) -> float:
        """Brent's bound; NaN without chains.

        That is work / threads + longest × (threads − 1) / threads, where all of the chain needs threads.
        """
        if not self.threads or not self.is_chained:
            return float("nan")
        return self.spread + (self.longest * (self.threads - 1) + self.away) / self.threads

    @property
    def above(self) -> float:
        """The run's time over `least`: 1 is perfect."""
        return self.seconds / self.least if self.least > 0 else float("nan")

    @property
    def parallelism(self) -> float:
        """Work over the longest chain: threads beyond that many cannot help; NaN without chains."""
        return self.work / self.longest if self.longest > 0 and self.is_chained else float("nan")

    def verdict(self) -> str:
        """How far from the best it was, what sets that limit, and what is left out, a sentence each."""
        if not self.threads:
            return "No task ended while this was recorded."
        if self.least <= 0:
            return "Tasks ended, but took no time that was recorded."
        took, least = words.duration(self.seconds), words.duration(self.least)
        threads = words.count(self.threads, "thread")
        said = f"{words.of_cluster(self.cluster)}{took}, "
        if self.above >= 1.005:
            said += f"{words.about(self.above, digits=3)} times as long as {threads} would take at best "
            said += f"({least})."
        else:
            said += f"which is the best that {threads} can do."
        left_out = "".join(f" {each}." for each in self._left_out())
        if not self.is_chained:
            return f"{said} Which task needs which is not recorded.{left_out}"
        what, so_that = self._limit()
        return f"{said} {what}{f', but {self.waiting.said()}' if self.waiting else so_that}.{left_out}"

    def _left_out(self) -> Iterator[str]:
        if self.unwanted > _TOLD * self.seconds:
            yield f"{words.duration(self.unwanted)} in which nobody waited for a result are left out"
        if self.still > 0:
            yield f"{words.duration(self.still)} in which everything stood still are left out"
        if self.unended:
            yield f"{words.count(self.unended, 'task')} had not ended when the recording did: left out"

    def _limit(self) -> tuple[str, str]:
        """What sets the limit, and what follows from it where all work is work."""
        if self.longest >= self.spread:
            return "The longest chain of tasks sets the limit", ": more threads do not help"
        if self.seconds > 1.05 * self.most:
            most = words.duration(self.most)
            return f"If threads waited for nothing but tasks, it would take {most} or less", ""
        most = words.count(math.ceil(round(self.parallelism, 2)), "thread")
        return "The amount of work sets the limit", f": up to {most} can help"

    def figures(self) -> list[tuple[str, str]]:
        """The bounds with their names, in words."""
        found = [("Took", words.duration(self.seconds))]
        found += [
            (
                "Work / threads",
                f"{words.duration(self.spread)}  ({words.duration(self.work)} on {self.threads})",
            )
        ]
        if not self.is_chained:
            return [*found, ("Longest task", words.duration(self.longest))]
        found += [("Longest chain", words.duration(self.longest))]
        found += [("Brent's bound", words.duration(self.most))]
        most = sorted(self.chain, key=lambda part: -part[2])[:5]
        return found + [(f"  {name}", f"{words.duration(spent)} in {count}") for name, count, spent in most]

    def frame(self) -> pd.DataFrame:
        """The chain as a DataFrame: prefix, tasks, seconds, share."""
        import pandas as pd

        from ..tables.frame import text_column

        prefix, tasks, seconds = zip(*self.chain, strict=True) if self.chain else ((), (), ())
        spent = np.array(seconds, "f8")
        return pd.DataFrame(
            {
                "prefix": text_column(Texts.of(prefix), None),
                "tasks": np.array(tasks, "i8"),
                "seconds": spent,
                "share": spent / max(self.longest, 1e-300),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """All numbers by name, for JSON; without the tasks of the chain."""
        names = (
            *("seconds", "threads", "work", "spread", "longest", "least", "most", "above", "parallelism"),
            *("unwanted", "still"),
        )
        chain = [dict(zip(("prefix", "tasks", "seconds"), part, strict=True)) for part in self.chain]
        more = {"chain": chain, "cluster": self.cluster, "verdict": self.verdict()}
        return {name: getattr(self, name) for name in names} | more

    def __str__(self) -> str:
        figures = self.figures()
        width = max(len(name) for name, _ in figures)
        lines = [self.verdict(), "", *(f"{name:<{width}}  {figure}" for name, figure in figures)]
        return printed("\n".join(lines))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(figure)}</td></tr>" for name, figure in self.figures()
        )
        return f"<p>{escape(self.verdict())}</p><table>{rows}</table>"


def bounds(read: Read, cluster: str | None = None) -> Bounds:
    """The bounds of a recording; `read` gives the columns of a table of the schema.

    Where it has several schedulers, of one of them, by default that with most work.
    """
    name, part = one_cluster(read, cluster)
    return _bounds(part)._replace(cluster=name)


def _bounds(read: Read) -> Bounds:
    columns = attempts_in_part(read, make(read, _USED))
    ran = needed_attempts(columns)
    if not len(ran):
        return Bounds(0.0, 0, 0.0, 0.0, (), ())
    task, row = np.unique(columns["task"][ran], return_inverse=True)
    lasted = columns["stop"][ran] - columns["start"][ran]
    length = np.maximum(lasted - columns["seceded"][ran], 0.0)
    # What was tried again is done once at best: only the last attempt counts.
    spent = np.zeros(len(task))
    spent[row] = length
    # Who computes without a thread takes none from others, but what needs it waits.
    through = np.zeros(len(task))
    through[row] = np.fmax(length, np.minimum(columns["cpu"][ran], lasted))
    prefix = np.empty(len(task), "i8")
    prefix[row] = columns["prefix"].codes[ran]
    began = np.full(len(task), np.inf)
    began[row] = columns["start"][ran]
    chain = longest_chain(needs(read, task), through, began)
    run = WholeRun.of(read, columns)
    names = [columns["prefix"].names[code] for code in prefix[chain]]
    return Bounds(
        seconds=run.seconds,
        threads=_threads(read, columns, ran),
        work=float(spent.sum()),
        longest=float(through[chain].sum()),
        chain=_named(names, through[chain].tolist()),
        tasks=tuple(task[chain].tolist()),
        waiting=waiting(read, columns, ran),
        is_chained="edges" not in lacks(read),
        unended=len(unended_attempts(columns)),
        away=float((through - spent)[chain].sum()),
        unwanted=max(0.0, run.away.seconds - run.still),
        still=run.still,
    )


def _named(names: list[str], seconds: list[float]) -> tuple[tuple[str, int, float], ...]:
    """Count and seconds by name, names in the order in which they first stand in the chain."""
    found: dict[str, tuple[int, float]] = {}
    for name, spent in zip(names, seconds, strict=True):
        count, total = found.get(name, (0, 0.0))
        found[name] = count + 1, total + spent
    return tuple((name, *each) for name, each in found.items())


def _threads(read: Read, columns: Mapping[str, Any], ran: np.ndarray) -> int:
    """Threads of the workers that ran tasks or could have: the most at once."""
    table = read("workers")
    begin, end = np.nanmin(columns["start"][ran]), np.nanmax(columns["stop"][ran])
    rows = list({name: row for row, name in enumerate(table["worker"].tolist())}.values())
    since, until = np.fmax(table["joined"][rows], begin), np.fmin(table["left"][rows], end)
    there = since <= until
    told = int(most_at_once(since[there], until[there], table["threads"][rows][there].astype("f8")))
    lanes = sorted_set(columns["worker"].codes[ran].astype("i8") << 32 | columns["thread"].codes[ran])
    return told or len(lanes)
