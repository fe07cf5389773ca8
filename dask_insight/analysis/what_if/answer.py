"""What a what-if came to, with how far the simulation may be trusted, in words."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

from ... import words
from ...legible import printed

#: Error of the simulation at the recorded setting beyond which an answer gives a range.
TRUSTED = 0.15
#: Difference that is called none.
SAME = 0.02


class WhatIf(NamedTuple):
    """The answer to "what if". Times in seconds.

    ``seconds`` is the recorded time multiplied by what the simulation says of
    the change: simulated with it over simulated without.
    """

    #: What was changed, in words; '' if nothing.
    change: str
    #: How long the recorded run took, and how long it would.
    recorded: float
    seconds: float
    #: Least and most that the two ways to read the simulation give, and the recorded time where threads may
    #: change nothing, as they wait for a lock or for resources; equal to `seconds` where neither matters.
    low: float
    high: float
    #: The simulation without and with the change.
    calibration: float
    simulated: float
    #: Workers and threads of the recorded cluster and of the one asked about.
    workers_before: int
    threads_before: int
    workers: int
    threads: int
    #: Share of the threads' time in which tasks held them, 0 to 1.
    busy: float
    #: Bytes between workers.
    moved: float
    #: Cores that the tasks use on average while it runs; NaN if unknown.
    cores: float
    #: What the simulation left out that may matter here.
    notes: tuple[str, ...] = ()
    #: Address of the scheduler that it is about, where the recording has several; '' else.
    cluster: str = ""

    @property
    def error(self) -> float:
        """How far the simulation is off where the truth is known: 0.1 is 10 % too long."""
        return self.calibration / self.recorded - 1 if self.recorded > 0 else float("nan")

    @property
    def trusted(self) -> bool:
        """Whether that error is at most 15 %."""
        return abs(self.error) <= TRUSTED

    @property
    def speedup(self) -> float:
        """Recorded time over the time it would take."""
        return self.recorded / self.seconds if self.seconds > 0 else float("nan")

    def verdict(self) -> str:
        """The answer in a sentence."""
        of = words.of_cluster(self.cluster)
        if not self.change:
            return f"{of}As it was recorded: {words.duration(self.recorded)}."
        low, high = words.duration(self.low), words.duration(self.high)
        if self._is_one:
            would = words.duration(self.seconds)
        else:
            would = f"between {low} and {high}" if low != high else f"about {low}"
        return f"{of}{self.change}: {would} instead of {words.duration(self.recorded)}{self._times()}."

    @property
    def _is_one(self) -> bool:
        """Whether the answer is one time, and not a range."""
        return self.trusted and self.low == self.high

    def _times(self) -> str:
        if not self._is_one or not self.speedup > 0:
            return ""
        if abs(self.speedup - 1) < SAME:
            return ", which is no difference"
        if self.speedup > 1:
            return f", {words.about(self.speedup, digits=3)} times faster"
        return f", {words.about(1 / self.speedup, digits=3)} times slower"

    def trust(self) -> str:
        """How well the simulation fits what was recorded, in a sentence."""
        off = words.share(abs(self.error))
        way = "too long" if self.error > 0 else "too short"
        said = f"The recorded run itself is simulated as {words.duration(self.calibration)}, {off} {way}"
        if self.trusted:
            return f"{said}."
        most = words.share(TRUSTED)
        return f"{said}: more than {most}, so that the answer is a range and no more than a hint."

    def figures(self) -> list[tuple[str, str]]:
        """What else there is to say, with names."""
        before = f"{words.count(self.workers_before, 'worker')}, {words.count(self.threads_before, 'thread')}"
        now = f"{words.count(self.workers, 'worker')}, {words.count(self.threads, 'thread')}"
        found = [("Cluster", now if now == before else f"{now}; recorded: {before}")]
        found += [("Threads busy", words.share(self.busy))]
        found += [("Between workers", words.size(self.moved))] if self.workers > 1 else []
        used = f"{words.about(self.cores)} on average"
        found += [("Cores in use", used)] if self.cores == self.cores else []
        return found

    def __str__(self) -> str:
        figures = self.figures()
        width = max(len(name) for name, _ in figures)
        lines = [self.verdict(), self.trust(), ""]
        lines += [f"{name:<{width}}  {figure}" for name, figure in figures]
        return printed("\n".join([*lines, *(f"Note: {note}" for note in self.notes)]))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(figure)}</td></tr>" for name, figure in self.figures()
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        said = f"<p><b>{escape(self.verdict())}</b><br>{escape(self.trust())}</p>"
        return f"{said}<table>{rows}</table>{notes}"

    def to_dict(self) -> dict[str, Any]:
        """All numbers by name, for JSON."""
        more = {
            "error": self.error,
            "trusted": self.trusted,
            "speedup": self.speedup,
            "verdict": self.verdict(),
        }
        return {**self._asdict(), "notes": list(self.notes), **more}
