"""Too little that could run at once: chains of tasks, and steps of too few."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import pick, sorted_set, sums
from ...schema import NOTHING
from ...timeline import Moments
from .facts import Facts, is_any
from .finding import Fact, Finding
from .for_client import FINALIZE
from .gaps import MANY, together
from .names import BARRIER, called, mapped, of_joblib
from .rule import Rule
from .shortage import ONE, are_many, handed_over, in_flight, in_steps, kept, of_client, put_together
from .sizes import fetching
from .thresholds import Limits

#: Tasks that make a chain, none of which has more than this share of its seconds.
_LINKS, _MOST = 3, 0.7
#: Tasks a thread up to which a name may be one of few tasks, or share of all thread time idle meanwhile.
_FEW, _IDLE = 50, 0.01


class Chain(NamedTuple):
    """Tasks on the critical path that each needed the one before."""

    rows: np.ndarray
    seconds: np.ndarray
    start: float
    stop: float


def chains(facts: Facts) -> list[Chain]:
    """The chains on the critical path, in its order, of as many tasks as make one."""
    path = facts.path
    steps = np.flatnonzero(path.of("compute") & (path.row >= 0))
    # Only the result of a task that others waited for leads on to the next.
    leads = is_any(path.because, ("input",))[steps]
    leads[-1:] = False
    ends = np.flatnonzero(~leads) + 1
    begins = np.concatenate((np.zeros(1, ends.dtype), ends))[:-1]
    long_ = ends - begins >= _LINKS
    seconds = path.seconds
    found = (steps[begin:end] for begin, end in zip(begins[long_], ends[long_], strict=True))
    return [
        Chain(path.row[mine], seconds[mine], float(path.start[mine[0]]), float(path.stop[mine[-1]]))
        for mine in found
    ]


def _critical_path(facts: Facts, limits: Limits) -> Iterator[Finding]:
    long_ = [each for each in chains(facts) if _is_chain(each)]
    whole = Moments.of(np.array([each.start for each in long_]), np.array([each.stop for each in long_]))
    moments = whole.without(facts.still)
    length = moments.seconds
    share = length / facts.wall if facts.wall > 0 else 0.0
    if not length or share < limits["critical-path.share"]:
        return
    idle = _idle(facts) * facts.share_within(moments, facts.waiting)
    lost = float(idle.sum())
    if lost < limits["critical-path.idle"] * length * facts.cores.threads:
        return
    rows = np.concatenate([each.rows for each in long_])
    seconds = np.concatenate([each.seconds for each in long_])
    by_name = np.bincount(facts.prefix.codes[rows], seconds, len(facts.names))
    names = facts.worst(by_name, facts.names)
    count, most, several = len(rows), names[0], len(long_) > 1
    which = f"{len(long_):,} chains of {count:,} tasks in all" if several else f"A chain of {count:,} tasks"
    of = "chains" if several else "chain"
    yield Finding(
        code="critical-path",
        title=(
            f"{which}, most of the time in `{most}`, {'take' if several else 'takes'} "
            f"{words.duration(length)} of {words.duration(facts.wall)}"
        ),
        tasks=names,
        start=facts.since(moments.start[0]),
        stop=facts.since(moments.stop[-1]),
        cost_thread_seconds=lost,
        cost_seconds=_spread(facts, idle),
        evidence=(
            *((Fact("chains", len(long_), "count"),) if several else ()),
            Fact(f"length of the {of}", length, "s"),
            Fact("share of the run", share, "share", limits["critical-path.share"]),
            Fact(f"tasks in the {of}", count, "count", _LINKS),
            Fact(
                "threads idle meanwhile, with a free core",
                lost / length,
                "",
                limits["critical-path.idle"] * facts.cores.threads,
            ),
            Fact("threads", facts.threads, ""),
        ),
        why=(
            f"Each of these tasks needs the result of the one before{' in its chain' if several else ''}, so "
            "that they run one after the other: "
            f"{words.listing(f'`{name}`' for name in names[:3])}. {_meanwhile(facts, moments, lost)}; more "
            "threads or workers do not help."
        ),
        advice=(
            f"Make the steps of the chain shorter or fewer: a faster `{most}`, a tree instead of a line, or "
            "several independent chains beside one another.\n\n"
            "    # instead of: for part in parts: total = add(total, part)\n"
            "    while len(parts) > 1:\n"
            "        parts = [dask.delayed(add)(*pair) for pair in zip(parts[::2], parts[1::2])] "
            "+ parts[len(parts) // 2 * 2 :]\n"
            f"    run.what_if(faster={{{most!r}: 2}})  # what a faster step would bring"
        ),
        url=CRITICAL_PATH.url,
    )


def _meanwhile(facts: Facts, moments: Moments, lost: float) -> str:
    """How many threads waited for a chain, and for how many of them a core was free, in words."""
    length = moments.seconds
    idle = float((facts.seconds(facts.waiting) * facts.share_within(moments, facts.waiting)).sum())
    said, free = words.about(idle / length), words.about(lost / length)
    beside = "" if said == free else f", {free} of them beside a free core"
    return f"Meanwhile {said} of {words.about(facts.threads, 'thread')} waited for them{beside}"


def _idle(facts: Facts) -> np.ndarray:
    """Thread-seconds of each piece of `waiting` in which more tasks could have run.

    Not those behind outliers, nor those for which no core was free.
    """
    idle: np.ndarray = (facts.seconds(facts.waiting) - facts.waiting_for_outliers) * facts.cores.free
    return idle


def _spread(facts: Facts, idle: np.ndarray) -> float:
    """Seconds by which the run would be shorter if the threads that had a core shared these of `waiting`."""
    waiting, threads = facts.waiting, facts.cores.threads
    if not threads > 0:
        return 0.0
    shared = facts.spread_over(idle, waiting.start, waiting.stop)
    return min(facts.served, shared * facts.threads / threads)


def _is_chain(each: Chain) -> bool:
    return float(each.seconds.max()) <= _MOST * float(each.seconds.sum())


def _too_few_tasks(facts: Facts, limits: Limits) -> Iterator[Finding]:
    if not facts.attempts.asked:
        # Whether more tasks could have run, nobody knows.
        return
    told = facts.by_names
    idle = _idle(facts)
    lost = facts.summed(facts.waiting, idle)
    ratio = _waves(facts, lost) / max(facts.threads, 1.0)
    few = (told.number > 0) & (ratio < limits["too-few-tasks.ratio"])
    offered = facts.cores.threads * facts.served
    least = limits["too-few-tasks.idle"] * offered
    if float(lost[few].sum()) < least:
        return
    # What P2P has between inputs and outputs is one task by its nature, and so is what brings a large result
    # together for the client, see oversized-results.
    inputs = put_together(facts)
    few &= ~facts.for_client | (are_many(facts, inputs) & _small_wholes(facts, limits))
    few &= ~kept(facts, limits)
    few &= np.array([not name.startswith(BARRIER) for name in facts.names], bool)
    for chain in chains(facts):
        # A short one may as well be the steps of a single part of the data.
        if _is_chain(chain) and len(chain.rows) >= limits["too-few-tasks.ratio"] * facts.threads:
            few[np.unique(facts.prefix.codes[chain.rows])] = False
    lost = np.where(few, lost, 0.0)
    idle = idle * np.append(few, False)[facts.name_of(facts.waiting)]
    total = float(lost.sum())
    names = facts.worst(lost, facts.names)
    if not names or total < least:
        return
    code = facts.names.index(names[0])
    at_once = float(ratio[code] * facts.threads)
    ran, others = [f"`{name}`" for name in names[:3]], int((lost > 0).sum()) - len(names[:3])
    if others > 0:
        ran.append(f"tasks of {words.count(others, 'other name')}")
    too = ""
    if others > 0 and lost[code] < total / 2:
        too = f", and too few of {words.count(others + len(names[:3]) - 1, 'other name')}"
    cause = _cause(facts, limits, code, at_once, inputs[code])
    yield Finding(
        code="too-few-tasks",
        title=f"{cause.title}{too}{cause.rest}",
        tasks=names,
        cost_thread_seconds=total,
        cost_seconds=_spread(facts, idle),
        evidence=(
            Fact(
                f"tasks `{names[0]}` at a time",
                at_once,
                "count",
                limits["too-few-tasks.ratio"] * round(facts.threads),
            ),
            Fact("mean time of one", float(told.mean[code]), "s"),
            Fact("threads", facts.threads, ""),
            Fact(
                "share of thread time idle with a free core",
                total / offered,
                "share",
                limits["too-few-tasks.idle"],
            ),
            *cause.facts,
        ),
        why=(
            f"While {words.listing(ran)} ran, there was nothing else to run: "
            f"threads were idle for {words.duration(total)} of {words.duration(offered)} of their time."
        ),
        advice=cause.advice,
        url=TOO_FEW_TASKS.url,
    )


def _small_wholes(facts: Facts, limits: Limits) -> np.ndarray:
    """By code, names that put arrays or bags together for the client, if it fetched little."""
    small = len(fetching(facts, limits).start) == 0
    return np.array([small and name.startswith(FINALIZE) for name in facts.names], bool)


class _Cause(NamedTuple):
    """Why there were too few tasks of a name: a title and what may end it, what helps, what tells."""

    title: str
    advice: str
    facts: tuple[Fact, ...] = ()
    rest: str = ""


def _cause(facts: Facts, limits: Limits, code: int, at_once: float, inputs: np.ndarray) -> _Cause:
    name, threads = facts.names[code], round(facts.threads)
    there, said = words.count(threads, "thread"), words.about(at_once)
    if at_once < ONE and are_many(facts, inputs):
        each = float(inputs)
        return _Cause(
            f"One `{name}` puts {words.about(each, digits=3)} results together while {there} wait",
            in_steps(name),
            (Fact("results that one puts together", each, "count", facts.threads),),
        )
    loops = _computations(facts, code)
    every = handed_over(facts, code, loops)
    if at_once >= ONE and np.isfinite(every):
        return _Cause(
            f"The client hands over one `{name}` every {words.duration(every)}: that keeps {said} of {there} "
            "busy",
            in_flight(facts, name),
            of_client(facts),
        )
    title = f"Only {said} `{name}` at a time for {there}"
    if at_once >= threads:
        title = f"Too few `{name}` for {there} to the end: {said} at a time"
    number = facts.by_names.number[code]
    apart = at_once * loops < ONE * number
    if apart and loops >= MANY and number < limits["too-few-tasks.ratio"] * facts.threads * loops:
        return _Cause(title, together(facts, loops), rest=f": {loops:,} computations followed one another")
    return _Cause(title, _more_tasks(facts, name))


def _more_tasks(facts: Facts, name: str) -> str:
    threads = round(facts.threads)
    into = f"Split the work into more tasks, at least {2 * threads:,} for {words.count(threads, 'thread')}"
    if of_joblib(name):
        return (
            f"{into}: smaller batches, or more candidates and folds in one search. Or use fewer workers.\n\n"
            "    Parallel(batch_size=1, pre_dispatch='all')(calls)           # joblib: a task for each call\n"
            "    GridSearchCV(model, grid, cv=5, pre_dispatch='all').fit(x, y)"
        )
    if _TEXT_FILES.match(name) or _PARQUET.match(name):
        return f"{into}, where data are read: workers cannot share what comes as one.\n\n{_reading(name)}"
    return (
        f"{into}: smaller chunks or partitions, or other work beside it. Or use fewer workers.\n\n"
        f"    x = x.rechunk(...)                       # dask.array: {2 * threads:,} chunks or more\n"
        f"    df = df.repartition(npartitions={2 * threads})      # dask.dataframe\n"
        f"    {mapped(facts, called(name), 'parts')}  # parts: {2 * threads:,} or more"
    )


#: What tasks are called that read files of text, and of Parquet.
_TEXT_FILES = re.compile(r"(?:read[-_](?:csv|table|fwf|json_file)|file_to_blocks)(?=$|-)")
_PARQUET = re.compile(r"read[-_]?parquet(?=$|-)")


def _reading(name: str) -> str:
    """Code that reads files in more pieces."""
    if _PARQUET.match(name):
        return (
            "    df = dd.read_parquet(path, split_row_groups=True)   # where files have several\n"
            "    frame.to_parquet(path, row_group_size=1_000_000)    # for who writes them"
        )
    return (
        "    df = dd.read_csv(path, blocksize='16MB')   # of bags, and JSON with `lines=True`, too\n"
        "    # what is compressed as a whole, as .gz is, is read as one: write several files, or Parquet"
    )


def _computations(facts: Facts, code: int) -> int:
    """With how many submissions the tasks of a name came; 0 if that is not known."""
    rows = facts.attempts.described[facts.good & (facts.prefix.codes == code)]
    came = pick(facts.read("graph")["submission"], rows[rows >= 0])
    return len(sorted_set(came[came != NOTHING])) if len(facts.read("submissions")["submission"]) else 0


def _waves(facts: Facts, lost: np.ndarray) -> np.ndarray:
    """How many tasks of each name there were at a time, on average while there were any.

    Names of so many tasks that threads are hardly idle for want of them are
    not looked at: infinity stands there.
    """
    known, code = facts.attempts, facts.prefix.codes
    most = np.full(len(facts.names), np.inf)
    asked = (facts.by_names.number <= _FEW * max(facts.threads, 1.0)) | (lost >= _IDLE * facts.offered)
    rows = np.flatnonzero(facts.good & asked[code])
    # Tasks that could have run at the same moment: from ready to the end of the function.
    moments, name = np.concatenate((known.at("ready", rows), known.at("stop", rows))), np.tile(code[rows], 2)
    step = np.repeat([1, -1], len(rows))
    order = np.lexsort((step, moments, name))
    at_once = np.cumsum(step[order])[:-1]
    # None at all between the last of one name and the first of the next.
    seconds = np.where(at_once > 0, np.diff(moments[order]), 0.0)
    count, size = np.bincount(code[rows], minlength=len(most)), len(most)
    weight, total = (sums(name[order][:-1], each, size) for each in (seconds, at_once * seconds))
    # The mean that a moment of work sees tells how much could run at once.
    told = np.divide(total, weight, out=count.astype("f8"), where=weight > 0)
    return np.where(count > 0, told, most)


CRITICAL_PATH = Rule(
    code="critical-path",
    says="A chain of tasks that need one another takes most of the run.",
    formula=(
        f"Runs of {_LINKS} tasks or more on the critical path that each waited for the one before, none of "
        "them with "
        f"more than {_MOST:.0%} of the seconds; together at least `critical-path.share` of the run, with "
        "`critical-path.idle` of the threads idle meanwhile for want of inputs, with a free core for them."
    ),
    cost="Thread-seconds idle during the chain, less those that a straggler explains and those without a "
    "free core, over the threads that had one.",
    url="https://docs.dask.org/en/stable/phases-of-computation.html",
    advice="Shorter or fewer steps, a tree instead of a line, independent chains beside one another.",
    find=_critical_path,
)
TOO_FEW_TASKS = Rule(
    code="too-few-tasks",
    says="There were fewer tasks to run at once than threads.",
    formula=(
        "Task names of which, in the mean over the time in which one could run, fewer than "
        "`too-few-tasks.ratio` a "
        "thread could; threads that were idle until these had ended, at least `too-few-tasks.idle` of all "
        "thread time while a core was free for them. "
        "Stragglers are left out, and names of a chain on the critical path, if that has as many tasks, "
        "names that waited for resources of workers, see `resource-limit`, and what is one task by its "
        "nature: barriers of P2P, and what puts results together for the client, but for arrays and bags "
        "that are small and have as many parts as there are threads, and sixteen. Told apart: one task at a "
        "time that needs as many results, and tasks that a client handed over one by one, each of which "
        "began at once, and fewer than the threads could take."
    ),
    cost="Thread-seconds idle while they were computed, and a core was free, over the threads that had one.",
    url="https://docs.dask.org/en/stable/delayed-best-practices.html#break-up-computations-into-many-pieces",
    advice="More and smaller chunks, at least two tasks a thread; computations together; fewer workers.",
    find=_too_few_tasks,
)
