"""What ran, where, how long, and how busy the threads were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dask_insight import words
from dask_insight.legible import printed
from dask_insight.lookup import Lookup, distinct, is_any, sorted_set
from dask_insight.schema import NOTHING
from dask_insight.tables import plain
from dask_insight.tables.facts import ALL_CLIENTS, PART, moment, part_of_run, recorded
from dask_insight.tables.facts import facts as facts_of
from dask_insight.tables.losses import losses
from dask_insight.timeline import (
    CallStacks,
    Moments,
    Read,
    Used,
    Whereabouts,
    is_local,
    lives,
    most_at_once,
    program_at,
    standstills,
    submitted_by_others,
    tells_when_asked,
    used,
)

#: Share of a sum that is left of it when all of its parts, in four bytes each, are taken away.
_ROUNDED = 1e-5
#: What is said of time in which no task function ran, by part of the time budget.
INSTEAD = {
    **words.AROUND,
    **words.IDLE,
    "inputs": "waiting for {name}",
}
#: Parts in which threads had nothing to run; their share of thread time, and of cores in use, from which
#: these are told beside; and how many cores for each thread in a task function are more than its own.
_IDLE = ("inputs", "data", "processes", "placement", "scheduler")
_MUCH, _FULL, _MORE = 0.15, 0.7, 1.1
#: Parts of idle time that cannot be told apart where nobody knows when tasks were wanted.
_UNKNOWN = ("inputs", "client")
#: How tasks stood that had begun and not ended.
_RUNNING = "still running"
#: What the names of P2P's outputs begin with, but for `rechunk`; and what those of its inputs have in them.
_OUTPUTS, _INPUTS = ("p2p", "hashjoinp2p"), ("merge", "split", "transfer")
#: Share of the thread time that all threads would have offered from beginning to end, from which they did.
_THERE = 0.9
#: Share of the offered time from which what threads did instead of computing is told.
_TOLD = 0.02
#: Share of the computing from which the task name that takes most is told.
_SAID = 0.1
#: Share of the duration, and seconds, from which it is told that who asked went on after the last result.
_ON, _LONG = 0.1, 1.0
#: What to do where nothing was seen, and where all clients of the process would have been.
_UNSEEN = "Dask works when something is computed: `.compute()`, `.persist()`, `client.submit(…)`."
_ELSEWHERE = (
    "What is seen are clients and local schedulers of the process that records; `dask-insight attach "
    "ADDRESS` records a cluster that others use."
)


class Told(NamedTuple):
    """A finding in one line."""

    severity: str
    title: str
    #: Seconds that the run would be shorter by; NaN for a risk that costs no time.
    seconds: float

    def __str__(self) -> str:
        cost = f" (costs about {words.duration(self.seconds)})" if self.seconds > 0 else ""
        return f"{self.severity}: {self.title}{cost}"


class Onward(NamedTuple):
    """What went on after the last result, for how many seconds, and at which line most of them."""

    what: str
    seconds: float
    place: str


NOT_ON = Onward("", 0.0, "")


class Overview(NamedTuple):
    """The figures that head a report. Times in seconds, sizes in bytes."""

    name: str
    #: When it began, since the epoch; NaN if nothing was recorded.
    started: float
    #: From the first submission to the last result.
    duration: float
    #: Workers, hosts and threads: the most that were there at once.
    workers: int
    hosts: int
    threads: int
    #: Clusters of all workers; 0 if none is known.
    clusters: int
    #: Different tasks that ended well.
    tasks: int
    #: Attempts that raised, or died with their worker as the last that Dask made.
    erred: int
    retried: int
    #: Thread-seconds that the workers offered between start and end.
    offered: float
    #: Thread-seconds in which task functions ran.
    computing: float
    #: Seconds by action around the computing: transfer, disk-read …
    around: dict[str, float]
    #: Task names with their computing seconds, most first.
    names: list[tuple[str, float]]
    #: Rows that a bound made the recorder drop, in words.
    losses: list[str]
    facts: dict[str, Any]
    #: Thread-seconds by what the threads did or waited for, and the task name, most first; see `budget`.
    budget: list[tuple[str, str, float]]
    #: Findings that are warnings or worse, most important first.
    findings: Sequence[Told] = ()
    #: Cores that the workers' processes used on average, of those that they may use.
    used: Used = Used()
    #: Seconds of the duration in which everything stood still; no share counts them.
    still: float = 0.0
    #: Seconds of it in which there was no worker; no share counts them.
    absent: float = 0.0
    #: Where no task ended, how many tasks there were by how they stood: cancelled, running, waiting.
    unfinished: Mapping[str, int] = MappingProxyType({})
    #: Then too, of the tasks that were still running, the name of the one that had run longest, and seconds.
    longest: tuple[str, float] = ("", 0.0)
    #: Attempts that were to run elsewhere, and of them those by which P2P places outputs, as it always does.
    rescheduled: int = 0
    placed: int = 0
    #: Calls of actors' methods, and seconds that they ran; Dask runs them beside the tasks.
    calls: tuple[int, float] = (0, 0.0)
    #: What had the last result, a cell or the recording, and seconds for which it went on then.
    after: Onward = NOT_ON
    #: Whether the recording tells when tasks were wanted: what idle threads waited for.
    asked: bool = True
    #: Of the tasks those that others submitted than the process that recorded, and how many clients.
    others: tuple[int, int] = (0, 0)
    #: What the tasks that computed most, the first of `names`, were at for most of that time.
    busiest: Whereabouts = Whereabouts()
    #: How many findings are of less weight than `findings`.
    noted: int = 0

    @property
    def busy(self) -> float:
        """Share of the offered thread time in which tasks computed, 0 to 1; NaN if none was offered."""
        return min(1.0, self.computing / self.offered) if self.offered > 0 else float("nan")

    @property
    def has_tasks(self) -> bool:
        """Whether anything was computed, or was to be."""
        return bool(self.tasks or self.erred or self.retried or self.unfinished or self.calls[0])

    def verdict(self) -> str:
        """The answer in one or two sentences, with numbers; task names stand between backticks."""
        if not self.tasks and not self.erred:
            if isinstance(compared := self.facts.get("comparison"), str):
                return compared
            return self._without_tasks()
        if not np.isfinite(self.busy):
            return f"{words.duration(self.duration)}: {words.count(self.tasks, 'task')}."
        served = self.duration - self.still - self.absent
        throughout = self.offered >= _THERE * self.threads * served
        took = f"{words.duration(self.duration)} on {'' if throughout else 'up to '}"
        took += words.count(self.threads, "thread")
        if self.still > 0:
            took += f", for {words.duration(self.still)} of which everything stood still"
        if self.absent >= _TOLD * self.duration:
            took += f", for {words.duration(self.absent)} of which there was no worker"
        shares = ", ".join([f"{words.share(self.busy)} computing", *self.lost_shares()])
        more = f"{self._most()}{self._failures()}{self._actors()}{self._after()}{self._others()}"
        return f"{took}: {shares}{self._beside()}.{more}"

    def _without_tasks(self) -> str:
        lacks = self.facts.get("lacks")
        if isinstance(lacks, dict) and isinstance(why := lacks.get("attempts"), str):
            return f"{words.duration(self.duration)}. {words.short(why, 200)}"
        where = "in this part of the recording" if self.facts.get(PART) else "while this was recorded"
        return f"No task ended {where}{self.stood()}.{self._actors()}"

    def cure(self) -> str:
        """What to do where a process that recorded saw nothing, in words; '' else."""
        # Files of other tools tell of no process.
        recorded_whole = "pid" in self.facts and not self.facts.get(PART)
        if self.has_tasks or not recorded_whole:
            return ""
        return f"{_UNSEEN} {_ELSEWHERE}" if self.facts.get(ALL_CLIENTS) else _UNSEEN

    def _said(self) -> str:
        return f"{self.verdict()} {self.cure()}".rstrip()

    def stood(self) -> str:
        """How tasks stood where none ended, as the end of a sentence that says so; '' if there were none."""
        stood = [f"{count:,} {_was(count)} {how}{self._since(how)}" for how, count in self.unfinished.items()]
        return f": {words.listing(stood)}" if stood else ""

    def _since(self, how: str) -> str:
        """Which of the tasks that still ran had run longest, in words."""
        name, seconds = self.longest
        if how != _RUNNING or not name:
            return ""
        others = "the longest " if self.unfinished[how] > 1 else ""
        return f" ({others}`{words.short(name)}`, for {words.duration(seconds)})"

    def lost_shares(self, most: int = 3) -> list[str]:
        """What the threads did instead of computing, in words: ``18 % waiting for sum``.

        Parameters
        ----------
        most
            How many causes are named.
        """
        offered = sum(seconds for _, _, seconds in self.budget)
        return [
            f"{words.share(seconds / offered)} {text}"
            for text, seconds in self.lost_time()[:most]
            if seconds >= _TOLD * offered
        ]

    def lost_time(self) -> list[tuple[str, float]]:
        """What the threads did instead of computing, in words, with its thread-seconds; most first.

        Task names that were hardly waited for are told together: of thousands each would be left out.
        """
        little = _TOLD * sum(seconds for _, _, seconds in self.budget)
        few = {name for part, name, seconds in self.budget if part == "inputs" and name and seconds < little}
        together = f"tasks of {len(few):,} names" if len(few) > 1 else ""
        told: dict[str, float] = {}
        for part, name, seconds in self.budget:
            if part in INSTEAD:
                alone = f"`{words.short(name)}`" if name else "tasks"
                text = INSTEAD[part].format(name=together if together and name in few else alone)
                if not self.asked and part in _UNKNOWN:
                    text = "idle"
                told[text] = told.get(text, 0.0) + seconds
        return sorted(told.items(), key=lambda item: -item[1])

    def place(self) -> str:
        """Where it ran, in words."""
        parts = [words.count(self.workers, "worker"), words.count(self.threads, "thread")]
        parts += [words.count(self.hosts, "host")] if self.hosts > 1 else []
        parts += [words.count(self.clusters, "cluster")] if self.clusters > 1 else []
        return ", ".join(parts)

    def figures(self) -> list[tuple[str, str]]:
        """The figures with their names, in words."""
        figures = [("Took", words.duration(self.duration)), ("Tasks", words.count(self.tasks))]
        figures += [("Failed", words.count(self.erred, "attempt"))] if self.erred else []
        figures += [("Retried", words.count(self.retried, "attempt"))] if self.retried else []
        figures += [("Rescheduled", words.count(self.rescheduled, "attempt"))] if self.rescheduled else []
        figures += [("Ran on", self.place())]
        figures += [("Computing", f"{words.duration(self.computing)} of thread time")]
        figures += [(words.short(name, 40), words.duration(seconds)) for name, seconds in self.names[:5]]
        return figures

    def __str__(self) -> str:
        figures = self.figures()
        width = max(len(name) for name, _ in figures)
        lines = [self.name or "Dask computation", self._said(), *self.advised(), ""]
        lines += [f"{name:<{width}}  {figure}" for name, figure in figures]
        return printed("\n".join([*lines, *(f"Lost: {loss}" for loss in self.losses)]))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """A plain table: notebooks that trust nothing keep it too."""
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(figure)}</td></tr>" for name, figure in self.figures()
        )
        lost = "".join(f"<p>Lost: {escape(loss)}</p>" for loss in self.lost())
        name, verdict = escape(words.short(self.name, 120)) or "Dask computation", words.marked(self._said())
        found = "".join(f"<li>{words.marked(line)}</li>" for line in self.advised())
        told = f"<ul>{found}</ul>" if found else ""
        return f"<p><b>{name}</b><br>{verdict}</p>{told}<table>{rows}</table>{lost}"

    def advised(self, most: int = 3, whole: str = "run.findings()") -> list[str]:
        """The first warnings and worse, a line each, and how many more findings there are.

        Parameters
        ----------
        most
            How many are told.
        whole
            Code that tells all of them; '' where they are shown anyway.
        """
        lines = [str(each) for each in self.findings[:most]]
        more = len(self.findings) + self.noted - len(lines)
        if not lines or not more:
            return lines
        where = f"; all: `{whole}`" if whole else ""
        return [*lines, f"and {words.count(more, 'more finding')}{where}"]

    def lost(self, most: int = 20) -> list[str]:
        """The first losses, a line each, and how many more there are."""
        lines = [words.short(loss, 400) for loss in self.losses[:most]]
        more = len(self.losses) - most
        return [*lines, words.count(more, "more loss", "more losses")] if more > 0 else lines

    def _beside(self) -> str:
        """What idle threads did not keep cores from: libraries within tasks may use all of them."""
        idle = sum(seconds for part, _, seconds in self.budget if part in _IDLE)
        if idle < _MUCH * self.offered or not self.used.cores >= _FULL * self.used.of:
            return ""
        # Where there are more threads than cores, those in task functions keep as many cores busy.
        if self.used.cores < _MORE * self.computing / self.duration:
            return ""
        cores = words.count(round(self.used.of), "core")
        return f", while the workers used {words.about(self.used.cores)} of {cores}"

    def _most(self) -> str:
        if not self.names or self.computing <= 0:
            return ""
        name, seconds = self.names[0]
        # Among many names that take alike the first is by chance.
        if seconds < _SAID * self.computing:
            return ""
        at = f", most of it {self.busiest}" if self.busiest else ""
        return f" {words.share(seconds / self.computing)} of the computing was `{words.short(name)}`{at}."

    def _failures(self) -> str:
        retried, rescheduled = self.retried, self.rescheduled - self.placed
        told = [
            (self.erred, "failed"),
            (retried, f"{_was(retried)} retried"),
            (rescheduled, f"{_was(rescheduled)} rescheduled"),
        ]
        some = [(count, how) for count, how in told if count]
        parts = [f"{words.count(count, '' if i else 'attempt')} {how}" for i, (count, how) in enumerate(some)]
        return f" {words.listing(parts)}." if parts else ""

    def _actors(self) -> str:
        count, seconds = self.calls
        if not count or seconds < _SAID * self.computing:
            return ""
        calls = words.count(count, "call")
        beside = " beside the tasks" if self.tasks else ""
        return f" {calls} of actors took {words.duration(seconds)}{beside}."

    def _others(self) -> str:
        tasks, clients = self.others
        if not tasks:
            return ""
        return f" {tasks:,} of the tasks {_was(tasks)} submitted by {words.count(clients, 'other client')}."

    def _after(self) -> str:
        what, seconds, place = self.after
        if seconds <= 0:
            return ""
        at = f", most of it at {place}" if place else ""
        return f" {what} went on for {words.duration(seconds)} after the last result{at}."


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def overview(read: Read, findings: bool = True) -> Overview:
    """Sum a recording up.

    Parameters
    ----------
    read
        Gives the columns of a table.
    findings
        Whether to tell what the table `findings` has.
    """
    attempts = read("attempts")
    facts = facts_of(read("about"))
    start, stop = attempts["start"], attempts["stop"]
    since, until = part_of_run(read)
    length = np.where(np.isfinite(start) & np.isfinite(stop), stop - start, 0.0)
    length = np.maximum(length, 0.0)
    budget = read("budget")
    # It tells of tasks that run on, too.
    first, last = budget["start"], budget["stop"]
    begin = _least(attempts["submitted"], start, first, fallback=moment(facts.get("started"), np.nan))
    stopped = moment(facts.get("stopped"), until if np.isfinite(until) else np.nan)
    end = -_least(-attempts["done"], -stop, -last, fallback=-stopped)
    # What is not known stays so.
    begin, end = max(begin, since), min(end, until)
    status = attempts["status"]
    task = attempts["task"]

    ok = is_any(status, ("ok",))
    given_up = np.isin(attempts["run"], read("errors")["run"])
    workers, hosts, threads, offered = _workers(read, attempts, begin, end)
    still = standstills(read)
    shares = _budget(budget)
    computing = float(length.sum())
    if shares:
        offered = sum(seconds for _, _, seconds in shares)
        computing = sum(seconds for part, _, seconds in shares if part not in INSTEAD)
    elsewhere = task[is_any(status, ("rescheduled",))]
    erred = int((is_any(status, ("erred",)) | (is_any(status, ("killed",)) & given_up)).sum())
    has_ended = erred > 0 or bool(ok.any())
    names = _computed(shares) if shares else _names(read("graph"), task, length)
    unfinished, longest = ({}, ("", 0.0)) if has_ended else _unended(read, attempts)
    return Overview(
        name=str(facts.get("name") or ""),
        started=begin,
        duration=max(0.0, end - begin),
        workers=workers,
        hosts=hosts,
        threads=threads,
        clusters=len({*read("workers")["cluster"].tolist()} - {""}),
        tasks=len(sorted_set(task[ok])),
        erred=erred,
        retried=int(is_any(status, ("retried",)).sum()),
        offered=offered,
        computing=computing,
        around=_around(read("phases")),
        names=names,
        losses=losses(read("events")),
        facts=facts,
        budget=shares,
        findings=_findings(read("findings")) if findings else (),
        noted=int(is_any(read("findings")["severity"], ("info",)).sum()) if findings else 0,
        used=used(read, begin, end),
        still=max(0.0, float(still.within(np.array([begin]), np.array([end]))[0])),
        absent=_without_workers(read, attempts, begin, end, still),
        rescheduled=len(elsewhere),
        placed=_placed(read, elsewhere),
        calls=_calls(read("metrics")),
        after=_went_on(read, facts, begin, end) if np.isinf(until) else NOT_ON,
        unfinished=unfinished,
        longest=longest,
        asked=tells_when_asked(read, attempts.__getitem__),
        others=_of_others(read, sorted_set(task[ok])),
        busiest=_busiest(read, attempts, names, computing),
    )


def _busiest(
    read: Read, attempts: Mapping[str, Any], names: Sequence[tuple[str, float]], computing: float
) -> Whereabouts:
    """What the tasks that computed most were at, if they are told of."""
    name, seconds = names[0] if names else ("", 0.0)
    if not seconds >= _SAID * computing > 0:
        return Whereabouts()
    graph = read("graph")
    mine = np.append(is_any(graph["prefix"], (name,)), False)[Lookup(graph["task"]).rows(attempts["task"])]
    return CallStacks(read).at(attempts["run"][mine], seconds)


def _placed(read: Read, tasks: Numbers) -> int:
    """How many of some tasks are outputs of P2P, as their names tell."""
    if not len(tasks):
        return 0
    graph = read("graph")
    row = Lookup(graph["task"]).rows(tasks)
    prefix = graph["prefix"]
    outputs = np.array([_is_output(name) for name in prefix.names] or [False])
    return int(outputs[prefix.codes[row[row >= 0]]].sum())


def _is_output(name: str) -> bool:
    parts = {*name.split("-")}
    # What it rechunks has other names as well where it was fused.
    return name.startswith(_OUTPUTS) or ("rechunk" in parts and parts.isdisjoint(_INPUTS))


def _of_others(read: Read, tasks: Numbers) -> tuple[int, int]:
    theirs, clients = submitted_by_others(read)
    return int(np.isin(tasks, theirs).sum()), clients


Numbers = npt.NDArray[Any]


def _least(*arrays: Numbers, fallback: float) -> float:
    finite = [array[np.isfinite(array)] for array in arrays]
    least = min((float(array.min()) for array in finite if len(array)), default=float("nan"))
    return least if np.isfinite(least) else fallback


def _workers(
    read: Read, attempts: Mapping[str, Any], begin: float, end: float
) -> tuple[int, int, int, float]:
    """Workers, hosts and threads at once, and the thread-seconds offered from `begin` to `end`."""
    table = read("workers")
    rows, joined, left = lives(read)
    if not len(rows):
        lanes = {*zip(attempts["worker"].tolist(), attempts["thread"].tolist(), strict=True)}
        span = end - begin if lanes else 0.0
        workers, hosts = len({worker for worker, _ in lanes}), int(bool(lanes))
        return workers, hosts, len(lanes), len(lanes) * max(0.0, span)
    threads = table["threads"][rows].astype("f8")
    since, until = np.fmax(joined, begin), np.fmin(left, end)
    part = (since < until) & np.isfinite(end - begin)
    since, until, threads = since[part], until[part], threads[part]
    names, host = np.unique(table["host"].codes[rows][part], return_inverse=True)
    first, last = np.full(len(names), np.inf), np.full(len(names), -np.inf)
    np.minimum.at(first, host, since)
    np.maximum.at(last, host, until)
    return (
        int(most_at_once(since, until, np.ones(len(since)))),
        int(most_at_once(first, last, np.ones(len(names)))),
        int(most_at_once(since, until, threads)),
        float((threads * (until - since)).sum()),
    )


def _without_workers(
    read: Read, attempts: Mapping[str, Any], begin: float, end: float, still: Moments
) -> float:
    """Seconds from `begin` to `end` in which clusters had no worker; 0 if there were but local schedulers."""
    table = read("workers")
    newest = {name: row for row, name in enumerate(table["worker"].tolist()) if not is_local(name)}
    used = {name for name in attempts["worker"].names if name and not is_local(name)}
    if not newest or not used <= newest.keys() or not end > begin:
        return 0.0
    rows = list(newest.values())
    joined, left = table["joined"][rows], table["left"][rows]
    there = Moments.of(np.fmax(joined, begin), np.fmin(left, end))
    return Moments(np.array([begin]), np.array([end])).without(there).without(still).seconds


def _unended(read: Read, attempts: Mapping[str, Any]) -> tuple[dict[str, int], tuple[str, float]]:
    """`unfinished` and `longest` of a recording in which no task ended."""
    graph, running = read("graph"), read("running")
    on = np.isin(running["run"], attempts["run"], invert=True)
    task, start = running["task"][on], running["start"][on]
    to_come = (graph["submission"] != NOTHING) | (graph["order"] != NOTHING)
    stood = {
        "cancelled": attempts["task"][is_any(attempts["status"], ("cancelled",))],
        _RUNNING: task,
        # Workers tell what they run only now and then.
        "waiting or just begun": graph["task"][to_come],
    }
    if not np.isfinite(start).any():
        return _counted(stood), ("", 0.0)
    first = [int(np.nanargmin(start))]
    seconds = recorded(read)[1] - start[first]
    return _counted(stood), max(_names(graph, task[first], seconds), default=("", 0.0))


def _counted(stood: Mapping[str, Numbers]) -> dict[str, int]:
    """Number of tasks by how they stood; of several ways that one did, the first counts."""
    counts: dict[str, int] = {}
    told = np.zeros(0, "u4")
    for how, tasks in stood.items():
        told, before = np.union1d(told, tasks), len(told)
        if len(told) > before:
            counts[how] = len(told) - before
    return counts


def _budget(columns: Mapping[str, Any]) -> list[tuple[str, str, float]]:
    """Thread-seconds by part and name, most first."""
    part, name = columns["part"], columns["name"]
    if not len(part.codes):
        return []
    # A row of no length tells how much of what its part has without a name is that of its name.
    shares = columns["stop"] == columns["start"]
    given = np.where(shares, columns["threads"], 0.0)
    seconds = (columns["stop"] - columns["start"]) * columns["threads"] + given
    width = len(name.names)
    known, place = distinct(part.codes.astype("i8") * width + name.codes, len(part.names) * width)
    sums = np.bincount(place, seconds)
    if shares.any():
        nameless = np.array([not each for each in name.names])[known % width]
        left = sums - np.bincount(part.codes, given, len(part.names))[known // width]
        # What rounding leaves is nobody's.
        sums = np.where(nameless, np.where(left > _ROUNDED * sums, left, 0.0), sums)
    order = np.flatnonzero(sums > 0)
    order = order[np.argsort(-sums[order], kind="stable")]
    return [
        (part.names[code // width], name.names[code % width], each)
        for code, each in zip(known[order].tolist(), sums[order].tolist(), strict=True)
    ]


def _computed(shares: Sequence[tuple[str, str, float]]) -> list[tuple[str, float]]:
    """Task names by the thread-seconds in their functions, cancelled and failed attempts too; most first."""
    sums: dict[str, float] = {}
    for part, name, seconds in shares:
        if part not in INSTEAD and name:
            sums[name] = sums.get(name, 0.0) + seconds
    return sorted(sums.items(), key=lambda item: -item[1])


def _findings(columns: Mapping[str, Any]) -> list[Told]:
    severity, title, seconds = columns["severity"], columns["title"], columns["cost_seconds"]
    rows = np.flatnonzero(is_any(severity, ("warning", "critical")))
    return [Told(severity.names[severity.codes[row]], title[row], float(seconds[row])) for row in rows]


def _calls(metrics: Mapping[str, Any]) -> tuple[int, float]:
    """How many calls of actors there were, and their seconds."""
    mine = is_any(metrics["context"], ("actor",)) & is_any(metrics["activity"], ("call",))
    unit, value = metrics["unit"], metrics["value"]
    count, seconds = (float(value[mine & is_any(unit, (name,))].sum()) for name in ("count", "seconds"))
    return round(count), seconds


def _went_on(read: Read, facts: Mapping[str, Any], begin: float, end: float) -> Onward:
    """What went on after the last result, which came at a moment, if that was for long."""
    told = facts.get("stopped")
    cells: Mapping[str, Any] = plain.make(read, "cells")
    # Files of other tools tell of no process, and when who asked had ended, not either.
    stopped = float(told) if isinstance(told, int | float) and "pid" in facts else end
    what, until, start = "The recording", stopped, cells["start"]
    if len(start):
        stop = np.where(np.isnan(cells["stop"]), stopped, cells["stop"])
        what, until = "The cell", float(np.max(stop[(start <= end) & (stop >= end)], initial=end))
    if not until - end >= max(_LONG, _ON * max(0.0, end - begin)):
        return NOT_ON
    return Onward(what, until - end, program_at(read, Moments.of(*np.array([[end], [until]]))))


def _around(phases: Mapping[str, Any]) -> dict[str, float]:
    action = phases["action"]
    length = phases["stop"] - phases["start"]
    length = np.where(np.isfinite(length) & (length > 0), length, 0.0)
    sums = np.bincount(action.codes, length, len(action.names)) if len(action.codes) else np.zeros(0)
    return {name: float(seconds) for name, seconds in zip(action.names, sums, strict=False) if name}


def _names(graph: Mapping[str, Any], task: Numbers, length: Numbers) -> list[tuple[str, float]]:
    row = Lookup(graph["task"]).rows(task)
    prefix, known = graph["prefix"], row >= 0
    sums = np.bincount(prefix.codes[row[known]], length[known], len(prefix.names))
    most = np.argsort(-sums, kind="stable")
    return [(prefix.names[code], float(sums[code])) for code in most if sums[code] > 0]
