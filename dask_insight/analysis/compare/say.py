"""The answer of a comparison in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import words

#: A cause is named from this share of the difference on, or of the wall time where there is none.
_OF_CHANGE, _OF_WALL = 0.15, 0.05
#: Names that make up most of the time and changed by nearly the same factor changed together.
_TOGETHER, _FACTOR, _FEWEST = 0.8, 1.15, 3
#: Of a ratio up to this both times are told, and no share: nothing takes no time at all.
_HARDLY = 0.005
#: Most letters of what is told of a loss.
_LONGEST = 300
#: Verdicts on names that take more time together, and on those that take less.
_DEARER, _CHEAPER = ("came", "more", "slower", "costlier"), ("went", "fewer", "faster", "cheaper")


class _Name(NamedTuple):
    """A task name in one side."""

    name: str
    attempts: float
    before: float
    mean: float
    mean_before: float
    cpu: float
    cpu_before: float
    seconds: float
    seconds_before: float
    impact: float
    verdict: str


def verdicts(sides: Mapping[str, Any], budget: Mapping[str, Any], names: Mapping[str, Any]) -> list[str]:
    """For each side one or two sentences: how it stands to the baseline, and why; '' for the baseline."""
    return ["", *(" ".join(_sentences(sides, budget, names, side)) for side in sides["side"][1:])]


def broken(names: Sequence[str], failed: Sequence[Sequence[int]], ended: Sequence[bool]) -> dict[str, str]:
    """Sides whose time says nothing, as they did not do all that the baseline did, and why, in words.

    Parameters
    ----------
    names
        What the sides are called.
    failed
        Tasks of each run of each that failed for good.
    ended
        Whether all recordings of each ended.
    """
    base = np.mean(failed[0])
    found = {}
    for name, of_side, whole in zip(names[1:], failed[1:], ended[1:], strict=True):
        if np.mean(of_side) > base:
            more = f", more in a run than of {names[0]}" if base else ""
            found[name] = f"{_failed(name, of_side)}{more}"
        elif not whole:
            found[name] = f"the recording of {name} did not end: its process was killed or still runs"
    return found


def notes(
    sides: Mapping[str, Any],
    still: Sequence[float],
    lost: Sequence[Sequence[str]],
    failed: Sequence[Sequence[int]],
) -> list[str]:
    """For each side what else stands out; '' for nothing.

    Parameters
    ----------
    sides
        Columns of the table `compared_sides`.
    still
        Seconds of each in which everything stood still.
    lost
        What of each was lost, in words.
    failed
        Tasks of each run of each that failed for good.
    """
    return [" ".join(_notes(sides, side, still[side], lost[side], failed[side])) for side in sides["side"]]


def _sentences(
    sides: Mapping[str, Any], budget: Mapping[str, Any], names: Mapping[str, Any], side: int
) -> Iterator[str]:
    yield _first(sides, side)
    if sides["verdict"][side] == "unknown":
        return
    told = _names(names, side)
    if because := _because(sides, budget, told, side):
        yield because


def _notes(
    sides: Mapping[str, Any], side: int, still: float, lost: Sequence[str], failed: Sequence[int]
) -> Iterator[str]:
    name = sides["name"][side]
    if any(failed):
        yield f"{_failed(name, failed)}."
    if still > 0:
        yield f"Everything stood still for {words.duration(still)} of {name}, which is not counted."
    if sides["verdict"][side] not in ("unknown", "baseline"):
        yield from _differences(sides, side)
    if lost:
        first = " ".join(lost[0].split())
        first = first if len(first) <= _LONGEST else f"{first[:_LONGEST]}…"
        more = f"; and {words.count(len(lost) - 1, 'more loss', 'more losses')}" if len(lost) > 1 else ""
        yield f"{name} is not whole: {first}{more}."


def _failed(name: str, of_side: Sequence[int]) -> str:
    return f"{words.count(sum(of_side), 'task')} of {name} failed"


def _differences(sides: Mapping[str, Any], side: int) -> Iterator[str]:
    if because := _starved(sides, side):
        yield because
    memory, before = (float(sides["memory"][each]) for each in (side, 0))
    if abs(memory - before) > float(sides["memory_noise"][side]):
        rose = "rose" if memory > before else "fell"
        yield f"The most memory {rose} from {words.size(before)} to {words.size(memory)}."


def _first(sides: Mapping[str, Any], side: int) -> str:
    name, base = sides["name"][side], sides["name"][0]
    took, before = sides["seconds"][side], sides["seconds"][0]
    change = sides["change"][side]
    runs = sides["runs"][0], sides["runs"][side]
    known = (
        f"from {runs[0]:,} and {words.count(runs[1], 'run')}"
        if sides["source"][side] == "runs"
        else "estimated from within single runs"
    )
    noise = f"{words.PLUS_MINUS}{words.SPACE}{words.duration(sides['noise'][side])}, {known}"
    if not took or not before:
        empty = name if not took else base
        return (
            f"{name} took {words.duration(took)} and {base} {words.duration(before)}: no task ran in {empty}."
        )
    where = _threads(sides, side)
    if sides["verdict"][side] == "same":
        return (
            f"{name} took {words.duration(took)}{where} and {base} {words.duration(before)}: "
            f"no difference beyond the noise ({noise})."
        )
    share = f" ({words.share(abs(change) / before)})" if took > _HARDLY * before else ""
    by = f"{words.duration(abs(change))}{share} {'longer' if change > 0 else 'less'} than"
    if took >= 2 * before:
        by = f"{words.about(took / before)} times as long as"
    than = f"{base} with {words.duration(before)}"
    return f"{name} took {words.duration(took)}{where}, {by} {than} (noise {noise})."


def _threads(sides: Mapping[str, Any], side: int) -> str:
    here, before = round(float(sides["threads"][side])), round(float(sides["threads"][0]))
    return "" if here == before else f" on {words.count(here, 'thread')} instead of {before:,}"


def _elsewhere(sides: Mapping[str, Any], side: int) -> bool:
    """Whether it ran on other numbers of workers or threads."""
    workers = {round(float(sides["workers"][each])) for each in (side, 0)}
    return bool(_threads(sides, side)) or len(workers) > 1


def _names(names: Mapping[str, Any], side: int) -> list[_Name]:
    width = max(names["side"], default=0) + 1
    here, base = slice(side, None, width), slice(0, None, width)
    columns = (names[each][part] for each in ("count", "mean", "cpu", "seconds") for part in (here, base))
    return [
        _Name(*row)
        for row in zip(
            names["name"][here],
            *(values.tolist() for values in columns),
            names["impact"][here].tolist(),
            names["verdict"][here],
            strict=True,
        )
    ]


def _because(sides: Mapping[str, Any], budget: Mapping[str, Any], names: Sequence[_Name], side: int) -> str:
    change, wall = float(sides["change"][side]), float(sides["seconds"][side])
    same = sides["verdict"][side] == "same"
    if together := _together(names, _elsewhere(sides, side)):
        return together
    least = _OF_WALL * wall if same else _OF_CHANGE * abs(change)
    causes = [name for name in names if _explains(name) and abs(name.impact) >= least]
    with_it = [name for name in causes if not same and name.impact * change > 0][:2]
    against = [name for name in causes if name not in with_it and (same or name.impact * change < 0)][:2]
    waited = "" if same else _waiting(budget, change, side)
    if with_it:
        because = f"First of all {words.listing(map(_said, with_it))}."
    elif _threads(sides, side) and words.PARTS[words.ABSENT] not in waited:
        because = _work(sides, side)
    else:
        because = waited
    if not against:
        return because
    but = words.listing(map(_said, against))
    return f"{because[:-1]}, but {but}." if because else f"But {but}."


def _explains(name: _Name) -> bool:
    """Whether what a name takes has changed as its verdict says: more of what takes less is no cause."""
    return name.verdict in (_DEARER if name.impact > 0 else _CHEAPER)


def _said(name: _Name) -> str:
    """A task name and what changed about it: `work` takes twice as long (+1.2 s on all threads)."""
    task, cost = f"`{name.name}`", f"({words.signed(name.impact)} on all threads)"
    if name.verdict == "came":
        return f"{task} is new {cost}"
    if name.verdict == "went":
        return f"{task} is gone {cost}"
    if name.verdict in ("more", "fewer"):
        times = words.count(round(name.attempts), "time")
        return f"{task} runs {times} instead of {name.before:,.0f} {cost}"
    if name.verdict in ("costlier", "cheaper"):
        return f"{task} takes {_instead(name.cpu, name.cpu_before, 'as much', ' CPU time')} {cost}"
    return f"{task} takes {_instead(name.mean, name.mean_before)} {cost}"


def _instead(now: float, before: float, alike: str = "as long", of: str = "") -> str:
    """How many times as long something takes; both times where it took none before, or hardly any now."""
    if now > _HARDLY * before > 0:
        return _ratio(now / before, alike) + of
    return f"{words.duration(now)}{of} instead of {words.duration(before)}"


def _ratio(ratio: float, alike: str = "as long") -> str:
    if ratio >= 1.5:
        return f"{ratio:.1f} times {alike}" if ratio < 9.95 else f"{ratio:,.0f} times {alike}"
    more = "longer" if alike == "as long" else "more"
    return f"{words.share(abs(ratio - 1))} {more if ratio > 1 else 'less'}"


def _together(names: Sequence[_Name], elsewhere: bool) -> str:
    """That nearly all names take longer, or less, by the same factor, if they do; see `_elsewhere`."""
    both = [name for name in names if name.seconds_before > 0 and name.mean > 0 and name.mean_before > 0]
    whole = sum(name.seconds_before for name in both)
    if len(both) < _FEWEST or whole <= 0:
        return ""
    factor = np.array([name.mean / name.mean_before for name in both])
    weight = np.array([name.seconds_before for name in both]) / whole
    order = np.argsort(factor)
    middle = float(factor[order][np.searchsorted(np.cumsum(weight[order]), 0.5)])
    alike = (factor > middle / _FACTOR) & (factor < middle * _FACTOR)
    changed = [name.verdict in ("slower", "faster") for name in both]
    largest = float(weight[alike].max(initial=0))
    if weight[alike & np.array(changed)].sum() < _TOGETHER or largest > _TOGETHER:
        return ""
    machine, wait = ("slower or busier", "wait") if middle > 1 else ("faster or idler", "wait less")
    why = f"as on a {machine} machine"
    if elsewhere:
        why = f"on other workers or threads, which may {wait} for one another; see the findings"
    return f"Nearly all tasks take {_ratio(middle)}, {why}."


def _work(sides: Mapping[str, Any], side: int) -> str:
    """What other numbers of threads leave to be told apart: the work, and how busy the threads were."""
    here, before = (float(sides["computing"][each]) for each in (side, 0))
    busy, was_busy = (
        computing / max(float(sides["thread_seconds"][each]), 1e-300)
        for each, computing in ((side, here), (0, before))
    )
    return (
        f"Task functions took {words.duration(here)} of thread time instead of {words.duration(before)}, "
        f"which kept the threads busy for {words.share(busy)} of the time instead of {words.share(was_busy)}."
    )


def _starved(sides: Mapping[str, Any], side: int) -> str:
    """That other programs took the cores, where that explains a part of the difference."""
    change, threads = float(sides["change"][side]), (float(sides["threads"][each]) for each in (0, side))
    before, here = (
        float(sides["starved"][each]) / max(count, 1e-300)
        for each, count in zip((0, side), threads, strict=True)
    )
    by = here - before
    if not by * change > 0 or abs(by) < max(_OF_CHANGE * abs(change), _OF_WALL * float(sides["seconds"][0])):
        return ""
    more, machine = ("longer", "a busier") if by > 0 else ("less", "an idler")
    said = f"A thread waited {words.duration(abs(by))} {more} for a free core"
    # With other numbers of threads, they may themselves have taken the cores.
    return f"{said}." if _threads(sides, side) else f"{said}, as on {machine} machine."


def _waiting(budget: Mapping[str, Any], change: float, side: int) -> str:
    """The part of the time budget that changed most in the direction of the wall time."""
    rows = [
        (part, by)
        for part, of, by, verdict in zip(
            budget["part"], budget["side"].tolist(), budget["change"].tolist(), budget["verdict"], strict=True
        )
        if of == side and verdict != "same" and by * change > 0 and abs(by) >= _OF_CHANGE * abs(change)
    ]
    if not rows:
        return ""
    part, by = rows[0]
    what = words.PARTS.get(part, part)
    return f"First of all it spent {words.duration(abs(by))} {'more' if by > 0 else 'less'} {what}."
